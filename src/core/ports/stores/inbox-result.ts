import type { RunId, TeamId } from "../../basics/ids.ts";
import type { MessageRevision } from "../thread-adapter.ts";

export const DISPOSITIONS = [
  "run_created",
  "follow_up",
  "changed",
  "withdrawn",
  "asked",
  "cancelled",
  "answered",
  "replied",
  "refused",
  "ignored",
  "duplicate",
  "failed",
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The result of an inbox event, stored once. A second event with the same `dedupeKey` is a duplicate. */
export interface InboxResult {
  readonly inboxId: string;
  /** Set as soon as the installation of the event is known. */
  readonly teamId?: TeamId;
  readonly disposition: Disposition;
  readonly reason?: string;
  readonly dedupeKey?: string;
  /** The message that the event was about. */
  readonly revision?: MessageRevision;
  readonly runId?: RunId;
  /**
   * For an ignored reply in a thread without a run: the request may still come. If it does, the reply is processed again.
   */
  readonly mayComeEarly?: true;
  /** The event with the disposition `asked` that this result answers. It is answered once: otherwise `UniqueConflict`. */
  readonly answers?: string;
}
