import { newId, type RunId } from "../../../../src/core/basics/ids.ts";
import { messageKeyOf } from "../../../../src/core/model/threads/notice.ts";
import type {
  StoredThread,
  Thread,
  ThreadAddress,
  ThreadBinding,
} from "../../../../src/core/model/threads/thread.ts";
import type { IdempotentResponse } from "../../../../src/core/ports/stores/idempotency-store.ts";
import type { InboxResult } from "../../../../src/core/ports/stores/inbox-store.ts";
import type { RunChange } from "../../../../src/core/ports/stores/run-change.ts";
import { UniqueConflict } from "../../../../src/core/ports/stores/storage.ts";
import type { Tx } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

/** Rows that a change writes beside the run. */
export function bindThread(
  tx: Tx,
  runId: RunId,
  { thread, expected, participants = [], showsCard = true }: ThreadBinding,
): void {
  if (expected === undefined) {
    makeThread(tx, thread);
  }
  const row = tx.tables.threads.get(thread.id);
  if (row === undefined || row.runId !== expected) {
    throw new UniqueConflict("thread");
  }
  tx.tables.threads.set(row.id, { ...row, runId, participants, showsCard });
  const cardless = `${runId} ${row.id}`;
  if (showsCard) {
    tx.tables.cardless.delete(cardless);
  } else {
    tx.tables.cardless.add(cardless);
  }
  const bound = tx.tables.threadRuns.get(runId) ?? [];
  if (!bound.includes(row.id)) {
    tx.tables.threadRuns.set(runId, [...bound, row.id]);
  }
}

/** All threads that were ever bound to the run. */
export function threadsOf({ threadRuns, threads }: Tables, runId: RunId): readonly StoredThread[] {
  return (threadRuns.get(runId) ?? []).flatMap((id) => threads.get(id) ?? []);
}

/** Those threads, with whether this run shows its card there. */
export function threadsFor(tables: Tables, runId: RunId): readonly StoredThread[] {
  return threadsOf(tables, runId).map((thread) => ({
    ...thread,
    showsCard: !tables.cardless.has(`${runId} ${thread.id}`),
  }));
}

/** Makes the thread unless this very row is there already; another row with its address means it is taken. */
export function makeThread({ now, tables }: Tx, { id, adapter, installation, key }: Thread): void {
  if (tables.threads.has(id)) {
    return;
  }
  if (findThread(tables, { adapter, installation, key }) !== undefined) {
    throw new UniqueConflict("thread");
  }
  const stored = {
    verbosity: "normal",
    participants: [],
    needsMention: false,
    showsCard: true,
    createdAt: new Date(now),
  } as const;
  tables.threads.set(id, { id, adapter, installation, key, ...stored });
}

export function findThread(
  tables: Tables,
  { adapter, installation, key }: ThreadAddress,
): StoredThread | undefined {
  return tables.threads
    .values()
    .find(
      (thread) => thread.adapter === adapter && thread.installation === installation && thread.key === key,
    );
}

export function addNotices({ tables, now }: Tx, notices: RunChange["notices"], runId?: RunId): void {
  for (const { threadId, notice } of notices) {
    const id = newId(new Date(now));
    const messageKey = messageKeyOf(notice, id);
    const tries = { tries: 0, earlierTries: 0, dueAt: now, createdAt: now };
    const ofRun = runId === undefined ? {} : { runId };
    tables.deliveries.set(id, { id, threadId, messageKey, notice, state: "waiting", ...tries, ...ofRun });
  }
}

export function storeInboxResult(
  { now, tables }: Tx,
  { answers, inboxId, dedupeKey: meaning, mayComeEarly, ...end }: InboxResult,
): void {
  if (answers !== undefined && !endAsked({ tables }, answers, { runId: end.runId })) {
    throw new UniqueConflict("dedupeKey");
  }
  if (end.waitsWith !== undefined && tables.inbox.get(end.waitsWith)?.disposition !== "asked") {
    throw new UniqueConflict("thread");
  }
  const row = tables.inbox.get(inboxId);
  const isTaken = meaning !== undefined && tables.meanings.has(meaning);
  if (isTaken || row === undefined || row.disposition !== undefined) {
    throw new UniqueConflict("dedupeKey");
  }
  if (meaning !== undefined && end.waitsWith === undefined) {
    tables.meanings.add(meaning);
  }
  const { reason: _ofFailures, ...settled } = row;
  const isNeeded = end.disposition !== "ignored" || mayComeEarly === true;
  const body = isNeeded ? { bodyKeptSince: now } : { event: { ...row.event, body: "" } };
  tables.inbox.set(inboxId, { ...settled, ...end, ...body });
  const version = end.revision?.version;
  if (end.disposition === "run_created" && version !== undefined) {
    reopenEarlyReplies(tables, row.event.orderingKey, version);
  }
}

/** False when the event is no longer asked. */
export function endAsked(
  { tables: { inbox } }: Pick<Tx, "tables">,
  id: string,
  { reason, runId }: { readonly reason?: string; readonly runId?: RunId | undefined },
): boolean {
  const row = inbox.get(id);
  if (row?.disposition !== "asked") {
    return false;
  }
  const ended = reason === undefined ? ({ disposition: "answered" } as const) : GIVEN_UP;
  const event = reason === undefined ? row.event : { ...row.event, body: "" };
  const why = reason === undefined ? {} : { reason };
  inbox.set(id, { ...row, ...ended, event, ...why, ...(runId === undefined ? {} : { runId }) });
  for (const [waiting, each] of inbox) {
    const { bodyKeptSince: _since, disposition, reason: _reason, waitsWith, ...open } = each;
    if (disposition === "asked" && waitsWith === id) {
      inbox.set(waiting, open);
    }
  }
  return true;
}

const GIVEN_UP = { disposition: "ignored" } as const;

function reopenEarlyReplies({ inbox }: Tables, orderingKey: string, after: string): void {
  for (const [id, row] of inbox) {
    const { bodyKeptSince, disposition, reason: _reason, revision, ...open } = row;
    const isEarly = disposition === "ignored" && row.event.body !== "" && (revision?.version ?? "") > after;
    if (row.event.orderingKey === orderingKey && isEarly && bodyKeptSince !== undefined) {
      inbox.set(id, open);
    }
  }
}

export function storeIdempotentResponse({ tables }: Tx, answer: IdempotentResponse): void {
  const name = answerName(answer);
  if (tables.answers.has(name)) {
    throw new UniqueConflict("idempotencyKey");
  }
  tables.answers.set(name, answer);
}

export function answerName({ principalId, key }: Pick<IdempotentResponse, "principalId" | "key">): string {
  return `${principalId} ${key}`;
}
