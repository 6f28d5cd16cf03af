import type { RunId } from "../core/basics/ids.ts";
import type { RunEventKind } from "../core/model/runs/events.ts";
import { EVENTS_LENGTH_MAX } from "../core/runs/event-pages.ts";
import { Batcher } from "./batcher.ts";
import type { Statement, Statements } from "./database.ts";
import type { RunEvent as RunEventRow } from "./generated/client.ts";
import { type LengthLimit, withinLength } from "./within-length.ts";

/** For the rows of pages that have a `body`. */
export const EVENTS_LENGTH: LengthLimit = {
  stored: "pg_column_size(body)",
  text: "octet_length(body::text)",
  max: EVENTS_LENGTH_MAX,
};

const COLUMNS = `run_id AS "runId", seq, turn, at, kind, body, position`;
const OF_KINDS = "AND kind = ANY($4::text[])";

/** The index of turn ends has the same condition on the kind. */
const LAST_TURN_ENDS = `
  SELECT turn_end.* FROM unnest($1::uuid[]) AS run (id) CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM run_events
    WHERE run_id = run.id AND kind = 'turn.ended' AND body ->> 'stopReason' <> 'cancelled'
    ORDER BY seq DESC LIMIT 1
  ) turn_end`;
/** Answers can be long, so a batch holds fewer of them than of runs. */
const TURN_ENDS_MAX = 16;

/** For `RunStore.findTurnEnd`. */
export function turnEndsOf(statements: Pick<Statements, "rows">): Batcher<RunId, RunEventRow | undefined> {
  return new Batcher({
    itemsMax: TURN_ENDS_MAX,
    perform: async (ids) => {
      const rows = await statements.rows<RunEventRow>({ text: LAST_TURN_ENDS, values: [[...new Set(ids)]] });
      const byRun = new Map(rows.map((row) => [row.runId, row]));
      return ids.map((id) => byRun.get(id));
    },
  });
}

/** The events of a run after a given one, for `RunStore.readEvents`. */
export function eventsStatement(
  id: RunId,
  after: number,
  limit: number,
  kinds: readonly RunEventKind[] | undefined,
): Statement {
  const page = `
    SELECT ${COLUMNS} FROM run_events WHERE run_id = $1::uuid AND seq > $2::int ${kinds === undefined ? "" : OF_KINDS}
    ORDER BY seq LIMIT $3::int`;
  const text = `${withinLength(page, "seq", EVENTS_LENGTH)} ORDER BY seq`;
  return { text, values: [id, after, limit, ...(kinds === undefined ? [] : [[...kinds]])] };
}

/** The last events of a run before a given one, for `RunStore.readEventsBefore`. */
export function eventsBeforeStatement(id: RunId, before: number, limit: number): Statement {
  const page = `
    SELECT ${COLUMNS} FROM run_events WHERE run_id = $1::uuid AND seq < $2::int
    ORDER BY seq DESC LIMIT $3::int`;
  return {
    text: `${withinLength(page, "seq DESC", EVENTS_LENGTH)} ORDER BY seq`,
    values: [id, before, limit],
  };
}

/**
 * A binary search, because sequence numbers have no gaps and turns only grow: it reads few events by their key, in a log
 * of any length. The event `low` is always before the turn, and `high` is not.
 */
const LAST_SEQ = `
  WITH RECURSIVE search AS (
    SELECT 0 AS low, (SELECT last_seq + 1 FROM runs WHERE id = $1::uuid) AS high
    UNION ALL
    SELECT CASE WHEN event.turn < $2::int THEN event.seq ELSE low END,
      CASE WHEN event.turn < $2::int THEN high ELSE event.seq END
    FROM search, LATERAL (
      SELECT seq, turn FROM run_events WHERE run_id = $1::uuid AND seq = (low + high) / 2 LIMIT 1) AS event
    WHERE high - low > 1)
  SELECT max(low) AS seq FROM search`;

/** For `RunStore.lastSeqBeforeTurn`. */
export function lastSeqStatement(id: RunId, turn: number): Statement {
  return { text: LAST_SEQ, values: [id, turn] };
}
