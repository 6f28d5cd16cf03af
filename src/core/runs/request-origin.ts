import type { RunSource } from "./sources.ts";

/** Where a request, a follow-up or any other act comes from. */
export interface RequestOrigin {
  readonly source: RunSource;
  /** The adapter's name; undefined: it came over the API, or from ourselves. */
  readonly integration?: string;
  readonly installation?: string;
  /** What the adapter calls the place, such as a channel or a repository; only read by globs. */
  readonly place?: string;
}
