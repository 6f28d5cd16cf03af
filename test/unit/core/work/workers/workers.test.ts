import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../../../src/core/basics/ids.ts";
import { hostsOf, type LiveWorker } from "../../../../../src/core/model/workers/worker.ts";
import type { HostLoad } from "../../../../../src/core/ports/stores/worker-store.ts";
import { type Availability, Capacity } from "../../../../../src/core/upkeep/capacity.ts";
import { Heartbeat } from "../../../../../src/core/upkeep/heartbeat.ts";
import { Maintenance } from "../../../../../src/core/upkeep/maintenance.ts";
import { StartTimes } from "../../../../../src/core/work/log/start-times.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { SILENT_LOG } from "../../../../support/logs.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";
import { createInMemoryBlobStore } from "../../../../support/memory/storage/blob-store.ts";
import { aRun } from "../../../../support/run-builders.ts";
import { waitFor } from "../../../../support/wait-for.ts";

describe("a worker", () => {
  const worker = { id: "w1", host: "build-box", slots: 2, sandbox: { name: "local", isolated: false } };
  let harness: CoreHarness;
  let heartbeat: Heartbeat;
  beforeEach(() => {
    harness = new CoreHarness();
    heartbeat = new Heartbeat({
      workers: harness.storage.workers,
      clock: harness.clock,
      log: SILENT_LOG,
      worker,
    });
  });

  test("each heartbeat has the durations of the starts until then", async () => {
    const startTimes = new StartTimes();
    const { clock, storage } = harness;
    const counting = new Heartbeat({ workers: storage.workers, clock, log: SILENT_LOG, worker, startTimes });
    await counting.start();
    startTimes.add("session", 50);

    await clock.advance(10_000);

    expect(await storage.workers.listLive()).toMatchObject([{ starts: { session: { count: 1 } } }]);
    await counting.stop();
  });

  test("a worker is listed while it sends heartbeats and until it stops", async () => {
    await heartbeat.start();
    for (let minute = 0; minute < 2; minute += 1) {
      await harness.clock.advance(60_000);
    }

    expect(await harness.storage.workers.listLive()).toMatchObject([worker]);
    await heartbeat.stop();
    expect(await harness.storage.workers.listLive()).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });

  test("a worker takes the runs that request its name or no name, and no others", async () => {
    const ask = async (host?: string) =>
      (await harness.create(host === undefined ? {} : { config: { worker_host: host } })).id;
    const [any, ours, other] = [await ask(), await ask("build-box"), await ask("other-box")];
    const runWorker = harness.worker({ host: "build-box" });

    for (const id of [any, ours, other]) {
      await runWorker.work(id, new AbortController().signal);
    }

    const states = await Promise.all([any, ours, other].map(async (id) => (await harness.run(id)).state));
    expect(states).toEqual(["SUCCEEDED", "SUCCEEDED", "QUEUED"]);
  });

  test("a worker without a name takes no runs that request a name", async () => {
    const { id } = await harness.create({ config: { worker_host: "other-box" } });

    await harness.worker().work(id, new AbortController().signal);

    expect((await harness.run(id)).state).toBe("QUEUED");
  });
});

describe("capacity", () => {
  const clock = new ManualClock();
  let reads: number;
  let loads: readonly HostLoad[] | Error;
  let teamsAtQuota: readonly TeamId[];
  let waiting: ReadonlyMap<string, number>;
  let capacity: Capacity;
  beforeEach(() => {
    teamsAtQuota = [];
    waiting = new Map();
    reads = 0;
    loads = [{ slots: 2, taken: 1 }];
    const listLoads = async () => {
      reads += 1;
      if (loads instanceof Error) {
        throw loads;
      }
      return loads;
    };
    capacity = new Capacity({
      workers: { listLoads },
      claims: { countWaiting: async () => waiting, listTeamsAtQuota: async () => teamsAtQuota },
      clock,
    });
  });

  test.each<[readonly HostLoad[], string | undefined, Availability]>([
    [[{ slots: 2, taken: 1 }], undefined, "free"],
    [[{ slots: 2, taken: 2 }], undefined, "busy"],
    [[{ slots: 4, crowdedSlots: 2, taken: 1 }], undefined, "free"],
    [[{ slots: 4, crowdedSlots: 2, taken: 2 }], undefined, "crowded"],
    [
      [
        { slots: 2, taken: 2 },
        { host: "a", slots: 1, taken: 0 },
      ],
      undefined,
      "free",
    ],
    [
      [
        { slots: 2, taken: 0 },
        { host: "a", slots: 1, taken: 1 },
      ],
      "a",
      "busy",
    ],
    [[{ slots: 2, taken: 0 }], "a", "absent"],
    [[], undefined, "absent"],
  ])(
    "of workers with the load %j, those for the host %s are %s",
    async (currentLoads, host, availability) => {
      loads = currentLoads;

      expect((await capacity.look())(aRun({ config: host === undefined ? {} : { worker_host: host } }))).toBe(
        availability,
      );
    },
  );

  test.each<[Readonly<Record<string, number>>, string | undefined, Availability]>([
    [{ "": 1 }, undefined, "free"],
    [{ "": 120 }, undefined, "busy"],
    [{ a: 120 }, undefined, "busy"],
    [{ a: 120 }, "b", "free"],
    [{ "": 120 }, "b", "busy"],
    [{ elsewhere: 120 }, undefined, "free"],
  ])(
    "while %j runs wait, workers with free slots for the host %s are %s",
    async (counts, host, availability) => {
      loads = ["a", "b"].map((name) => ({ host: name, slots: 2, taken: 1 }));
      waiting = new Map(Object.entries(counts));

      expect((await capacity.look())(aRun({ config: host === undefined ? {} : { worker_host: host } }))).toBe(
        availability,
      );
    },
  );

  test.each<[readonly HostLoad[], Availability]>([
    [[{ slots: 2, taken: 0 }], "limited"],
    [[{ slots: 2, taken: 2 }], "limited"],
    [[], "absent"],
  ])(
    "of workers with the load %j, those for a team at its quota are %s",
    async (currentLoads, availability) => {
      loads = currentLoads;
      const run = aRun();
      teamsAtQuota = [run.teamId];

      expect((await capacity.look())(run)).toBe(availability);
      expect((await capacity.look())(aRun({ teamId: "other" as TeamId }))).not.toBe("limited");
    },
  );

  test("the capacity is read at most once per second", async () => {
    await Promise.all([capacity.look(), capacity.look()]);
    await clock.advance(999);
    await capacity.look();
    expect(reads).toBe(1);
    await clock.advance(1);
    await capacity.look();

    expect(reads).toBe(2);
  });

  test("a failure to read the capacity fails no request", async () => {
    loads = new Error("away");

    expect((await capacity.look())(aRun())).toBeUndefined();
  });
});

test("workers of one name are listed as one, from the oldest start to the newest heartbeat", () => {
  const at = (second: number) => new Date(second * 1_000);
  const live = (id: string, host: string | undefined, started: number, seen: number): LiveWorker => ({
    ...{ id, slots: 1, sandbox: { name: "local", isolated: false } },
    ...{ startedAt: at(started), lastSeenAt: at(seen), ...(host === undefined ? {} : { host }) },
  });

  expect(
    hostsOf([live("1", "b", 5, 9), live("2", "a", 3, 4), live("3", "b", 1, 8), live("4", undefined, 0, 0)]),
  ).toEqual([
    { name: "a", connectionCount: 1, crowdedCount: 0, connectedAt: at(3), lastSeenAt: at(4) },
    { name: "b", connectionCount: 2, crowdedCount: 0, connectedAt: at(1), lastSeenAt: at(9) },
  ]);
});

test("files of deleted runs are removed once more if another run is deleted meanwhile", async () => {
  const harness = new CoreHarness();
  const { clock, queue, storage } = harness;
  const removals: PromiseWithResolvers<number>[] = [];
  const prune = () => {
    const removal = Promise.withResolvers<number>();
    removals.push(removal);
    return removal.promise;
  };
  const deps = { storage, queue, clock, eventBodyMs: 1, log: SILENT_LOG, runWorker: harness.worker() };
  const adapters = new Map();
  const maintenance = new Maintenance({
    ...{
      ...deps,
      adapters,
      blobs: createInMemoryBlobStore(clock),
      deletedRuns: { prune },
      checkpoints: { prune: async () => 0 },
      joins: { prune: async () => 0 },
      history: { prune: async () => 0 },
    },
  });

  const done = maintenance.removeDeletedRuns();
  await Promise.all([maintenance.removeDeletedRuns(), maintenance.removeDeletedRuns()]);
  const concurrent = removals.length;
  removals[0]?.resolve(0);
  await waitFor(() => removals.length === 2, { what: "the second removal" });
  removals[1]?.resolve(0);
  await done;

  expect([concurrent, removals.length]).toEqual([1, 2]);
});
