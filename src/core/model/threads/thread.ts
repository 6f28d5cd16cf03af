import type { RunId, ThreadKey } from "../../basics/ids.ts";

/** `quiet`: the card changes only for a question and at the end. */
export const VERBOSITIES = ["normal", "quiet"] as const;
export type Verbosity = (typeof VERBOSITIES)[number];

/** An outside conversation: a chat thread, an issue, a pull request. It has one current run. */
export interface Thread extends ThreadAddress {
  readonly id: string;
  readonly runId?: RunId;
  /** Default: normal. */
  readonly verbosity?: Verbosity;
  /** The subjects of the author of the current run and of the people whom that author mentioned. */
  readonly participants?: readonly string[];
  /** Others write here too, or the thread is muted: only messages that mention the bot are for it. */
  readonly needsMention?: boolean;
  /** Default: true. False in a pull request that the run opened, until a person writes to the run there. */
  readonly showsCard?: boolean;
}

export interface StoredThread extends Thread {
  readonly verbosity: Verbosity;
  readonly participants: readonly string[];
  readonly needsMention: boolean;
  readonly showsCard: boolean;
  readonly createdAt: Date;
}

export interface ThreadAddress {
  readonly adapter: string;
  readonly installation: string;
  readonly key: ThreadKey;
}

/**
 * Makes `runId` the current run of a thread. Throws `UniqueConflict` when the thread's current run is not `expected`.
 */
export interface ThreadBinding {
  readonly thread: ThreadAddress & { readonly id: string };
  /** The people who may steer the run in the thread. They replace those of the run before. */
  readonly participants?: readonly string[];
  /** Default: true. */
  readonly showsCard?: boolean;
  readonly expected: RunId | undefined;
}
