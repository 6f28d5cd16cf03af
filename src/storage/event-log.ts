import type { Viewer } from "../core/model/people/principal.ts";
import {
  type EventLog,
  type EventLogPage,
  type EventLogPosition,
  type LoggedEvent,
  positionAfter,
} from "../core/ports/stores/event-log.ts";
import type { Statements } from "./database.ts";
import { EVENTS_LENGTH } from "./event-pages.ts";
import { Prisma, type RunEvent as RunEventRow } from "./generated/client.ts";
import { visibleTo } from "./run-filters.ts";
import { eventOf } from "./run-rows.ts";
import { withinLength } from "./within-length.ts";

type Row = Pick<RunEventRow, "runId" | "seq" | "turn" | "kind" | "body" | "at" | "position"> & {
  readonly visible: boolean;
  readonly lookedAt: bigint;
  readonly isHeldBack: boolean;
};
/** The one row of an empty page. */
interface Nothing {
  readonly runId: null;
  readonly isHeldBack: boolean;
}

/** Positions below this are final: no running or future transaction can have one. */
export const OLDEST_OPEN = Prisma.sql`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

const WITHIN_LENGTH = Prisma.raw(
  withinLength("SELECT * FROM looked", 'position, "runId", seq', EVENTS_LENGTH),
);

export class PrismaEventLog implements EventLog {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  /**
   * The page is cut before it is filtered, so that the database does not read all events for a viewer of few runs.
   * The same statement tells whether events are held back, because a second statement could see a later state. For an
   * event that the viewer may not see, only the position leaves the database, because its body may be large.
   */
  async read(after: EventLogPosition, limit: number, viewer?: Viewer): Promise<EventLogPage> {
    const { position, runId, seq } = after;
    const visible = viewer === undefined ? Prisma.sql`true` : visibleTo(viewer);
    const rows = await this.#database.query(
      (client) => client.$queryRaw<(Row | Nothing)[]>`
        WITH looked AS (
          SELECT e.run_id AS "runId", e.seq, e.turn, e.kind, e.at, e.position, count(*) OVER () AS "lookedAt",
            ${visible} AS visible, CASE WHEN ${visible} THEN e.body END AS body
          FROM (
            SELECT * FROM run_events
            WHERE (position, run_id, seq) > (${position}::bigint, ${runId}::uuid, ${seq}::int)
              AND position < ${OLDEST_OPEN}
            ORDER BY position, run_id, seq LIMIT ${limit}
          ) e JOIN runs r ON r.id = e.run_id
        )
        SELECT held.back AS "isHeldBack", page.*
        FROM (SELECT EXISTS (SELECT FROM run_events WHERE position >= ${OLDEST_OPEN}) AS back) held
        LEFT JOIN (${WITHIN_LENGTH}) page ON true
        ORDER BY page.position, page."runId", page.seq`,
    );
    return pageOf(rows, after, limit);
  }

  async end(): Promise<EventLogPosition> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ position: bigint }[]>`SELECT ${OLDEST_OPEN} AS position`,
    );
    return positionAfter((rows[0]?.position ?? 0n) - 1n);
  }

  async knows({ position }: EventLogPosition): Promise<boolean> {
    const rows = await this.#database.query(
      (client) => client.$queryRaw<{ past: boolean }[]>`
        SELECT ${position}::bigint < pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS past`,
    );
    return rows[0]?.past ?? false;
  }
}

function pageOf(rows: readonly (Row | Nothing)[], after: EventLogPosition, limit: number): EventLogPage {
  const found = rows.filter((row) => row.runId !== null);
  const last = found.at(-1);
  return {
    events: found.filter(({ visible }) => visible).map(loggedEventOf),
    next: last === undefined ? after : positionOf(last),
    hasMore: found.length === limit || (last !== undefined && found.length < last.lookedAt),
    isHeldBack: rows[0]?.isHeldBack ?? false,
  };
}

function loggedEventOf(row: Row): LoggedEvent {
  return { event: eventOf(row), position: positionOf(row) };
}

function positionOf({ position, runId, seq }: Row): EventLogPosition {
  return { position, runId, seq };
}
