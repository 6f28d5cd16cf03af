import { isStateChange, STATE_CHANGE_KINDS } from "../../core/model/webhooks/webhook.ts";
import type { LogPart, VisibleRun, WebhookLog } from "../../core/ports/stores/webhook-stores.ts";
import type { Statements, Tx } from "../database.ts";
import { parseEventBody } from "../event-body.ts";
import { OLDEST_OPEN } from "../event-log.ts";
import type { Prisma, RunEvent as RunEventRow } from "../generated/client.ts";
import { METADATA } from "../json-columns.ts";
import { parseJsonColumn, withoutNulls } from "../rows.ts";

/** The name of this cursor. */
const READER = "webhooks";

type Row = Pick<RunEventRow, "runId" | "seq" | "turn" | "at" | "kind" | "position"> & {
  /** Only for state changes, because what agents say may be long. */
  readonly body: unknown;
};

export class PrismaWebhookLog implements WebhookLog {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async next(limit: number): Promise<LogPart> {
    return this.#database.transaction(async (tx) => {
      if ((await hasUnread(tx)) && !(await passOver(tx))) {
        return readOn(tx, limit);
      }
      return { stateChanges: [], hasMore: false };
    });
  }
}

/** Without an endpoint, the cursor may stay behind this long. */
const BEHIND_SECONDS = 60;

/**
 * Whether there is something to read, or to pass over. If not, nothing is locked or written. The migrations created the
 * cursor.
 */
async function hasUnread(tx: Tx): Promise<boolean> {
  const [reader] = await tx.$queryRaw<{ hasUnread: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM (
        SELECT e.at FROM run_events e
        WHERE (e.position, e.run_id, e.seq) > (r.position, r.run_id, r.seq) AND e.position < ${OLDEST_OPEN}
        ORDER BY e.position, e.run_id, e.seq LIMIT 1
      ) first
      WHERE EXISTS (SELECT FROM webhook_endpoints WHERE enabled)
        OR first.at < now() - ${BEHIND_SECONDS}::int * interval '1 second'
    ) AS "hasUnread" FROM event_log_cursors r WHERE r.name = ${READER}`;
  return reader?.hasUnread ?? false;
}

/**
 * While no endpoint is enabled, the cursor moves to the end without reading. It is one statement, so it sees either
 * no event newer than an endpoint, or that endpoint. It waits for no other process, and never moves back.
 */
export async function passOver(tx: Tx): Promise<boolean> {
  const count = await tx.$executeRaw`
    UPDATE event_log_cursors r SET position = last.position, run_id = last.run_id, seq = last.seq
    FROM (
      SELECT position, run_id, seq FROM run_events WHERE position < ${OLDEST_OPEN}
      ORDER BY position DESC, run_id DESC, seq DESC LIMIT 1
    ) last, (SELECT name FROM event_log_cursors WHERE name = ${READER} FOR UPDATE SKIP LOCKED) own
    WHERE r.name = own.name AND (last.position, last.run_id, last.seq) > (r.position, r.run_id, r.seq)
      AND NOT EXISTS (SELECT FROM webhook_endpoints WHERE enabled)`;
  return count > 0;
}

/**
 * Waits for a fan-out in progress, and keeps the next one from starting until this transaction ends. The fan-out does
 * not wait for it, because it skips a locked cursor.
 */
export async function lockFanOut(tx: Tx): Promise<void> {
  await tx.$queryRaw`SELECT FROM event_log_cursors WHERE name = ${READER} FOR SHARE`;
}

async function readOn(tx: Tx, limit: number): Promise<LogPart> {
  const [place] = await tx.$queryRaw<{ position: bigint; runId: string; seq: number }[]>`
    SELECT position, run_id AS "runId", seq FROM event_log_cursors WHERE name = ${READER} FOR UPDATE SKIP LOCKED`;
  if (place === undefined) {
    return { stateChanges: [], hasMore: false };
  }
  const rows = await tx.$queryRaw<Row[]>`
    SELECT run_id AS "runId", seq, turn, at, kind, position,
      CASE WHEN kind = ANY (${[...STATE_CHANGE_KINDS]}) THEN body END AS body
    FROM run_events
    WHERE (position, run_id, seq) > (${place.position}::bigint, ${place.runId}::uuid, ${place.seq}::int)
      AND position < ${OLDEST_OPEN}
    ORDER BY position, run_id, seq LIMIT ${limit}`;
  const last = rows.at(-1);
  if (last === undefined) {
    return { stateChanges: [], hasMore: false };
  }
  const { position, runId, seq } = last;
  await tx.eventLogCursor.update({ where: { name: READER }, data: { position, runId, seq } });
  const changes = rows.filter(({ body }) => body !== null);
  return { stateChanges: await stateChangesOf(tx, changes), hasMore: rows.length === limit };
}

async function stateChangesOf(tx: Tx, rows: readonly Row[]): Promise<LogPart["stateChanges"]> {
  if (rows.length === 0) {
    return [];
  }
  const ids = [...new Set(rows.map(({ runId }) => runId))];
  const runs = await tx.run.findMany({ where: { id: { in: ids } }, select: RUN_COLUMNS });
  const byId = new Map(runs.map((run) => [run.id, webhookRunOf(run)]));
  return rows.flatMap(({ runId, seq, turn, at, body: stored }) => {
    const run = byId.get(runId);
    const body = parseEventBody(stored, runId, seq);
    return run === undefined || !isStateChange(body)
      ? []
      : [{ run, event: { runId: run.id, seq, turn, at, body } }];
  });
}

const RUN_COLUMNS = {
  id: true,
  teamId: true,
  teamOwned: true,
  title: true,
  source: true,
  createdAt: true,
  sessionId: true,
  conversationId: true,
  ancestorIds: true,
  metadata: true,
  triggerUrl: true,
} as const satisfies Prisma.RunSelect;

function webhookRunOf({ metadata, ...run }: Prisma.RunGetPayload<{ select: typeof RUN_COLUMNS }>) {
  const location = { table: "runs", id: run.id, column: "metadata" } as const;
  return withoutNulls<VisibleRun>({ ...run, metadata: parseJsonColumn(METADATA, metadata, location) });
}
