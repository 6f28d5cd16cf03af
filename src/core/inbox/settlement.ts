import type { RunId, TeamId } from "../ids.ts";

export const DISPOSITIONS = [
  "run_created",
  "follow_up",
  "cancelled",
  "answered",
  "replied",
  "refused",
  "ignored",
  "duplicate",
  "failed",
] as const;
export type Disposition = (typeof DISPOSITIONS)[number];

/** The one end of an inbox event. `meaning` is unique: a second event of the same meaning is a duplicate. */
export interface InboxResult {
  readonly inboxId: string;
  /** Known as soon as it is known from which installation the event came. */
  readonly teamId?: TeamId;
  readonly disposition: Disposition;
  readonly reason?: string;
  readonly meaning?: string;
  readonly runId?: RunId;
}
