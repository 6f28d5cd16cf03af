import { defined } from "../core/basics/defined.ts";
import { newId, type RunId } from "../core/basics/ids.ts";
import { messageKeyOf } from "../core/model/threads/notice.ts";
import type { Thread, ThreadBinding } from "../core/model/threads/thread.ts";
import type { IdempotentResponse } from "../core/ports/stores/idempotency-store.ts";
import type { InboxResult } from "../core/ports/stores/inbox-store.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import { UniqueConflict } from "../core/ports/stores/storage.ts";
import type { Tx } from "./database.ts";
import { addFollowUpFiles } from "./file-store.ts";
import { Prisma } from "./generated/client.ts";
import { toJson } from "./rows.ts";
import { noteUnconnected } from "./unconnected-events.ts";

/**
 * Rows that a change writes beside the run. Each that may already exist is written with `ON CONFLICT DO NOTHING`: the
 * statement waits for the other transaction, and a conflict becomes a `UniqueConflict` instead of a failed
 * transaction.
 */
export async function bindThread(tx: Tx, runId: RunId, binding: ThreadBinding): Promise<void> {
  const { expected, participants = [], showsCard = true, thread } = binding;
  if (expected === undefined) {
    await makeThread(tx, { ...thread });
  }
  const { count } = await tx.thread.updateMany({
    where: { id: thread.id, runId: expected ?? null },
    data: { runId, participants: [...participants], showsCard },
  });
  if (count !== 1) {
    throw new UniqueConflict("thread");
  }
  const threadId_runId = { threadId: thread.id, runId };
  await tx.threadRun.upsert({
    where: { threadId_runId },
    create: { ...threadId_runId, showsCard },
    update: { showsCard },
  });
}

/** Creates the thread unless this row exists. Another row with the same key is a conflict. */
export async function makeThread(tx: Tx, { id, adapter, installation, key }: Thread): Promise<void> {
  const made = await tx.thread.createMany({
    data: [{ id, adapter, installation, key }],
    skipDuplicates: true,
  });
  if (made.count === 1) {
    return;
  }
  if ((await tx.thread.count({ where: { id } })) === 0) {
    throw new UniqueConflict("thread");
  }
}

export async function addFollowUps(tx: Tx, runId: RunId, change: RunChange): Promise<void> {
  const { changedFollowUps = [], followUps, takenFollowUps: takes } = change;
  for (const {
    approval,
    comments,
    id,
    message,
    editedAt,
    withdrawnAt,
    resumes = false,
  } of changedFollowUps) {
    const data = { message, editedAt: editedAt ?? null, withdrawnAt: withdrawnAt ?? null, resumes };
    const required = approval === undefined ? {} : { approval: toJson(approval) };
    const commented = { comments: comments === undefined ? Prisma.DbNull : toJson(comments) };
    await tx.followUp.update({ where: { id }, data: { ...data, ...commented, ...required } });
  }
  if (followUps.length > 0) {
    const { _max } = await tx.followUp.aggregate({ where: { runId }, _max: { seq: true } });
    const lastSeq = _max.seq ?? 0;
    await tx.followUp.createMany({
      data: followUps.map(({ actor, approval, comments, files, ...row }, index) => ({
        ...row,
        seq: lastSeq + index + 1,
        ...defined({
          actor: actor === undefined ? undefined : toJson(actor),
          approval: approval === undefined ? undefined : toJson(approval),
          comments: comments === undefined ? undefined : toJson(comments),
          files: files === undefined ? undefined : toJson(files),
        }),
      })),
    });
    await addFollowUpFiles(tx, runId, followUps);
  }
  if (takes === undefined) {
    return;
  }
  await tx.followUp.updateMany({ where: { id: { in: [...takes.ids] } }, data: { turn: takes.turn } });
}

/** `runId` is the run whose change caused the notices. */
export async function addNotices(tx: Tx, notices: RunChange["notices"], runId?: RunId): Promise<void> {
  if (notices.length === 0) {
    return;
  }
  await tx.outboxDelivery.createMany({
    data: notices.map(({ threadId, notice }) => {
      const uid = newId(new Date());
      const row = { uid, threadId, messageKey: messageKeyOf(notice, uid), notice: toJson(notice) };
      return { ...row, runId: runId ?? null };
    }),
  });
}

export async function storeInboxResult(tx: Tx, result: InboxResult): Promise<void> {
  const { inboxId, disposition, mayComeEarly, reason, dedupeKey, revision, runId, teamId, waitsWith } =
    result;
  if (waitsWith !== undefined && !(await isStillAsked(tx, waitsWith))) {
    throw new UniqueConflict("thread");
  }
  if (result.answers !== undefined && !(await endAsked(tx, result.answers, { runId: runId ?? null }))) {
    throw new UniqueConflict("dedupeKey");
  }
  if (dedupeKey !== undefined) {
    await takeDedupeKey(tx, dedupeKey, result);
  }
  const completedAt = new Date();
  const isNeeded = disposition !== "ignored" || mayComeEarly === true;
  const [completed] = await tx.inboxEvent.updateManyAndReturn({
    where: { id: inboxId, disposition: null },
    select: { orderingKey: true },
    data: {
      ...(isNeeded ? { bodyKeptSince: completedAt } : { body: "" }),
      disposition,
      reason: reason ?? null,
      runId: runId ?? null,
      teamId: teamId ?? null,
      messageId: revision?.messageId ?? null,
      messageVersion: revision?.version ?? null,
      waitsWith: waitsWith ?? null,
      completedAt,
    },
  });
  if (completed === undefined) {
    throw new UniqueConflict("dedupeKey");
  }
  if (result.unconnected !== undefined) {
    await noteUnconnected(tx, inboxId, result.unconnected);
  }
  if (disposition === "run_created" && revision !== undefined) {
    await reopenEarlyReplies(tx, completed.orderingKey, revision.version);
  }
}

/** An event that is processed again leaves its key free until then. */
async function takeDedupeKey(tx: Tx, dedupeKey: string, { inboxId, waitsWith }: InboxResult): Promise<void> {
  const taken =
    waitsWith === undefined
      ? (await tx.inboxDedupeKey.createMany({ data: [{ dedupeKey, inboxId }], skipDuplicates: true })).count
      : 1 - (await tx.inboxDedupeKey.count({ where: { dedupeKey } }));
  if (taken === 0) {
    throw new UniqueConflict("dedupeKey");
  }
}

/** False when the event is no longer asked. */
export async function endAsked(
  tx: Tx,
  id: string,
  { reason = null, runId = null }: { readonly reason?: string | null; readonly runId?: RunId | null },
): Promise<boolean> {
  const disposition = reason === null ? "answered" : "ignored";
  const data = { disposition, reason, runId, ...(reason === null ? {} : { body: "", bodyKeptSince: null }) };
  const { count } = await tx.inboxEvent.updateMany({ where: { id, disposition: "asked" }, data });
  if (count === 1) {
    await tx.inboxEvent.updateMany({ where: { waitsWith: id, disposition: "asked" }, data: OPEN_AGAIN });
  }
  return count === 1;
}

/** Until the end of the transaction, no other one ends the question. */
async function isStillAsked(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.$queryRaw<unknown[]>`
    SELECT id FROM inbox_events WHERE id = ${id}::uuid AND disposition = 'asked' FOR SHARE`;
  return rows.length === 1;
}

const OPEN_AGAIN = {
  disposition: null,
  reason: null,
  completedAt: null,
  bodyKeptSince: null,
  waitsWith: null,
} as const;

/** Replies that were delivered before the request of their thread are processed after it. */
async function reopenEarlyReplies(tx: Tx, orderingKey: string, version: string): Promise<void> {
  await tx.inboxEvent.updateMany({
    where: { orderingKey, disposition: "ignored", body: { not: "" }, messageVersion: { gt: version } },
    data: OPEN_AGAIN,
  });
}

export async function storeIdempotentResponse(tx: Tx, answer: IdempotentResponse): Promise<void> {
  const { principalId, key, requestHash, status, body, runId = null } = answer;
  const row = { principalId, key, requestHash, status, body: toJson(body), runId };
  const { count } = await tx.idempotentResponse.createMany({ data: [row], skipDuplicates: true });
  if (count === 0) {
    throw new UniqueConflict("idempotencyKey");
  }
}
