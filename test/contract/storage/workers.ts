import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LeaseToken } from "../../../src/core/basics/ids.ts";
import type { RunState } from "../../../src/core/model/runs/states.ts";
import { START_BOUNDS } from "../../../src/core/model/workers/start-durations.ts";
import type { Worker } from "../../../src/core/model/workers/worker.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

const SILENT_MS = 31_000;

export function describeWorkers(harness: () => StorageHarness): void {
  describe("workers", () => {
    const store = () => harness().storage.workers;
    const live = async (...workers: readonly Worker[]) => {
      const ids = workers.map(({ id }) => id);
      return (await store().listLive()).filter(({ id }) => ids.includes(id));
    };

    const loadsOf = async (host: string | undefined) =>
      (await store().listLoads()).filter((load) => load.host === host);

    test("workers are listed as they registered, until they are removed", async () => {
      const [named, plain] = [aWorker({ host: "build-box" }), aWorker()];
      for (const worker of [named, plain]) {
        await store().beat(worker);
      }

      const listed = await live(named, plain);
      await store().remove(plain.id);

      const times = { startedAt: expect.any(Date), lastSeenAt: expect.any(Date) };
      expect(new Set(listed)).toEqual(new Set([named, plain].map((worker) => ({ ...worker, ...times }))));
      expect(await live(named, plain)).toHaveLength(1);
    });

    test("a silent worker is not listed, and listed again with its original start after its next heartbeat", async () => {
      const worker = aWorker();
      await store().beat(worker);
      const [first] = await live(worker);

      await harness().passTime(SILENT_MS);
      expect(await live(worker)).toEqual([]);
      await store().beat(worker);

      const [again] = await live(worker);
      expect(again?.startedAt).toEqual(first?.startedAt);
      expect(again?.lastSeenAt.getTime()).toBeGreaterThanOrEqual(first?.lastSeenAt.getTime() ?? Infinity);
    });

    test("a lost worker is removed only after it has been silent for the given time", async () => {
      const worker = aWorker();
      await store().beat(worker);

      await store().remove(worker.id, SILENT_MS / 2);
      expect(await live(worker)).toHaveLength(1);
      await harness().passTime(SILENT_MS / 2);
      expect(await live(worker)).toHaveLength(1);
      await store().remove(worker.id, SILENT_MS / 2 - 1);

      expect(await live(worker)).toEqual([]);
    });

    test("each lease takes one slot of a worker", async () => {
      const host = randomUUID();
      const [one, two] = [aWorker({ host, slots: 3 }), aWorker({ host, slots: 2 })];
      for (const worker of [one, two]) {
        await store().beat(worker);
      }
      await aRunHeldBy(harness(), one.id);
      await aRunHeldBy(harness(), two.id);
      await aRunHeldBy(harness(), "a worker that never was");

      expect(await loadsOf(host)).toEqual([{ host, slots: 5, taken: 2 }]);
      expect(await loadsOf(randomUUID())).toEqual([]);
    });

    test("a run that waits for a person has no slot, and runs without a slot do not count as taken", async () => {
      const [disk, host] = [randomUUID(), randomUUID()];
      const [one, two] = [aWorker({ disk, host, slots: 1 }), aWorker({ host, slots: 2 })];
      for (const worker of [one, two]) {
        await store().beat(worker);
      }
      await aRunHeldBy(harness(), one.id, "BLOCKED");
      expect(await loadsOf(host)).toEqual([{ host, slots: 3, taken: 0 }]);

      // One of them has an answer and waits for the slot of the other.
      await aRunHeldBy(harness(), one.id, "INPROGRESS");
      await aRunHeldBy(harness(), one.id, "INPROGRESS");

      expect(await loadsOf(host)).toEqual([{ host, slots: 3, taken: 1 }]);
    });

    test("workers without a name share one load", async () => {
      const before = (await loadsOf(undefined))[0]?.slots ?? 0;

      await store().beat(aWorker({ slots: 3 }));

      expect(await loadsOf(undefined)).toEqual([{ slots: before + 3, taken: expect.any(Number) }]);
    });

    test("a worker reports its disk, and its slots are crowded while the disk has no space for a run", async () => {
      const [disk, host] = [randomUUID(), randomUUID()];
      const worker = aWorker({ disk, host, slots: 2 });
      const used = { workspaces: 4, environments: 3, mirrors: 2, agents: 1 };
      const diskUse = { freeBytes: 5, takesRuns: false, used, orphans: 0 };

      await store().beat({ ...worker, diskUse });
      expect(await live(worker)).toMatchObject([{ diskUse }]);
      expect(await loadsOf(host)).toEqual([{ host, slots: 2, crowdedSlots: 2, taken: 0 }]);

      await store().beat({ ...worker, diskUse: { ...diskUse, takesRuns: true } });
      expect(await loadsOf(host)).toEqual([{ host, slots: 2, taken: 0 }]);
    });

    test("a worker is listed with the durations of its starts as it last reported them", async () => {
      const worker = aWorker();
      const session = { within: START_BOUNDS.map(() => 2), count: 3, sumSeconds: 301.5 };

      await store().beat(worker);
      await store().beat({ ...worker, starts: { session } });
      expect((await live(worker)).map(({ starts }) => starts)).toEqual([{ session }]);

      await store().beat(worker);
      expect((await live(worker)).map(({ starts }) => starts)).toEqual([undefined]);
    });

    test("a worker of a newer version is listed with durations that this version does not know", async () => {
      const worker = aWorker();
      const session = { within: START_BOUNDS.map(() => 1), count: 1, sumSeconds: 1 };
      const starts = { session, unknown: session };

      await store().beat({ ...worker, starts });

      expect(await live(worker)).toMatchObject([{ starts: { session } }]);
    });

    test("a silent worker has no slots", async () => {
      const worker = aWorker({ host: randomUUID() });
      await store().beat(worker);
      await harness().passTime(SILENT_MS);

      expect(await loadsOf(worker.host)).toEqual([]);
    });
  });
}

function aWorker(changes: Partial<Worker> = {}): Worker {
  return { id: randomUUID(), slots: 4, sandbox: { name: "local", isolated: false }, ...changes };
}

async function aRunHeldBy(
  harness: StorageHarness,
  worker: string,
  state: RunState = "INPROGRESS",
): Promise<void> {
  const { id } = await aStoredRun(harness);
  const lease = { token: randomUUID() as LeaseToken, worker, ttlMs: 60_000 };
  await harness.storage.runs.change(id, ({ run }) => aChange(run, { lease, progress: { ...run, state } }));
}
