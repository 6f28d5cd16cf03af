import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { RunEventBody } from "../../../src/core/model/runs/events.ts";
import { Database } from "../../../src/storage/database.ts";
import { whileStored } from "../../../src/storage/stored-workspaces.ts";
import { LocalDisk, type LocalDiskOptions } from "../../../src/workspace/local-disk.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

let harness: ApiHarness;
let database: Database;
let dataDir: string;
beforeAll(async () => {
  harness = await startHarness();
  database = new Database({ url: harness.databaseUrl, maxConnections: 2, log: SILENT_LOG });
});
afterAll(async () => {
  await database.close();
  await harness.close();
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "errand-disk-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

const HOUR_MS = 3_600_000;
const STARTED: RunEventBody = { kind: "turn.started", followUpIds: [], again: false };
const STORED: RunEventBody = { kind: "workspace.stored", checkpoint: "c" };
const NOT_STORED: RunEventBody = { kind: "workspace.not_stored", reason: "too large" };

test("copies of stored workspaces are deleted after a time, and others are kept", async () => {
  const [stored, unused, recent, notStored, begun] = [
    await aCopy([STARTED, STORED], 25),
    await aCopy([], 25),
    await aCopy([STARTED, STORED], 23),
    await aCopy([STARTED, STORED, STARTED, NOT_STORED], 25),
    await aCopy([STARTED, STORED, STARTED], 25),
  ];

  expect(await aDisk().prune()).toBe(2);

  expect(new Set(await readdir(join(dataDir, "runs")))).toEqual(new Set([recent, notStored, begun]));
  expect([stored, unused]).toHaveLength(2);
});

test("a copy whose checkpoint lacks some files is deleted 30 days after the end of its run", async () => {
  const [working, ended, old] = [
    await aCopy([STARTED, STORED], 900),
    await aCopy([STARTED, STORED], 900),
    await aCopy([STARTED, STORED], 900),
  ];
  const unstored = await aCopy([STARTED, STORED, STARTED, NOT_STORED], 900);
  await database.rows({
    text: "UPDATE runs SET checkpoint_gaps = 'home/locked (it cannot be read)'",
    values: [],
  });
  for (const [runId, days] of [
    [ended, 29],
    [old, 31],
    [unstored, 31],
  ] as const) {
    await database.rows({
      text: "UPDATE runs SET ended_at = now() - $1::int * interval '1 day' WHERE id = $2::uuid",
      values: [days, runId],
    });
  }

  expect(await aDisk().prune()).toBe(1);

  expect(new Set(await readdir(join(dataDir, "runs")))).toEqual(new Set([working, ended, unstored]));
});

test("a copy of a run that a worker has is kept", async () => {
  const runId = await aCopy([STARTED, STORED], 25);
  const token = crypto.randomUUID();
  await database.rows({
    text: "UPDATE runs SET lease_token = $1::uuid, lease_expires_at = now() + interval '1 minute' WHERE id = $2::uuid",
    values: [token, runId],
  });

  expect(await aDisk().prune()).toBe(0);

  expect(await readdir(join(dataDir, "runs"))).toEqual([runId]);
});

test("the least recently used copies are deleted until the others have less than the limit", async () => {
  const oldest = await aCopy([STARTED, STORED], 3, 2 ** 20);
  const unstored = await aCopy([STARTED], 2, 2 ** 20);
  const newest = await aCopy([STARTED, STORED], 1, 2 ** 20);

  expect(await aDisk({ copiesBytes: 2.5 * 2 ** 20 }).prune()).toBe(1);

  expect(new Set(await readdir(join(dataDir, "runs")))).toEqual(new Set([unstored, newest]));
  expect(oldest).not.toBe(newest);
});

test("without free space all copies of stored workspaces are deleted, and no run is taken", async () => {
  const unstored = await aCopy([STARTED], 0);
  await aCopy([STARTED, STORED], 0);
  const disk = aDisk({ minFreeBytes: 2 ** 60 });

  expect((await disk.look()).takesRuns).toBe(false);
  await disk.prune();

  expect((await disk.look()).takesRuns).toBe(false);
  expect(await readdir(join(dataDir, "runs"))).toEqual([unstored]);
});

test("prepared environments, mirrors and agents that were not used for long are deleted", async () => {
  for (const folder of ["environments", "histories", "agents"]) {
    await aTree(join(dataDir, folder, "unused"), 15 * 24);
    await aTree(join(dataDir, folder, "used"), 1);
  }

  expect(await aDisk().prune()).toBe(3);

  for (const folder of ["environments", "histories", "agents"]) {
    expect(await readdir(join(dataDir, folder))).toEqual(["used"]);
  }
});

test("the least recently used mirrors are deleted until the others have less than the limit", async () => {
  for (const [name, hours] of [
    ["a", 0],
    ["b", 3],
    ["c", 2],
    ["d", 0],
  ] as const) {
    await aTree(join(dataDir, "histories", name), hours, 2 ** 20);
  }

  expect(await aDisk({ copiesBytes: 3.5 * 2 ** 20 }).prune()).toBe(1);

  expect((await readdir(join(dataDir, "histories"))).sort()).toEqual(["a", "c", "d"]);
  expect(await aDisk({ copiesBytes: 1 }).prune()).toBe(1);
  expect((await readdir(join(dataDir, "histories"))).sort()).toEqual(["a", "d"]);
});

test("without free space prepared environments and mirrors are deleted after an hour, and agents are kept", async () => {
  for (const folder of ["environments", "histories", "agents"]) {
    await aTree(join(dataDir, folder, "older"), 2);
    await aTree(join(dataDir, folder, "in-use"), 0);
  }

  expect(await aDisk({ minFreeBytes: 2 ** 60 }).prune()).toBe(2);

  const names = async (folder: string) => (await readdir(join(dataDir, folder))).sort();
  expect(await names("environments")).toEqual(["in-use"]);
  expect(await names("histories")).toEqual(["in-use"]);
  expect(await names("agents")).toEqual(["in-use", "older"]);
});

test("the disk counts what killed workers left running", async () => {
  const disk = aDisk({}, 2);

  expect((await disk.look()).orphans).toBe(0);
  expect(await disk.sweep()).toBe(2);
  await disk.cleanUp();

  expect((await disk.look()).orphans).toBe(4);
});

test("the disk reports what it stores", async () => {
  await aCopy([STARTED, STORED], 0, 2 ** 20);
  await aTree(join(dataDir, "agents", "used"), 1, 2 ** 20);
  const disk = aDisk();

  await disk.prune();

  const { freeBytes, takesRuns, used } = await disk.look();
  expect(freeBytes).toBeGreaterThan(0);
  expect(takesRuns).toBe(true);
  expect(used.workspaces).toBeGreaterThanOrEqual(2 ** 20);
  expect(used.agents).toBeGreaterThanOrEqual(2 ** 20);
});

function aDisk(limits: Partial<LocalDiskOptions["limits"]> = {}, orphans = 0): LocalDisk {
  const defaults = {
    copyMs: 24 * HOUR_MS,
    copiesBytes: 2 ** 40,
    cacheMs: 14 * 24 * HOUR_MS,
    minFreeBytes: 0,
  };
  return new LocalDisk({
    dataDir,
    limits: { ...defaults, ...limits },
    whileStored: (runId, remove) => whileStored(database, { runId, gapsMs: 30 * 24 * HOUR_MS }, remove),
    sweep: async () => orphans,
    log: SILENT_LOG,
  });
}

/** A run with these events, whose copy was used some hours ago. */
async function aCopy(events: readonly RunEventBody[], hoursAgo: number, bytes = 1): Promise<RunId> {
  const runId = (await createRun(harness)) as RunId;
  await harness.edit(runId, (edit) => {
    for (const event of events) {
      edit.record(event);
    }
  });
  await aTree(join(dataDir, "runs", runId), hoursAgo, bytes);
  return runId;
}

async function aTree(path: string, hoursAgo: number, bytes = 1): Promise<void> {
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "file"), Buffer.alloc(bytes, 7));
  const usedAt = new Date(Date.now() - hoursAgo * HOUR_MS);
  await utimes(path, usedAt, usedAt);
}
