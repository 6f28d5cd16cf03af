import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type Script, untilCancelled } from "../../../../support/scripted-agents.ts";

const IDLE_MS = 10 * 60_000;
const STATUS = { message: "Paused by Ada. Write what to do next." };

let harness: CoreHarness;
beforeEach(() => {
  harness = new CoreHarness();
});

async function aWorkingRun(script: Script = untilCancelled): Promise<RunId> {
  harness.agents.scripts.push(script);
  await harness.start();
  const { id } = await harness.create();
  await quiet();
  return id;
}

async function interrupt(id: RunId): Promise<Run> {
  const run = await harness.runs.interrupt(id, await harness.person());
  await quiet();
  return run;
}

const bodiesOf = async (id: RunId) => (await harness.events(id)).map(({ body }) => body);

describe("interrupting the turn of a run", () => {
  test("the turn ends and the run waits for instructions, with its agent and without a slot", async () => {
    const id = await aWorkingRun();

    await interrupt(id);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: STATUS, turnOpen: false, lease: {} });
    const bodies = await bodiesOf(id);
    expect(bodies.findLast(({ kind }) => kind === "turn.ended")).toMatchObject({ stopReason: "interrupted" });
    expect(bodies.at(-1)).toMatchObject({ kind: "run.state", to: "BLOCKED", status: STATUS });
    const other = await harness.create({ prompt: "another" });
    await quiet();
    expect((await harness.run(other.id)).state).toBe("SUCCEEDED");
  });

  test("a follow-up continues at once with the same agent", async () => {
    const id = await aWorkingRun();
    await interrupt(id);

    await harness.followUp(id, "do this instead");

    expect(harness.agents.prompts).toEqual(["Fix it", "do this instead"]);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 1 });
    expect(run).not.toHaveProperty("pause");
  });

  test("after the idle time the agent is stopped, and a follow-up resumes its session", async () => {
    const id = await aWorkingRun();
    await interrupt(id);

    await harness.clock.advance(IDLE_MS + 10_000);
    const waiting = await harness.run(id);
    await harness.clock.advance(3 * LEASE_MS);
    await harness.maintenance().round();
    await harness.followUp(id, "do this instead");

    expect(waiting).toMatchObject({ state: "BLOCKED", statusMessage: STATUS, lostAttempts: 0 });
    expect(waiting).not.toHaveProperty("lease");
    expect(harness.agents.prompts.at(-1)).toMatch(/do this instead$/);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 2 });
  });

  test("an agent that does not end its turn is stopped after ten seconds", async () => {
    const id = await aWorkingRun(() => new Promise(() => undefined));

    await interrupt(id);
    await harness.clock.advance(9_000);
    const before = await harness.run(id);
    await harness.clock.advance(2_000);
    await quiet();

    expect(before.state).toBe("INPROGRESS");
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: STATUS, turnOpen: false });
    expect(run).not.toHaveProperty("lease");
    expect(await bodiesOf(id)).toContainEqual({ kind: "turn.ended", stopReason: "interrupted", answer: "" });
  });

  test("a follow-up that waits starts the next turn, and the run is not paused", async () => {
    const id = await aWorkingRun();
    await harness.followUp(id, "later");

    await interrupt(id);

    expect(harness.agents.prompts).toEqual(["Fix it", "later"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("an interruption that a lost worker never saw pauses the run, and starts no turn again", async () => {
    const { id } = await harness.create();
    // This worker receives no notifications and its time stands still.
    const { clock, pubsub } = new CoreHarness();
    harness.agents.scripts.push(() => new Promise(() => undefined));
    void harness.worker({ clock, pubsub }).work(id, new AbortController().signal);
    await quiet();
    await interrupt(id);

    await harness.clock.advance(2 * LEASE_MS);
    await harness.lostRuns().recover(id);

    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: STATUS, turnOpen: false });
    expect(run).not.toHaveProperty("lease");
  });

  test("interrupting twice changes nothing more", async () => {
    const id = await aWorkingRun();
    await interrupt(id);
    const before = await bodiesOf(id);

    await interrupt(id);

    expect(await bodiesOf(id)).toEqual(before);
  });

  test("cancelling a paused run ends it", async () => {
    const id = await aWorkingRun();
    await interrupt(id);

    await harness.cancel(id);
    await quiet();

    const run = await harness.run(id);
    expect(run.state).toBe("CANCELLED");
    expect(run).not.toHaveProperty("pause");
    expect(run).not.toHaveProperty("lease");
    expect(harness.clock.pending).toBe(0);
  });

  test("an open question is withdrawn, and the agent gets no answer", async () => {
    const answers: (string | undefined)[] = [];
    const id = await aWorkingRun(asking(answers));

    await interrupt(id);

    expect(answers).toEqual([undefined]);
    const run = await harness.run(id);
    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: STATUS });
    expect(run).not.toHaveProperty("permission");
  });

  test("a question whose agent was stopped is withdrawn, too", async () => {
    const id = await aWorkingRun(asking([]));
    await harness.clock.advance(IDLE_MS + 10_000);

    await interrupt(id);
    const run = await harness.run(id);
    await harness.followUp(id, "never mind");

    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: STATUS });
    expect(run).not.toHaveProperty("permission");
    expect(harness.agents.prompts.at(-1)).toMatch(/never mind$/);
  });

  test("a run without a turn cannot be interrupted", async () => {
    const { id } = await harness.create();
    await expect(interrupt(id)).rejects.toMatchObject({ code: "conflict", retryable: false });

    await harness.start();
    await quiet();
    await expect(interrupt(id)).rejects.toMatchObject({ code: "conflict", retryable: false });
  });
});

function asking(answers: (string | undefined)[]): Script {
  return async ({ observer }) => {
    answers.push(await observer.permission({ permissionId: "p1", title: "May I?", options: [OPTION] }));
    return END_TURN;
  };
}

const OPTION = { optionId: "allow", name: "Allow", kind: "allow_once" } as const;
