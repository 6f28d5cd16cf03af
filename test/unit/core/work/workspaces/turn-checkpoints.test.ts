import { beforeEach, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { StoredWithinTurn } from "../../../../../src/core/model/workspaces/workspace.ts";
import { NoticeWriter } from "../../../../../src/core/runs/notice-writer.ts";
import { RunEdit } from "../../../../../src/core/runs/run-edit.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";

const PERIOD_MS = LIMITS.checkpointMs;
/** The agent of these tests is silent. */
const PATIENT = { ...LIMITS, inactivityMs: LIMITS.turnMs, pullRequests: "draft" } as const;
const NEVER = new AbortController().signal;

let harness: CoreHarness;
let run: Run;
let endTurn: () => void;

beforeEach(async () => {
  harness = new CoreHarness();
  const { promise, resolve } = Promise.withResolvers<void>();
  endTurn = resolve;
  harness.agents.scripts.push(() => promise.then(() => ({ stopReason: "end_turn" }) as const));
  run = await harness.create();
});

function stores(stored: Omit<StoredWithinTurn, "leftOut">, leftOut: StoredWithinTurn["leftOut"] = []): void {
  harness.workspaces.withinTurn.push(() => ({ ...stored, leftOut }));
}

test("a long turn stores a checkpoint and then what changed, and each replaces the one before", async () => {
  stores({ checkpoint: "first" });
  stores({ checkpoint: "first", delta: "delta-1" });
  stores({ checkpoint: "first", delta: "delta-2" });
  const working = harness.worker({ settings: PATIENT }).work(run.id, NEVER);
  await quiet();

  await harness.clock.advance(PERIOD_MS);
  expect(await harness.run(run.id)).toMatchObject({ checkpoint: "first", checkpointAt: harness.clock.now() });
  await harness.clock.advance(2 * PERIOD_MS);
  expect(await harness.run(run.id)).toMatchObject({ checkpoint: "first", checkpointDelta: "delta-2" });
  expect(harness.workspaces.forgotten).toEqual(["delta-1"]);

  endTurn();
  await working;

  expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", checkpoint: "checkpoint-1" });
  expect(await harness.run(run.id)).not.toHaveProperty("checkpointDelta");
  expect(harness.workspaces.forgotten).toEqual(["delta-1", "first", "delta-2"]);
});

test("a worker that stops stores what changed since the checkpoint, and the next one gets it", async () => {
  stores({ checkpoint: "first" });
  stores({ checkpoint: "first", delta: "delta-1" });
  const stop = new AbortController();
  const working = harness.worker({ settings: PATIENT }).work(run.id, stop.signal);
  await quiet();
  await harness.clock.advance(PERIOD_MS);

  stop.abort();
  endTurn();
  await working;

  const stopped = await harness.run(run.id);
  expect(stopped).toMatchObject({ state: "QUEUED", checkpoint: "first", checkpointDelta: "delta-1" });
  expect([harness.workspaces.checkpoints, harness.workspaces.works]).toEqual([[], []]);
  await harness.worker().work(run.id, NEVER);
  expect(harness.workspaces.preparations.at(-1)?.stored).toEqual({ checkpoint: "first", delta: "delta-1" });
});

test("nothing is written while nothing changes, and nothing is stored before and after the turn", async () => {
  const working = harness.worker({ settings: PATIENT }).work(run.id, NEVER);
  await quiet();
  await harness.clock.advance(PERIOD_MS - 1);
  const { lastWrite } = await harness.run(run.id);
  await harness.clock.advance(1);
  expect((await harness.run(run.id)).lastWrite).toBe(lastWrite);

  endTurn();
  await working;
  await harness.clock.advance(2 * PERIOD_MS);

  expect(harness.journal.filter((entry) => entry === "stored within the turn")).toHaveLength(1);
});

test("a turn that ends does not wait for files that are being stored, and these do not replace newer ones", async () => {
  harness.workspaces.gatesWithinTurn.push(
    (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  stores({ checkpoint: "late" });
  const working = harness.worker({ settings: PATIENT }).work(run.id, NEVER);
  await quiet();
  await harness.clock.advance(PERIOD_MS);

  endTurn();
  await working;

  expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", checkpoint: "checkpoint-1" });
  expect(harness.logged.map(({ message }) => message)).not.toContain("workspace.not_stored_within_turn");
});

test("files that cannot be stored are logged once in a turn, and the turn continues", async () => {
  const tooLarge = new AppError("operation_not_supported", "Too large.");
  harness.workspaces.faultsWithinTurn.push(tooLarge, tooLarge);
  const working = harness.worker({ settings: PATIENT }).work(run.id, NEVER);
  await quiet();
  await harness.clock.advance(3 * PERIOD_MS);

  endTurn();
  await working;

  const logged = harness.logged.filter(({ message }) => message === "workspace.not_stored_within_turn");
  expect(logged).toHaveLength(1);
  expect((await harness.run(run.id)).state).toBe("SUCCEEDED");
});

test("an attempt that has lost its lease names no files", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.workspaces.gatesWithinTurn.push(() => promise);
  stores({ checkpoint: "of the lost attempt" });
  void harness.worker().work(run.id, NEVER);
  await quiet();
  await harness.clock.advance(PERIOD_MS);
  await harness.storage.runs.change(run.id, (aggregate) => {
    const edit = new RunEdit(aggregate, {
      now: harness.clock.now(),
      writer: new NoticeWriter(() => "", new Map()),
    });
    edit.dropLease();
    return edit.done();
  });

  resolve();
  await quiet();

  expect(await harness.run(run.id)).not.toHaveProperty("checkpoint");
});

test("a run whose worker is lost within a turn continues with the files of minutes ago, and is told their time", async () => {
  stores({ checkpoint: "first" }, [{ path: "workspace/locked", reason: "it cannot be read" }]);
  stores({ checkpoint: "first", delta: "delta-1" });
  const lost = new CoreHarness();
  void harness.worker({ pubsub: lost.pubsub, storage: frozen() }).work(run.id, NEVER);
  await quiet();
  await harness.clock.advance(2 * PERIOD_MS);
  const { checkpointAt } = await harness.run(run.id);
  isFrozen = true;
  await harness.clock.advance(2 * LEASE_MS);
  harness.workspaces.isOwnCopy = false;

  await harness.lostRuns().recover(run.id);
  await harness.worker({ disk: "disk-2", worker: "worker-2" }).work(run.id, NEVER);

  const time = checkpointAt?.toISOString().slice(0, 19).replace("T", " ");
  expect(harness.workspaces.preparations.at(-1)).toMatchObject({
    stored: { checkpoint: "first", delta: "delta-1" },
    isNewerElsewhere: true,
  });
  expect(harness.agents.prompts.at(-1)).toContain(
    `The worker was lost during turn 1. What it changed after ${time} UTC was not stored.\nThe run continues with the files as they were stored at ${time} UTC.`,
  );
});

let isFrozen = false;

/** The storage of a worker whose renewals of its lease get lost once it is frozen. */
function frozen(): CoreHarness["storage"] {
  isFrozen = false;
  const { leases } = harness.storage;
  const renew: typeof leases.renew = (...given) =>
    isFrozen ? new Promise(() => undefined) : leases.renew(...given);
  return {
    ...harness.storage,
    leases: { ...leases, renew, listExpiring: leases.listExpiring },
  };
}

test("an older copy on a worker that returns is not taken for the newest", async () => {
  endTurn();
  await harness.worker({ disk: "disk-1" }).work(run.id, NEVER);
  const continueOn = async (disk: string) => {
    await harness.followUp(run.id, "And this");
    await harness.clock.advance(LEASE_MS);
    await harness.worker({ disk }).work(run.id, NEVER);
    return harness.workspaces.preparations.at(-1)?.isNewerElsewhere;
  };

  expect(await continueOn("disk-1")).toBe(false);
  expect(await continueOn("disk-2")).toBe(true);
  expect(await continueOn("disk-1")).toBe(true);
  expect(await continueOn("disk-1")).toBe(false);
});

test("a worker that could not prepare the workspace leaves the newest files where they are", async () => {
  endTurn();
  await harness.worker({ disk: "disk-1" }).work(run.id, NEVER);
  await harness.followUp(run.id, "And this");
  await harness.clock.advance(LEASE_MS);
  harness.workspaces.prepareFaults.push(new AppError("environment_setup_failed", "No disk."));

  await harness.worker({ disk: "disk-2" }).work(run.id, NEVER);

  expect(await harness.run(run.id)).toMatchObject({ state: "FAILED", disk: "disk-1" });
});

/** The end of an attempt whose whole workspace is being stored. Aborting the signal ends it. */
async function storingTheWhole(): Promise<{
  working: Promise<void>;
  stop: AbortController;
  open: () => void;
}> {
  stores({ checkpoint: "first" });
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.workspaces.checkpointGates.push(
    (signal) =>
      new Promise((opened, reject) => {
        void promise.then(opened);
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  );
  const stop = new AbortController();
  const working = harness.worker().work(run.id, stop.signal);
  await quiet();
  endTurn();
  await quiet();
  return { working, stop, open: resolve };
}

test("a turn ends with what it changed, and the whole workspace is stored with the end of the attempt", async () => {
  const { open, working } = await storingTheWhole();
  const ended = await harness.run(run.id);

  open();
  await working;

  expect(ended).toMatchObject({ state: "SUCCEEDED", checkpoint: "first" });
  expect(ended.lease).toBeDefined();
  expect(ended).not.toHaveProperty("workCheckpoint");
  const stored = await harness.run(run.id);
  expect(stored).toMatchObject({ checkpoint: "checkpoint-1", workCheckpoint: "work-1" });
  expect(stored.lease).toBeUndefined();
  // A run that continues the conversation may be reading it.
  expect(harness.workspaces.forgotten).toEqual([]);
  expect(harness.logged.map(({ message }) => message)).not.toContain("workspace.whole_not_stored");
});

test("a run that ends with a failure does not wait for the whole workspace either", async () => {
  harness.agents.scripts[0] = () => Promise.reject(new AppError("internal_error", "It broke."));
  const { open, working } = await storingTheWhole();
  const { lease, state } = await harness.run(run.id);

  open();
  await working;

  expect([state, lease === undefined]).toEqual(["ERROR", false]);
  expect(await harness.run(run.id)).toMatchObject({ state: "ERROR", checkpoint: "checkpoint-1" });
});

test("a follow-up does not wait for the whole workspace, and the next attempt gets what the turn changed", async () => {
  const { working } = await storingTheWhole();

  await harness.followUp(run.id, "And this");
  await working;

  expect(await harness.run(run.id)).toMatchObject({ state: "QUEUED", checkpoint: "first" });
  expect([harness.workspaces.checkpoints, harness.workspaces.works]).toEqual([[], []]);
  await harness.worker().work(run.id, NEVER);
  expect(harness.workspaces.preparations.at(-1)?.stored).toEqual({ checkpoint: "first" });
  expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", checkpoint: "checkpoint-1" });
});

test("a worker that stops does not wait for the whole workspace of a run that has ended", async () => {
  const { stop, working } = await storingTheWhole();

  stop.abort();
  await working;

  const stopped = await harness.run(run.id);
  expect(stopped).toMatchObject({ state: "SUCCEEDED", checkpoint: "first" });
  expect(stopped.lease).toBeUndefined();
});

test("a whole workspace that cannot be stored is logged, and what the turn changed stays stored", async () => {
  stores({ checkpoint: "first" });
  harness.workspaces.faults.push(new AppError("operation_not_supported", "Too large."));
  endTurn();

  await harness.worker().work(run.id, NEVER);

  expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", checkpoint: "first" });
  expect(await harness.run(run.id)).not.toHaveProperty("checkpointGaps");
  expect(harness.logged.map(({ message }) => message)).toContain("workspace.whole_not_stored");
});
