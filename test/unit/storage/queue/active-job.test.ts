import { expect, test } from "vitest";
import { JOB_KINDS } from "../../../../src/core/ports/queue.ts";
import { ActiveJob, type ActiveJobDeps } from "../../../../src/storage/queue/queue-worker.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { waitFor } from "../../../support/wait-for.ts";

test.each(JOB_KINDS)("a handler whose job moved to another worker (%s) is aborted", async (kind) => {
  let beats = 0;
  const boss = {
    touch: async () => {
      beats += 1;
      return { affected: 0 };
    },
    complete: async () => undefined,
    fail: async () => undefined,
  } as unknown as ActiveJobDeps["boss"];
  const { promise: done, resolve: finish } = Promise.withResolvers<void>();
  let handlerSignal: AbortSignal | undefined;
  const handler: ActiveJobDeps["handler"] = (_key, signal) => {
    handlerSignal = signal;
    return done;
  };
  const stopping = new AbortController().signal;
  const deps = {
    boss,
    kind,
    handler,
    stopping,
    heartbeatMs: 1,
    onReturned: () => undefined,
    log: SILENT_LOG,
  };
  const fetched = { id: "1", name: kind, retryCount: 0, data: { key: "a" }, expireInSeconds: 60 };
  const job = new ActiveJob(deps, fetched);

  const performed = job.perform();
  await waitFor(() => beats > 1, { what: "the second heartbeat" });

  expect(handlerSignal?.aborted).toBe(true);
  finish();
  await performed;
});
