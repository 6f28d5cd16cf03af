import type { RunId } from "../ids.ts";

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
export interface Settlement {
  readonly inboxId: string;
  readonly disposition: Disposition;
  readonly reason?: string;
  readonly meaning?: string;
  readonly runId?: RunId;
}
