import {
  type LoggedNotice,
  type NoticeLog,
  type NoticeQuery,
  noticeKindOf,
} from "../../../../src/core/ports/stores/notice-log.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { DeliveryRow, Tables } from "./tables.ts";

const STATES = { waiting: "pending", sent: "delivered", replaced: "replaced", dead: "dead" } as const;

export function createInMemoryNoticeLog(database: InMemoryStatements): NoticeLog {
  return {
    list: (query) =>
      database.read((tables, now) =>
        noticesOf(tables, query.teamId, now)
          .filter((notice) => isWanted(notice, query))
          .slice(0, query.limit),
      ),
    find: (teamId, id) =>
      database.read((tables, now) => noticesOf(tables, teamId, now).find((notice) => notice.id === id)),
    listDead: () =>
      database.read(({ deliveries, threads }) => {
        const dead = [...deliveries.values()].filter(({ state }) => state === "dead");
        const groups = Map.groupBy(dead, ({ error, threadId }) => `${threadId} ${error}`);
        return [...groups.values()].flatMap((rows) =>
          rows.slice(0, 1).map(({ error = "", threadId }) => {
            const { adapter = "", key: threadKey = "" } = threads.get(threadId) ?? {};
            return { adapter, threadKey, error, count: rows.length };
          }),
        );
      }),
    listHeld: () =>
      database.read(({ deliveries, threads }, now) => {
        const held = [...deliveries.values()].filter(
          ({ dueAt, notice, reservation, state }) =>
            state === "waiting" && reservation !== undefined && dueAt > now && notice.kind === "message",
        );
        const groups = Map.groupBy(held, ({ threadId }) => threads.get(threadId)?.adapter ?? "");
        return Array.from(groups, ([adapter, rows]) => {
          const until = new Date(Math.max(...rows.map(({ dueAt }) => dueAt)));
          return { adapter, count: rows.length, until };
        });
      }),
    retry: (id) =>
      database.transaction(({ jobs, now, tables }) => {
        const row = tables.deliveries.get(id);
        if (row?.state !== "dead") {
          return false;
        }
        const state = hasNewerCard(tables, row) ? "replaced" : "waiting";
        const { reservation: _before, ...others } = row;
        tables.deliveries.set(id, { ...others, state, earlierTries: row.tries, dueAt: now });
        jobs.push({ kind: "deliver", key: row.threadId });
        return true;
      }),
  };
}

/** Newest first. */
function noticesOf(tables: Tables, teamId: string, now: number): readonly LoggedNotice[] {
  return [...tables.deliveries.values()]
    .map((row, index) => ({ row, seq: BigInt(index + 1) }))
    .filter(({ row }) => teamOf(tables, row) === teamId)
    .map(({ row, seq }) => noticeOf(row, seq, now))
    .reverse();
}

function teamOf({ installations, runs, threads }: Tables, { runId, threadId }: DeliveryRow) {
  const thread = threads.get(threadId);
  const installation = installations
    .values()
    .find(({ adapter, externalId }) => adapter === thread?.adapter && externalId === thread.installation);
  return (runId && runs.get(runId)?.run.teamId) ?? installation?.teamId;
}

function isWanted({ runId, seq, state, threadId }: LoggedNotice, query: NoticeQuery): boolean {
  const { before } = query;
  return (
    (query.runId ?? runId) === runId &&
    (query.threadId ?? threadId) === threadId &&
    (query.state ?? state) === state &&
    (before === undefined || seq < before)
  );
}

function hasNewerCard({ deliveries }: Tables, { id, notice, messageKey, threadId }: DeliveryRow): boolean {
  const rows = [...deliveries.values()];
  const newer = rows.slice(rows.findIndex((row) => row.id === id) + 1);
  return (
    notice.kind === "card" &&
    newer.some((row) => row.threadId === threadId && row.messageKey === messageKey && row.state !== "dead")
  );
}

function noticeOf(row: DeliveryRow, seq: bigint, now: number): LoggedNotice {
  const isHeld = row.state === "waiting" && row.reservation !== undefined && row.dueAt > now;
  const { createdAt, deliveredAt, error, id, notice, permalink, runId, state, threadId, tries } = row;
  return {
    ...{ id, seq, threadId, kind: noticeKindOf(notice), state: STATES[state], attempts: tries },
    createdAt: new Date(createdAt),
    ...(isHeld ? { heldUntil: new Date(row.dueAt) } : {}),
    ...(deliveredAt === undefined ? {} : { deliveredAt: new Date(deliveredAt) }),
    ...(error === undefined ? {} : { error }),
    ...(permalink === undefined ? {} : { permalink }),
    ...(runId === undefined ? {} : { runId }),
  };
}
