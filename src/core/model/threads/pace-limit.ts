/** What a delivery does on its platform: it posts a message, edits one, or reacts to one. */
export type WriteKind = "post" | "edit" | "reaction";

/**
 * A rate that a platform allows, as data of an adapter. `burst` writes may come at once, and then one in `everyMs`. So
 * at most `burst` and `time / everyMs` writes come within any time.
 */
export interface PaceLimit {
  readonly name: string;
  readonly counts: readonly WriteKind[];
  /** What has a rate of its own: a message, the channel or repository around the thread, or the installation. */
  readonly per: "message" | "container" | "installation";
  readonly everyMs: number;
  readonly burst: number;
  /** The part of `burst` that progress leaves to everything else. Default: none. */
  readonly reserve?: number;
  /**
   * Writes that this limit does not count. Progress among them is dropped while less than `reserve` is left. They count for
   * an hour after the platform asked to wait, because its own count is stricter than this one.
   */
  readonly spares?: readonly WriteKind[];
  /** The first card of a run gives way to messages, also to those of its own thread. */
  readonly cardsYield?: true;
  /** When the platform asks to wait after such a write, all writes that this limit counts wait. */
  readonly closes?: true;
}
