import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { RunConfig } from "../../../../../src/core/model/runs/run.ts";
import { SecretService } from "../../../../../src/core/team/records/secret-service.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import type { Script } from "../../../../support/scripted-agents.ts";

const MINUTES = 30;
const MS = MINUTES * 60_000;
const ID = "debugged0000000000000a";
const COMMAND_FAILED = "Setup command 1 of 1 failed with exit code 3.\nno\n\nsuch file";

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

const refusedKey: Script = () =>
  Promise.reject(new AppError("external_authentication_required", "The model refuses the key."));

async function start(
  scripts: readonly Script[],
  { isKept = true, config = {} as RunConfig } = {},
): Promise<RunId> {
  const environment = anEnvironment(ID);
  const settings = isKept ? { debugMinutes: MINUTES } : {};
  const own = { ...environment.config, setupCommands: ["make ready"], ...settings };
  await harness.storage.environments.add({ ...environment, config: own });
  harness.agents.scripts.push(...scripts);
  await harness.start();
  const { id } = await harness.create({ config: { environment_id: ID, ...config } });
  await quiet();
  return id;
}

const failSetup = () =>
  harness.workspaces.setupErrors.push(new AppError("environment_setup_failed", COMMAND_FAILED));
const statesOf = async (id: RunId) =>
  (await harness.events(id)).flatMap(({ body }) => (body.kind === "run.state" ? [body.to] : []));
const until = () => new Date(harness.clock.now().getTime() + MS);

describe("a run whose turn failed", () => {
  test("its agent stays without a slot until the time is over", async () => {
    const id = await start([refusedKey]);

    const kept = await harness.run(id);
    expect(kept).toMatchObject({ state: "FAILED", lease: {}, debugUntil: until(), turnOpen: false });
    expect(kept).toMatchObject({ checkpoint: "checkpoint-1" });
    expect(harness.agents.open).toBe(1);
    await harness.clock.advance(MS - 10_000);
    expect(harness.agents.open).toBe(1);
    await harness.clock.advance(20_000);

    expect(harness.agents.open).toBe(0);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "FAILED", statusMessage: kept.statusMessage, lostAttempts: 0 });
    expect(run).not.toHaveProperty("lease");
    expect(run).not.toHaveProperty("debugUntil");
    expect(await statesOf(id)).toEqual(["PENDING", "CLAIMED", "INPROGRESS", "FAILED"]);
  });

  test("a follow-up continues with the same agent in the same attempt", async () => {
    const id = await start([refusedKey]);

    await harness.followUp(id, "Which key?");

    expect(harness.agents.starts).toHaveLength(1);
    expect(harness.agents.prompts).toEqual(["Fix it", "Which key?"]);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", attempt: 1, turn: 2, lostAttempts: 0 });
    expect(run).not.toHaveProperty("lease");
    expect(run).not.toHaveProperty("debugUntil");
    expect((await statesOf(id)).slice(-5)).toEqual([
      "QUEUED",
      "PENDING",
      "CLAIMED",
      "INPROGRESS",
      "SUCCEEDED",
    ]);
  });

  test("if the next turn fails too, the time begins again", async () => {
    const id = await start([refusedKey, refusedKey]);
    await harness.clock.advance(MS / 2);

    await harness.followUp(id, "Which key?");

    expect(await harness.run(id)).toMatchObject({ state: "FAILED", lease: {}, debugUntil: until() });
    await harness.followUp(id, "And now?");
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 1, turn: 3 });
  });

  test("a turn that ends with a failure keeps its agent as well", async () => {
    const id = await start([async () => ({ stopReason: "max_turn_requests" })]);

    expect(await harness.run(id)).toMatchObject({ state: "FAILED", debugUntil: until() });
    await harness.followUp(id, "Go on");
    expect(harness.agents.starts).toHaveLength(1);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 1 });
  });

  test.each<[string, Script, string]>([
    ["whose session can only fail again", async () => ({ stopReason: "refusal" }), "FAILED"],
    [
      "that ended with an error of the platform",
      () => Promise.reject(new AppError("resource_unavailable", "The model is overloaded.")),
      "ERROR",
    ],
    ["that succeeded", async () => ({ stopReason: "end_turn" }), "SUCCEEDED"],
  ])("a run %s ends at once", async (_what, script, state) => {
    const id = await start([script]);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state });
    expect(run).not.toHaveProperty("lease");
    expect(run).not.toHaveProperty("debugUntil");
    expect(harness.agents.open).toBe(0);
  });

  test("without the setting it ends at once, and a follow-up has another agent", async () => {
    const id = await start([refusedKey], { isKept: false });

    expect(await harness.run(id)).not.toHaveProperty("lease");
    await harness.followUp(id, "Which key?");
    expect(harness.agents.starts).toHaveLength(2);
  });

  test("a run that reached a limit ends at once", async () => {
    const id = await start([async () => ({ stopReason: "end_turn" }), refusedKey], {
      config: { budget: { max_turns: 1 } },
    });

    await harness.followUp(id, "More");

    expect(await harness.run(id)).toMatchObject({ state: "FAILED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("follow-ups that came during the turn restart the run at once", async () => {
    const gate = Promise.withResolvers<void>();
    const id = await start([(turn) => gate.promise.then(() => refusedKey(turn))]);
    await harness.followUp(id, "First this");

    gate.resolve();
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
  });
});

describe("the end of the time", () => {
  test("a cancel ends it, and the run stays failed", async () => {
    const id = await start([refusedKey]);

    await harness.cancel(id);
    await harness.clock.advance(LEASE_MS);

    expect(harness.agents.open).toBe(0);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "FAILED" });
    expect(run).not.toHaveProperty("lease");
    await expect(harness.cancel(id)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("a cancel after the follow-up cancels the run", async () => {
    const id = await start([refusedKey, ({ cancelled }) => stopped(cancelled)]);
    await harness.followUp(id, "Which key?");

    await harness.cancel(id);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "CANCELLED" });
    expect(run).not.toHaveProperty("lease");
  });

  test("a worker that stops gives the run up, and a follow-up has another attempt", async () => {
    const id = await start([refusedKey]);

    await harness.stopRuns(0);
    await quiet();

    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).toMatchObject({ state: "FAILED", attempt: 1 });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(await harness.run(id)).not.toHaveProperty("debugUntil");
  });

  test("a lost worker's run is free again, still failed, and a follow-up has another attempt", async () => {
    harness.agents.closeFaults.push(new Error("It lives on."));
    const id = await start([refusedKey]);
    // The attempt can neither close its agent nor write: its lease is left to expire.
    harness.isMemoryShort = true;
    await harness.clock.advance(20_000);
    expect(await harness.run(id)).toMatchObject({ lease: {}, debugUntil: expect.any(Date) });

    await harness.lostRuns().recover(id);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "FAILED" });
    expect(run).not.toHaveProperty("lease");
    expect(run).not.toHaveProperty("debugUntil");
    await harness.followUp(id, "Which key?");
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
  });

  test("it ends early when the memory is needed", async () => {
    const id = await start([refusedKey]);

    harness.isMemoryShort = true;
    await harness.clock.advance(20_000);

    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).not.toHaveProperty("debugUntil");
  });

  test("a follow-up of another member continues with an agent without the creator's personal secrets", async () => {
    const { clock, secretBox: box, storage } = harness;
    const ada = await harness.person();
    await new SecretService({ storage, box, clock }).put(ada, { name: "MINE", isTeamOwned: false }, "value");
    const id = await start([refusedKey]);
    const bob = await harness.person("Bob");

    await harness.runs.followUps.send(id, bob, {
      message: "Which key?",
      authorId: bob.id,
      delivery: "queue",
    });
    await quiet();

    expect(harness.agents.starts.map(({ variables }) => "MINE" in variables)).toEqual([true, false]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
  });
});

describe("a run whose setup failed", () => {
  test("it is failed, its environment too, and its workspace is removed when the time is over", async () => {
    failSetup();
    const id = await start([]);

    const kept = await harness.run(id);
    expect(kept).toMatchObject({ state: "FAILED", lease: {}, debugUntil: until() });
    expect(kept.statusMessage).toMatchObject({
      errorCode: "environment_setup_failed",
      message: COMMAND_FAILED,
    });
    expect(await harness.storage.environments.find(kept.teamId, ID)).toMatchObject({ setupFailed: true });
    expect(harness.agents.starts).toHaveLength(0);
    await harness.clock.advance(MS + 10_000);

    expect(harness.workspaces.removedSetups).toEqual([id]);
    expect(harness.workspaces.usedSetups).toEqual([]);
    expect(await harness.run(id)).not.toHaveProperty("lease");
    await harness.followUp(id, "Again");
    expect(harness.workspaces.preparations).toHaveLength(2);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 2 });
    expect(await harness.run(id)).not.toHaveProperty("warnings");
  });

  test("a follow-up starts an agent in that workspace, which knows what failed", async () => {
    failSetup();
    const id = await start([]);

    await harness.followUp(id, "What is missing?");

    expect(harness.workspaces.preparations).toHaveLength(1);
    expect(harness.workspaces.usedSetups).toEqual([id]);
    expect(harness.workspaces.removedSetups).toEqual([]);
    const [prompt = ""] = harness.agents.prompts;
    const [note, ...others] = prompt.split("\n\n");
    expect(note).toContain("Setup command 1 of 1 failed with exit code 3.\nno\nsuch file");
    expect(note).toContain("Its setup commands are:\nmake ready");
    expect(others).toEqual(["Fix it", "What is missing?"]);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", attempt: 1, turn: 1 });
    expect(run.warnings).toEqual([
      "The run continues in a workspace whose setup failed: Setup command 1 of 1 failed with exit code 3.",
    ]);
  });

  test("without the setting it ends at once", async () => {
    failSetup();
    const id = await start([], { isKept: false });

    expect(await harness.run(id)).toMatchObject({ state: "FAILED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("a test of the environment ends at once", async () => {
    failSetup();
    const environment = anEnvironment(ID);
    const config = { ...environment.config, debugMinutes: MINUTES };
    await harness.storage.environments.add({ ...environment, config });
    await harness.start();

    const { id } = await harness.create({ config: { environment_id: ID }, preparesOnly: true });
    await quiet();

    expect(await harness.run(id)).toMatchObject({ state: "FAILED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });
});

describe("the slots of a worker", () => {
  test("runs that failed take none, and a follow-up waits for the next free one", async () => {
    const id = await start([refusedKey]);
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    for (const { promise } of gates) {
      harness.agents.scripts.push(() => promise.then(() => ({ stopReason: "end_turn" })));
      await harness.create();
    }
    await quiet();
    expect(harness.agents.prompts).toHaveLength(5);

    await harness.followUp(id, "Which key?");

    expect(await harness.run(id)).toMatchObject({ state: "QUEUED", lease: {}, debugUntil: expect.any(Date) });
    gates[0]?.resolve();
    await quiet();
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", attempt: 1 });
    for (const { resolve } of gates) {
      resolve();
    }
    await quiet();
  });

  test("a run that is cancelled while it waits for a slot gives up its agent", async () => {
    const id = await start([refusedKey]);
    const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    for (const { promise } of gates) {
      harness.agents.scripts.push(() => promise.then(() => ({ stopReason: "end_turn" })));
      await harness.create();
    }
    await quiet();
    await harness.followUp(id, "Which key?");

    await harness.cancel(id);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "CANCELLED" });
    expect(run).not.toHaveProperty("lease");
    expect(run).not.toHaveProperty("debugUntil");
    for (const { resolve } of gates) {
      resolve();
    }
    await quiet();
  });
});

function stopped(cancelled: AbortSignal): ReturnType<Script> {
  return new Promise((resolve) => {
    cancelled.addEventListener("abort", () => resolve({ stopReason: "cancelled" }), { once: true });
  });
}
