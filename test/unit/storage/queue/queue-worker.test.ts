import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QueueWorker, type QueueWorkerDeps } from "../../../../src/storage/queue/queue-worker.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { waitFor } from "../../../support/wait-for.ts";

/**
 * A fake of pg-boss for a worker: waiting jobs by queue, the fetches, and the queue in which each job was completed.
 */
class FakeBoss {
  readonly waiting: Record<string, string[]> = {};
  readonly fetches: { readonly queue: string; readonly batchSize: number }[] = [];
  readonly completed: string[] = [];

  readonly boss = {
    fetch: async (queue: string, { batchSize }: { readonly batchSize: number }) => {
      this.fetches.push({ queue, batchSize });
      return (this.waiting[queue] ?? [])
        .splice(0, batchSize)
        .map((key) => ({ id: key, name: queue, retryCount: 0, data: { key }, expireInSeconds: 60 }));
    },
    complete: async (queue: string, { id }: { readonly id: string }) => this.completed.push(`${queue} ${id}`),
    fail: async () => undefined,
    touch: async () => undefined,
  } as unknown as QueueWorkerDeps["boss"];
}

describe("a queue worker", () => {
  let stopping: AbortController;
  let worker: QueueWorker | undefined;
  beforeEach(() => {
    stopping = new AbortController();
  });
  afterEach(async () => {
    stopping.abort();
    worker?.wake();
    await worker?.ended;
  });

  test("a queue worker fetches as many jobs as it has room for, and none while it is full", async () => {
    const fake = new FakeBoss();
    const ends: (() => void)[] = [];
    worker = new QueueWorker({
      ...{ boss: fake.boss, kind: "schedule", concurrency: 3 },
      ...{ log: SILENT_LOG, heartbeatMs: 60_000, onReturned: () => undefined, stopping: stopping.signal },
      handler: () => new Promise<void>((resolve) => ends.push(resolve)),
    });
    await waitFor(() => fake.fetches.length === 1, { what: "the first fetch" });

    fake.waiting.schedule = ["a", "b"];
    worker.wake();
    await waitFor(() => ends.length === 2, { what: "two jobs" });
    fake.waiting.schedule = ["c", "d"];
    worker.wake();
    await waitFor(() => ends.length === 3, { what: "the third job" });
    worker.wake();
    ends[1]?.();

    await waitFor(() => ends.length === 4, { what: "the job for which there is room again" });
    expect(fake.fetches.map(({ batchSize, queue }) => `${queue} ${batchSize}`)).toEqual([
      ...["schedule 3", "schedule 3", "schedule 1", "schedule 1"],
    ]);
    expect(fake.completed).toEqual(["schedule b"]);
    for (const end of ends) {
      end();
    }
  });
});
