import { describe, expect, test } from "vitest";
import { GIBIBYTE } from "../../../../src/core/basics/byte-units.ts";
import type { LiveWorker } from "../../../../src/core/model/workers/worker.ts";
import type { CatalogueEntry } from "../../../../src/core/ports/agent-catalogue.ts";
import { type Check, ok, statusOf } from "../../../../src/core/ports/check.ts";
import {
  adaptersCheck,
  agentsCheck,
  publicUrlCheck,
  queueCheck,
  sandboxCheck,
  secretKeyCheck,
  workerDisksCheck,
  workersCheck,
} from "../../../../src/core/upkeep/checks.ts";
import { Doctor } from "../../../../src/core/upkeep/doctor.ts";
import { storedBytesCheck } from "../../../../src/core/upkeep/stored-bytes.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { ManualClock, quiet } from "../../../support/manual-clock.ts";

function workers(...isolated: readonly boolean[]) {
  const times = { startedAt: new Date(0), lastSeenAt: new Date(0) };
  const live = isolated.map(
    (each, index): LiveWorker => ({
      ...{ id: String(index), slots: 4, ...times },
      sandbox: { name: each ? "bubblewrap" : "local", isolated: each },
    }),
  );
  return { workers: { listLive: async () => live } };
}

function restrictedWorker() {
  const times = { startedAt: new Date(0), lastSeenAt: new Date(0) };
  const worker: LiveWorker = {
    id: "1",
    slots: 4,
    ...times,
    sandbox: { name: "restricted", isolated: false },
  };
  return { workers: { listLive: async () => [worker] } };
}

function catalogue(defaultName: string, ...missing: readonly string[]) {
  const entries = ["one", "two"].map(
    (name): CatalogueEntry => ({
      ...{ name, displayName: name, description: "", models: [] },
      ...{ installed: false, usable: !missing.includes(name) },
      needs: missing.includes(name) ? ["Its key is missing."] : ["It is yet to be installed."],
    }),
  );
  return { defaultName, list: async () => entries };
}

function disks(...taking: readonly boolean[]) {
  const used = { workspaces: GIBIBYTE, environments: 0, mirrors: 0, agents: 0 };
  return {
    workers: {
      listLive: async () =>
        taking.map((takesRuns, index) => ({
          ...{ id: `w${index}`, slots: 4, sandbox: { name: "local", isolated: false } },
          ...{ startedAt: new Date(), lastSeenAt: new Date() },
          diskUse: { freeBytes: 2 * GIBIBYTE, takesRuns, used, orphans: 3 },
        })),
    },
  };
}

const nothingStored = {
  ...{ checkpoints: 0, checkpoints_of_ended_runs: 0 },
  ...{ inputs: 0, artifacts: 0, changes: 0, events: 0 },
};
const [HERE, THERE] = [() => "http://127.0.0.1:8787", () => "https://errand.example.com"];

test.each<[string, Check, string, RegExp]>([
  ["no job", queueCheck(async () => undefined), "ok", /No job/],
  ["a job that has just come", queueCheck(async () => 3), "ok", /No job/],
  ["a job that waits", queueCheck(async () => 61.2), "warn", /waited for 61 s/],
  ["a job that waits for long", queueCheck(async () => 3_600), "fail", /3600 s/],
  ["no worker", workersCheck(workers()), "fail", /No worker/],
  ["workers", workersCheck(workers(true, false)), "ok", /^2 with room for 8/],
  [
    "disks with space",
    workerDisksCheck(disks(true, true)),
    "ok",
    /2\.0 GiB free; workspaces 1\.0 GiB, environments .*; ended 3 containers and processes/,
  ],
  ["a full disk", workerDisksCheck(disks(true, false)), "warn", /^1 of 2 .* take no run/],
  ["only full disks", workerDisksCheck(disks(false)), "fail", /^1 of 1/],
  ["disks of an earlier version", workerDisksCheck(workers(true)), "ok", /not reported/],
  [
    "stored files",
    storedBytesCheck({
      measured: async () => ({ ...nothingStored, checkpoints_of_ended_runs: 3 * 2 ** 20 }),
    }),
    "ok",
    /checkpoints 0\.0 MiB, checkpoints of ended runs 3\.0 MiB, inputs/,
  ],
  ["no sandbox", sandboxCheck(workers()), "ok", /no worker/],
  ["sandboxes", sandboxCheck(workers(true, true)), "ok", /bubblewrap\.$/],
  ["an open sandbox", sandboxCheck(workers(true, false)), "warn", /1 of 2/],
  ["a worker without a sandbox", sandboxCheck(restrictedWorker()), "warn", /1 of 1 .*only the demo agent/],
  ["all agents", agentsCheck(catalogue("one")), "ok", /one, two/],
  ["an agent that lacks something", agentsCheck(catalogue("one", "two")), "ok", /^Ready: one\. Default: one/],
  ["a default agent that does", agentsCheck(catalogue("one", "one")), "fail", /one, cannot do runs. Its key/],
  ["an address for all", publicUrlCheck(THERE, ["chat"]), "ok", /example/],
  ["one of this machine alone", publicUrlCheck(HERE, []), "ok", /this machine/],
  ["one of this machine that is posted", publicUrlCheck(HERE, ["chat"]), "warn", /only this machine/],
  ["IPv6's own", publicUrlCheck(() => "http://[::1]:80", ["chat"]), "warn", /only this machine/],
  ["a key that was given", secretKeyCheck(true), "ok", /ERRAND_SECRET_KEY/],
  ["a key that was made", secretKeyCheck(false), "ok", /back it up/],
  ["a rotation that is done", secretKeyCheck(true, async () => 0), "ok", /OLD_SECRET_KEYS can be removed/],
  ["a rotation in progress", secretKeyCheck(true, async () => 3), "warn", /^3 rows/],
])("the doctor reports: %s", async (_what, check, status, message) => {
  const finding = await check.run();

  expect(finding).toMatchObject({ status, message: expect.stringMatching(message) });
  expect(finding.remedy === undefined).toBe(status === "ok");
});

test("the check of adapters says how many installations of each adapter are known", async () => {
  const { storage } = new CoreHarness();
  await storage.installations.ensure("chat", "A");
  await storage.installations.ensure("chat", "B");

  const { message } = await adaptersCheck(["chat", "forge"], storage).run();

  expect(message).toBe("Switched on: chat (installations: 1 on, 1 off), forge (no installation yet).");
  expect((await adaptersCheck([], storage).run()).message).toMatch(/None/);
});

describe("the doctor", () => {
  test("the doctor waits for each check for a limited time and leaves no timer", async () => {
    const clock = new ManualClock();
    const silent = { name: "silent", run: () => new Promise<never>(() => undefined) };
    const quick = { name: "quick", run: async () => ok("Fine.") };
    const report = new Doctor({ checks: [silent, quick], clock, log: SILENT_LOG }).examine();
    await quiet();

    await clock.advance(5_000);

    expect((await report).map(({ name, status }) => [name, status])).toEqual([
      ["silent", "fail"],
      ["quick", "ok"],
    ]);
    expect(clock.pending).toBe(0);
  });

  test("the doctor without checks finds no problem", () => {
    expect(statusOf([])).toBe("ok");
  });
});
