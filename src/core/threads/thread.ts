import type { RunId, ThreadKey } from "../ids.ts";

/** A conversation outside: a chat thread, an issue, a pull request. It has one current run for good. */
export interface Thread extends ThreadAddress {
  readonly id: string;
  readonly runId?: RunId;
}

export interface ThreadAddress {
  readonly adapter: string;
  readonly installation: string;
  readonly key: ThreadKey;
}

/** Makes `runId` the current run of a thread. Fails as a conflict when the thread's run is not `expected`. */
export interface ThreadBinding {
  readonly thread: ThreadAddress & { readonly id: string };
  readonly expected: RunId | undefined;
}
