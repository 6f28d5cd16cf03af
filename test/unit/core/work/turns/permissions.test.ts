import { beforeEach, describe, expect, test } from "vitest";
import type { PermissionRequest } from "../../../../../src/core/model/runs/agent-update.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type ScriptedTurn } from "../../../../support/scripted-agents.ts";

const IDLE_MS = 10 * 60_000;

let harness: CoreHarness;
let answers: (string | undefined)[];
beforeEach(() => {
  harness = new CoreHarness();
  answers = [];
});

describe("a question of the agent", () => {
  test("a question blocks the run until it is answered, and the lease is kept", async () => {
    const { id } = await aBlockedRun();
    await harness.clock.advance(3 * LEASE_MS);

    const run = await harness.run(id);
    expect(run).toMatchObject({
      state: "BLOCKED",
      permission: question("p1"),
      lease: { worker: "worker-1" },
    });
    expect(await harness.storage.leases.listExpiring(0, 10)).toEqual([]);
    expect(answers).toEqual([]);
  });

  test("an answered question lets the agent continue", async () => {
    const run = await aBlockedRun();

    await answer(run, "p1", "allow");

    expect(answers).toEqual(["allow"]);
    expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 1 });
    expect(await harness.run(run.id)).not.toHaveProperty("permission");
  });

  test("a question is shown as what the run waits for until the run continues", async () => {
    const run = await harness.run((await aBlockedRun()).id);
    const stateEvent = (await harness.events(run.id)).findLast(({ body }) => body.kind === "run.state");

    const after = await harness.runs.answerPermission(run.id, await harness.person(), {
      permissionId: "p1",
      optionId: "allow",
    });

    const status = { message: "The agent asks: May I?" };
    expect(run).toMatchObject({ state: "BLOCKED", statusMessage: status });
    expect(stateEvent?.body).toMatchObject({ to: "BLOCKED", status });
    expect([after.state, after.statusMessage]).toEqual(["INPROGRESS", undefined]);
  });

  test.each<[string, Partial<PermissionRequest>]>([
    ["hidden characters", { command: "rm \u{e0041}-rf" }],
    ["a hidden character in the agent's words", { reason: "list\u200b files" }],
    ["a command that is too long to be shown", { command: `true ${"x".repeat(5_000)}` }],
    ["a call that was cut", { command: "ls", truncated: true }],
  ])("no word in a thread allows a call with %s, but it can be refused", async (_what, facts) => {
    const { id } = await aBlockedRun(facts);

    await harness.followUp(id, "yes");
    await harness.followUp(id, "Allow");
    const blocked = await harness.run(id);
    await harness.followUp(id, "no");

    expect(blocked.state).toBe("BLOCKED");
    expect(answers).toEqual(["reject"]);
  });

  test("the page answers a question that is not shown as a whole elsewhere", async () => {
    const run = await aBlockedRun({ command: "rm \u200b-rf" });

    await answer(run, "p1", "allow");

    expect(answers).toEqual(["allow"]);
  });

  test("a question is answered by a follow-up in words", async () => {
    const { id } = await aBlockedRun();

    await harness.followUp(id, "no");

    expect(answers).toEqual(["reject"]);
    expect(harness.agents.prompts).toHaveLength(1);
  });

  test.each([
    ["cancelled", "reject_once", "", "You said no to: May I?"],
    ["cancelled", "reject_always", "", "You said no to: May I?"],
    ["cancelled", "allow_once", "", "You said no to: May I?"],
    ["refusal", "reject_once", "", "You said no to: May I?"],
    ["cancelled", "reject_once", "Then I leave it.", "Then I leave it."],
    ["end_turn", "reject_once", "Then I leave it.", "Then I leave it."],
  ] as const)(
    "a turn that ends as %s after a no, where the only other option is %s, succeeds (%j)",
    async (stopReason, kind, words, expected) => {
      harness.agents.scripts.push(async ({ observer, say }) => {
        const other = { optionId: "other", name: "Other", kind } as const;
        const { options, ...rest } = question("p1");
        await observer.permission({ ...rest, options: [...options.slice(0, 1), other] });
        say(words);
        return { stopReason };
      });
      const { id } = await aStartedRun();

      await harness.followUp(id, "no");

      expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", answer: expected });
    },
  );

  test("a turn that the agent cancels after a yes, or in a later turn, is still an error", async () => {
    const cancelled: ScriptedTurn[] = [];
    harness.agents.scripts.push(
      async (turn) => {
        await ask(turn, "p1");
        return { stopReason: "cancelled" };
      },
      async (turn) => {
        cancelled.push(turn);
        return { stopReason: "cancelled" };
      },
    );
    const run = await aStartedRun();
    await harness.followUp(run.id, "no");
    await harness.followUp(run.id, "again");

    expect(cancelled).toHaveLength(1);
    expect(await harness.run(run.id)).toMatchObject({ state: "ERROR" });
  });

  test("a question is answered once, and only with an offered option", async () => {
    const run = await aBlockedRun();

    await expect(answer(run, "other", "allow")).rejects.toMatchObject({ code: "conflict" });
    await expect(answer(run, "p1", "other")).rejects.toMatchObject({ code: "invalid_request" });
    await answer(run, "p1", "allow");
    await expect(answer(run, "p1", "reject")).rejects.toMatchObject({ code: "conflict" });

    expect(answers).toEqual(["allow"]);
  });

  test("a question waits for the previous one", async () => {
    harness.agents.scripts.push(async (turn) => {
      await Promise.all([ask(turn, "p1"), ask(turn, "p2")]);
      return END_TURN;
    });
    const run = await aStartedRun();
    expect(await harness.run(run.id)).toMatchObject({ permission: { permissionId: "p1" } });

    await answer(run, "p1", "allow");
    expect(await harness.run(run.id)).toMatchObject({ state: "BLOCKED", permission: { permissionId: "p2" } });
    await answer(run, "p2", "reject");

    expect(answers).toEqual(["allow", "reject"]);
    expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED" });
  });

  test("a delayed answer to the previous question does not answer the current one", async () => {
    harness.agents.scripts.push(async (turn) => {
      await Promise.all([ask(turn, "p1"), ask(turn, "p2")]);
      return END_TURN;
    });
    const run = await aStartedRun();
    const cleared = Promise.withResolvers<void>();
    const seen = Promise.withResolvers<void>();
    harness.faults.gates.push(Promise.resolve(), cleared.promise);
    await answer(run, "p1", "allow");
    harness.faults.lateLooks.push(seen.promise);
    harness.pubsub.publish([`run:${run.id}`]);
    await quiet();
    cleared.resolve();
    await quiet();

    seen.resolve();
    await quiet();

    expect(answers).toEqual(["allow"]);
    expect(await harness.run(run.id)).toMatchObject({ state: "BLOCKED", permission: { permissionId: "p2" } });
  });

  test("a question without an answer stops the agent after a while, and the run stays blocked", async () => {
    const { id } = await aBlockedRun();

    await harness.clock.advance(IDLE_MS + 10_000);

    expect(harness.agents.open).toBe(0);
    expect(await harness.run(id)).toMatchObject({
      state: "BLOCKED",
      permission: question("p1"),
      lostAttempts: 0,
    });
    expect(await harness.run(id)).not.toHaveProperty("lease");
  });

  test("an answer after the agent was stopped resumes the turn with the answer", async () => {
    const run = await aBlockedRun();
    await harness.clock.advance(IDLE_MS + 10_000);

    await answer(run, "p1", "allow");

    expect(harness.agents.prompts[1]).toMatch(
      /interrupted[\s\S]*Fix it\n\nYou asked: May I\?\. The answer: Allow\.$/,
    );
    expect(await harness.run(run.id)).toMatchObject({ state: "SUCCEEDED", turn: 1, attempt: 2 });
  });

  test("cancelling a run leaves its question without an answer", async () => {
    const { id } = await aBlockedRun();

    await harness.cancel(id);

    expect(answers).toEqual([undefined]);
    await harness.clock.advance(5_000);
    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect(harness.clock.pending).toBe(0);
  });

  test("the answer to an earlier question, which a lost worker never took, answers no later question", async () => {
    const run = await aRunWithAnAnswerThatNobodyTook();
    // The new attempt reads the run when its agent asks, before the question is stored.
    harness.agents.scripts.push(async (turn) => {
      harness.pubsub.publish([`run:${run.id}`]);
      await ask(turn, "p2");
      return END_TURN;
    });

    await harness.start();
    await harness.clock.advance(LEASE_MS);

    expect(answers).toEqual([]);
    expect(await harness.run(run.id)).toMatchObject({ state: "BLOCKED", permission: question("p2") });
  });

  test("an answer survives the death of its worker, and the next agent receives it", async () => {
    await aRunWithAnAnswerThatNobodyTook();

    await harness.start();
    await quiet();

    expect(harness.agents.prompts.at(-1)).toMatch(/You asked: May I\?\. The answer: Allow\.$/);
  });

  test("an endless question is stored up to a readable length", async () => {
    const long = "x".repeat(100_000);
    harness.agents.scripts.push(async ({ observer }) => {
      const options = ["yes", ...Array.from({ length: 500 }, (_, index) => `${index}`)].map(
        (optionId) => ({ optionId, name: `${optionId} ${long}`, kind: "allow_once" }) as const,
      );
      const tooLong = { optionId: long, name: "Long", kind: "reject_once" } as const;
      const request = { permissionId: "p1", toolCallId: long, title: long, options: [tooLong, ...options] };
      answers.push(await observer.permission(request));
      return END_TURN;
    });
    const run = await aStartedRun();

    const { permission } = await harness.run(run.id);
    await answer(run, "p1", "18");

    expect(JSON.stringify(permission).length).toBeLessThan(20_000);
    expect(permission?.options.map(({ optionId }) => optionId)).toEqual([
      "yes",
      ...Array.from({ length: 19 }, (_, index) => `${index}`),
    ]);
    expect(permission?.title).toMatch(/^x{4000}… \[96000 characters cut\]$/);
    expect(permission).not.toHaveProperty("toolCallId");
    expect(answers).toEqual(["18"]);
  });

  test("a question is cut after a secret, not within it", async () => {
    harness.agents.scripts.push(async ({ observer }) => {
      const text = (length: number) => `${"x".repeat(length - 3)}s3cret`;
      const options = [{ optionId: "yes", name: text(500), kind: "allow_once" }] as const;
      answers.push(await observer.permission({ permissionId: "p1", title: text(4_000), options }));
      return END_TURN;
    });
    const run = await aStartedRun();

    expect(JSON.stringify((await harness.run(run.id)).permission)).not.toContain("s3c");
    await answer(run, "p1", "yes");
    expect(answers).toEqual(["yes"]);
  });

  test("if a question offers no refusal, a refusal in words leaves it without an answer", async () => {
    harness.agents.scripts.push(async ({ observer }) => {
      const { options, ...rest } = question("p1");
      answers.push(await observer.permission({ ...rest, options: options.slice(0, 1) }));
      return END_TURN;
    });
    const { id } = await aStartedRun();

    await harness.followUp(id, "no");

    expect(answers).toEqual([undefined]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });
});

function question(permissionId: string, facts: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    permissionId,
    title: "May I?",
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
    ...facts,
  };
}

async function ask(
  { observer }: ScriptedTurn,
  permissionId: string,
  facts?: Partial<PermissionRequest>,
): Promise<void> {
  answers.push(await observer.permission(question(permissionId, facts)));
}

async function answer(run: Run, permissionId: string, optionId: string): Promise<void> {
  await harness.runs.answerPermission(run.id, await harness.person(), { permissionId, optionId });
  await quiet();
}

async function aStartedRun(): Promise<Run> {
  await harness.start();
  const run = await harness.create();
  await quiet();
  return run;
}

async function aBlockedRun(facts?: Partial<PermissionRequest>): Promise<Run> {
  harness.agents.scripts.push(async (turn) => {
    await ask(turn, "p1", facts);
    return END_TURN;
  });
  return aStartedRun();
}

/** A worker asks and dies, a user answers, and the run is taken from the dead worker. */
async function aRunWithAnAnswerThatNobodyTook(): Promise<Run> {
  const run = await harness.create();
  // This worker receives no notifications and its time stands still.
  const { clock, pubsub } = new CoreHarness();
  const worker = harness.worker({ clock, pubsub });
  harness.agents.scripts.push(async ({ observer }) => {
    await observer.permission(question("p1"));
    return new Promise(() => undefined);
  });
  void worker.work(run.id, new AbortController().signal);
  await quiet();
  await answer(run, "p1", "allow");
  await harness.clock.advance(2 * LEASE_MS);
  await harness.lostRuns().recover(run.id);
  return run;
}
