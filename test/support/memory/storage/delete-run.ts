import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { WebhookEndpoint } from "../../../../src/core/model/webhooks/webhook.ts";
import { RUN_DELETED } from "../../../../src/core/ports/stores/idempotency-store.ts";
import type { Tables } from "./tables.ts";
import { ENDPOINTS } from "./webhooks/webhook-table.ts";

/** The log of all runs keeps the entries of deleted runs, and no reader sees them. */
export function deleteRun(tables: Tables, id: RunId): void {
  const row = tables.runs.get(id);
  if (row !== undefined) {
    tables.deletedRuns.set(id, row);
  }
  deleteWhere(tables.followUps, ({ runId }) => runId === id);
  deleteWhere(tables.artifacts, ({ runId }) => runId === id);
  deleteWhere(tables.draftComments, ({ runId }) => runId === id);
  deleteWhere(tables.shareLinks, ({ runId }) => runId === id);
  for (const [place, answer] of tables.answers) {
    if (answer.runId === id) {
      const { runId: _deleted, ...rest } = answer;
      tables.answers.set(place, { ...rest, status: RUN_DELETED, body: null });
    }
  }
  deleteWhere(tables.deliveries, ({ runId }) => runId === id);
  deleteWhere(tables.webhooks, ({ about }) => about?.runId === id);
  for (const [place, record] of tables.records) {
    if (place.startsWith(`${ENDPOINTS} `) && (record as WebhookEndpoint).runId === id) {
      tables.records.delete(place);
    }
  }
  for (const [place, row] of tables.inbox) {
    if (row.runId === id) {
      const { runId: _deleted, ...rest } = row;
      tables.inbox.set(place, { ...rest, event: { ...row.event, body: "" } });
    }
  }
  for (const [place, thread] of tables.threads) {
    if (thread.runId === id) {
      const { runId: _deleted, ...rest } = thread;
      tables.threads.set(place, rest);
    }
  }
  for (const rows of [tables.threadRuns, tables.inputs, tables.changes, tables.events, tables.runs]) {
    rows.delete(id);
  }
}

function deleteWhere<Row>(rows: Map<string, Row>, isGone: (row: Row) => boolean): void {
  for (const [key, row] of rows) {
    if (isGone(row)) {
      rows.delete(key);
    }
  }
}
