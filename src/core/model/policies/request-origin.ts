import type { RunSource } from "../runs/sources.ts";
import type { RequestKind, Role } from "./policy.ts";

/** Where a request, a follow-up or another action comes from. */
export interface RequestOrigin {
  readonly source: RunSource;
  /** The name of the adapter. Undefined: the API, or Errand itself. */
  readonly integration?: string;
  readonly installation?: string;
  /**
   * A place is the channel or repository in which a request is made, as its adapter names it. Only the patterns of
   * rules match it.
   */
  readonly place?: string;
  /** Undefined: the adapter does not tell them apart. */
  readonly requestKind?: RequestKind;
  /** The platform's id of the program that wrote the message. Undefined: a person did, or it has none. */
  readonly bot?: string;
  /** Only a policy that names the bot by its id allows it something. */
  readonly isByNameOnly?: true;
  /** What the adapter proved about the caller. */
  readonly roles?: readonly Role[];
}
