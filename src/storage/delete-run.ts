import type { Run } from "../core/model/runs/run.ts";
import { RUN_DELETED } from "../core/ports/stores/idempotency-store.ts";
import type { Tx } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { lockFanOut } from "./webhooks/webhook-log.ts";

/**
 * Deletes a run that the caller has locked. The order of the locks is that of other changes: the run, its threads, then
 * the rows beside them.
 */
export async function deleteRun(tx: Tx, run: Run): Promise<void> {
  const { checkpoint, checkpointDelta, id, workCheckpoint } = run;
  const blobIds = await blobsOf(tx, id);
  await deleteThreadTraces(tx, id);
  await deleteWebhookTraces(tx, id);
  // The row stays, because its delivery must not be accepted again. Its text is a part of the run.
  await tx.inboxEvent.updateMany({ where: { runId: id }, data: { runId: null, body: "" } });
  await tx.shareLink.deleteMany({ where: { runId: id } });
  const forgotten = { status: RUN_DELETED, body: Prisma.JsonNull, runId: null };
  await tx.idempotentResponse.updateMany({ where: { runId: id }, data: forgotten });
  await tx.runSearchText.deleteMany({ where: { runId: id } });
  await tx.draftComment.deleteMany({ where: { runId: id } });
  await tx.followUp.deleteMany({ where: { runId: id } });
  await tx.runEvent.deleteMany({ where: { runId: id } });
  await tx.artifact.deleteMany({ where: { runId: id } });
  await tx.repositoryChange.deleteMany({ where: { runId: id } });
  await tx.runInput.deleteMany({ where: { runId: id } });
  await tx.$executeRaw`
    INSERT INTO deleted_run_uses (id, team_id, api_key_id, cost_usd, created_at)
    SELECT id, team_id, api_key_id, cost_usd, created_at FROM runs WHERE id = ${id}::uuid`;
  await tx.runLease.deleteMany({ where: { runId: id } });
  await tx.run.delete({ where: { id } });
  await deleteUnusedBlobs(
    tx,
    [...blobIds, checkpoint, checkpointDelta, workCheckpoint].filter((blobId) => blobId !== undefined),
  );
}

async function blobsOf(tx: Tx, runId: string): Promise<readonly string[]> {
  const where = { runId };
  const inputs = await tx.runInput.findMany({ where, select: { blobId: true } });
  const artifacts = await tx.artifact.findMany({ where, select: { blobId: true } });
  const changes = await tx.repositoryChange.findMany({ where, select: { blobId: true } });
  return [...inputs, ...artifacts, ...changes].flatMap(({ blobId }) => blobId ?? []);
}

/** The threads are locked as a dispatcher locks them, so that none of these notices is taken meanwhile. */
async function deleteThreadTraces(tx: Tx, runId: string): Promise<void> {
  await tx.$queryRaw`
    SELECT FROM threads WHERE id IN (SELECT thread_id FROM thread_runs WHERE run_id = ${runId}::uuid)
    ORDER BY id FOR UPDATE`;
  await tx.$executeRaw`
    WITH gone AS (
      DELETE FROM outbox_deliveries WHERE run_id = ${runId}::uuid RETURNING thread_id, message_key)
    DELETE FROM receipts USING gone
    WHERE receipts.thread_id = gone.thread_id AND receipts.message_key = gone.message_key`;
  await tx.thread.updateMany({ where: { runId }, data: { runId: null } });
  await tx.threadRun.deleteMany({ where: { runId } });
}

/** Deliveries to endpoints of the team are deleted too. The fan-out must not add any meanwhile. */
async function deleteWebhookTraces(tx: Tx, runId: string): Promise<void> {
  await lockFanOut(tx);
  await tx.webhookEndpoint.deleteMany({ where: { runId } });
  await tx.webhookDelivery.deleteMany({ where: { runId } });
}

/**
 * A retry uses the blobs of the run that it repeats. They are locked first, because a retry may just be stored: the
 * second statement sees it.
 */
async function deleteUnusedBlobs(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  await tx.$queryRaw`SELECT FROM blobs WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR UPDATE`;
  await tx.$executeRaw`
    DELETE FROM blobs WHERE id = ANY (${[...ids]}::uuid[])
      AND NOT EXISTS (SELECT FROM run_inputs WHERE blob_id = blobs.id)
      AND NOT EXISTS (SELECT FROM artifacts WHERE blob_id = blobs.id)
      AND NOT EXISTS (SELECT FROM repository_changes WHERE blob_id = blobs.id)`;
}
