import type { RunId } from "../core/ids.ts";
import { EVENTS_LENGTH_MAX } from "../core/runs/event-pages.ts";
import type { RunEventKind } from "../core/runs/events.ts";
import type { Statement } from "./database.ts";

/**
 * The rows of `page`, which have a `body`, in this order as far as they are not too long together. To measure a text, the
 * database has to unpack it; so a page that is too long already as it is stored is cut before.
 */
export function withinLength(page: string, order: string): string {
  return `
    SELECT * FROM (
      SELECT *, ${sumBefore("octet_length(body::text)", order)} AS length_before FROM (
        SELECT *, ${sumBefore("pg_column_size(body)", order)} AS stored_before FROM (${page}) page
      ) stored WHERE stored_before < ${EVENTS_LENGTH_MAX}
    ) measured WHERE length_before < ${EVENTS_LENGTH_MAX}`;
}

function sumBefore(length: string, order: string): string {
  return `coalesce(sum(${length}) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`;
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
  const page = `
    SELECT ${COLUMNS} FROM run_events WHERE run_id = $1::uuid AND seq > $2::int ${kinds === undefined ? "" : OF_KINDS}
    ORDER BY seq LIMIT $3::int`;
  const text = `${withinLength(page, "seq")} ORDER BY seq`;
  return { text, values: [id, after, limit, ...(kinds === undefined ? [] : [[...kinds]])] };
}
