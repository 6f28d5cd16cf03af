import type { RunId, TeamId } from "../ids.ts";
import type { Disposition } from "./inbox-result.ts";

/** What came in and what became of it, for administrators. Never what it said. */
export interface InboxLog {
  /** The newest first. */
  list(query: InboxQuery): Promise<readonly SettledEvent[]>;
}

export interface InboxQuery {
  readonly teamId: TeamId;
  /** Also events of which it is not known whose they are: without an end yet, meaning nothing, or not understood. */
  readonly withUnknownTeam: boolean;
  /** null: those that have no end yet. */
  readonly disposition?: Disposition | null;
  readonly adapter?: string;
  readonly runId?: RunId;
  /** Only events that came before the one with this number. */
  readonly before?: bigint;
  readonly limit: number;
}

export interface SettledEvent {
  readonly id: string;
  /** The order in which events came. */
  readonly seq: bigint;
  readonly adapter: string;
  /** The event's name as the platform gives it. */
  readonly name: string;
  readonly receivedAt: Date;
  readonly disposition?: Disposition;
  readonly reason?: string;
  readonly runId?: RunId;
}
