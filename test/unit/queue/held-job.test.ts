import { expect, it } from "vitest";
import { JOB_KINDS } from "../../../src/core/ports/queue.ts";
import { HeldJob, type HeldJobDeps } from "../../../src/queue/held-job.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { waitFor } from "../../support/wait-for.ts";

it.each(JOB_KINDS)(
  "a job (%s) that is somebody else's by now is let go, unless it is a run's",
  async (kind) => {
    let beats = 0;
    const boss = {
      touch: async () => {
        beats += 1;
        return { affected: 0 };
      },
      complete: async () => undefined,
      fail: async () => undefined,
    } as unknown as HeldJobDeps["boss"];
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    let told: AbortSignal | undefined;
    const handler: HeldJobDeps["handler"] = (_key, signal) => {
      told = signal;
      return done;
    };
    const stopping = new AbortController().signal;
    const deps = { boss, kind, handler, stopping, heartbeatMs: 1, log: SILENT_LOG };
    const job = new HeldJob(deps, { id: "1", retryCount: 0, data: { key: "a" }, expireInSeconds: 60 });

    const performed = job.perform();
    await waitFor(() => beats > 1, { what: "the second beat" });

    expect(told?.aborted).toBe(kind !== "run");
    finish();
    await performed;
  },
);
