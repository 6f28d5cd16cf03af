import type { RunId } from "../core/ids.ts";
import { EVENTS_LENGTH_MAX } from "../core/runs/event-pages.ts";
import type { RunEventKind } from "../core/runs/events.ts";
import type { Statement } from "./database.ts";

/** The length of all events that come before this one in `order`: a page goes on as long as that is within bounds. */
export function lengthBefore(order: string): string {
  return `coalesce(sum(octet_length(body::text)) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`;
}

const COLUMNS = `run_id AS "runId", seq, turn, at, kind, body, position`;
const OF_KINDS = "AND kind = ANY($4::text[])";

/** The events of a run behind one of them, as `RunStore.readEvents` gives them. */
export function eventsStatement(
  id: RunId,
  after: number,
  limit: number,
  kinds: readonly RunEventKind[] | undefined,
): Statement {
  const text = `
    SELECT ${COLUMNS} FROM (
      SELECT *, ${lengthBefore("seq")} AS before FROM (
        SELECT * FROM run_events WHERE run_id = $1::uuid AND seq > $2::int ${kinds === undefined ? "" : OF_KINDS}
        ORDER BY seq LIMIT $3::int
      ) found
    ) page WHERE before < ${EVENTS_LENGTH_MAX} ORDER BY seq`;
  return { text, values: [id, after, limit, ...(kinds === undefined ? [] : [[...kinds]])] };
}
