import type { RunId, TeamId } from "../../basics/ids.ts";
import type { Disposition } from "./inbox-result.ts";

/** Lists inbox events and their results for administrators. It never returns the text of an event. */
export interface InboxList {
  /** Newest first. */
  list(query: InboxQuery): Promise<readonly InboxEntry[]>;
  /** When the adapter's last event arrived, over all teams. Only recent events are looked at. */
  lastReceivedAt(adapter: string): Promise<Date | undefined>;
  find(query: Pick<InboxQuery, "teamId" | "withUnknownTeam">, id: string): Promise<InboxEntry | undefined>;
}

export interface InboxQuery {
  readonly teamId: TeamId;
  /** Also returns events without a known team: unprocessed, ignored and failed ones. */
  readonly withUnknownTeam: boolean;
  /** null: events without a result. */
  readonly disposition?: Disposition | null;
  readonly adapter?: string;
  readonly runId?: RunId;
  /** Only events with a smaller `seq`. */
  readonly before?: bigint;
  readonly limit: number;
}

export interface InboxEntry {
  readonly id: string;
  /** The order of arrival. */
  readonly seq: bigint;
  readonly adapter: string;
  /** The platform's name for the kind of event. */
  readonly name: string;
  readonly receivedAt: Date;
  readonly disposition?: Disposition;
  readonly reason?: string;
  readonly runId?: RunId;
}
