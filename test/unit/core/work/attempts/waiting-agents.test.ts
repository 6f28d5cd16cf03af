import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { waitingFor } from "../../../../../src/core/upkeep/waiting-for.ts";
import { CoreHarness, LEASE_MS, LIMITS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

const SLOTS = 4;
const WAITING_MAX = 16;
const MINUTE_MS = 60_000;
const IDLE_MS = 10 * MINUTE_MS;
const LOOK_MS = 10_000;
const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
] as const;

let harness: CoreHarness;
/** The prompts of the turns at work, and how each is ended. */
let atWork: Map<string, () => void>;
/** What the agents were told, by prompt. */
let answers: Record<string, string | undefined>;
beforeEach(() => {
  harness = new CoreHarness();
  atWork = new Map();
  answers = {};
});

describe("a run that waits for an answer", () => {
  test("four unanswered questions hold back no other run", async () => {
    await harness.start();
    const asking = await createAll("ask", SLOTS);

    const other = await create("work other");

    expect(await statesOf(...asking, other)).toEqual([...Array(SLOTS).fill("BLOCKED"), "INPROGRESS"]);
    expect(harness.agents.open).toBe(SLOTS + 1);
  });

  test("an answer takes the next free slot before queued runs, and the same agent continues", async () => {
    const { answered, queued, working } = await anAnswerWithoutASlot();
    expect(answers).toEqual({});

    atWork.get(working[0]?.prompt ?? "")?.();
    await quiet();

    expect(answers).toEqual({ "ask 0": "yes" });
    expect(await harness.run(answered)).toMatchObject({ state: "SUCCEEDED", attempt: 1, turn: 1 });
    expect(await harness.run(answered)).not.toHaveProperty("permission");
    // The slot of the answered run is free again.
    expect(await statesOf(queued)).toEqual(["INPROGRESS"]);
  });

  test("answers get slots in the order in which they came", async () => {
    await harness.start();
    const [first, second] = await createAll("ask", 2);
    const working = await createAll("work", SLOTS);
    await answer(second);
    await answer(first);

    for (const { prompt } of await prompts(working)) {
      atWork.get(prompt)?.();
      await quiet();
    }

    expect(Object.keys(answers)).toEqual(["ask 1", "ask 0"]);
  });

  test("an answered run that has no slot yet says that it waits for one", async () => {
    const { answered } = await anAnswerWithoutASlot();
    await harness.clock.advance(LEASE_MS);

    const run = await harness.run(answered);

    expect(run.state).toBe("INPROGRESS");
    expect(waitingFor(run, "busy", harness.clock.now())).toMatchObject({ reason: "capacity" });
  });

  test("the wait for an answer and the wait for a slot count in no time limit", async () => {
    const { answered, working } = await anAnswerWithoutASlot({ budget: { max_minutes: 1 } });

    await harness.clock.advance(LIMITS.inactivityMs - MINUTE_MS);
    for (const { prompt } of working.slice(0, SLOTS)) {
      atWork.get(prompt)?.();
    }
    await quiet();

    expect(await statesOf(answered)).toEqual(["SUCCEEDED"]);
    await harness.followUp(answered, "More");
    expect(await harness.run(answered)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 2 });
  });

  test("an attempt may wait longer for a person than it may work", async () => {
    await harness.start();
    const id = await create("ask long", { idle_timeout_minutes: 2 * (LIMITS.attemptMs / MINUTE_MS) });

    await harness.clock.advance(LIMITS.attemptMs + MINUTE_MS);
    await answer(id);

    expect(await statesOf(id)).toEqual(["SUCCEEDED"]);
  });

  test("with more waiting agents than allowed, the one that waits longest is stopped, and an answer resumes its session", async () => {
    await harness.start();
    const asking = await createAll("ask", WAITING_MAX);
    expect(harness.agents.open).toBe(WAITING_MAX);

    await create("ask last");
    const [oldest, next] = asking;

    expect(harness.agents.open).toBe(WAITING_MAX);
    expect(await harness.run(oldest as RunId)).toMatchObject({ state: "BLOCKED", lostAttempts: 0 });
    expect(await harness.run(oldest as RunId)).not.toHaveProperty("lease");
    expect(await harness.run(next as RunId)).toHaveProperty("lease");
    await answer(oldest);
    expect(await harness.run(oldest as RunId)).toMatchObject({ state: "SUCCEEDED", attempt: 2, turn: 1 });
    expect(harness.agents.starts.at(-1)?.previousSession).toBe("session-1");
    expect(harness.agents.prompts.at(-1)).toMatch(/You asked: May I\?\. The answer: Yes\.$/);
  });

  test("while memory is short, waiting agents are stopped one after another, and working ones are not", async () => {
    await harness.start();
    const asking = await createAll("ask", 3);
    const working = await create("work");

    harness.isMemoryShort = true;
    await harness.clock.advance(LOOK_MS);
    const afterOne = await Promise.all(asking.map(async (id) => (await harness.run(id)).lease !== undefined));
    await harness.clock.advance(2 * LOOK_MS);

    expect(afterOne).toEqual([false, true, true]);
    expect(harness.agents.open).toBe(1);
    expect(await statesOf(...asking, working)).toEqual(["BLOCKED", "BLOCKED", "BLOCKED", "INPROGRESS"]);
  });

  test("an answered agent that waits for a slot is stopped neither for room nor after its idle time", async () => {
    const { answered } = await anAnswerWithoutASlot();

    harness.isMemoryShort = true;
    await harness.clock.advance(IDLE_MS + MINUTE_MS);

    expect(await harness.run(answered)).toMatchObject({ state: "INPROGRESS", attempt: 1 });
    expect(await harness.run(answered)).toHaveProperty("lease");
  });

  test.each<["answered" | "unanswered", boolean]>([
    ["unanswered", false],
    ["answered", true],
  ])("an %s run without a slot can be cancelled", async (_what, isAnswered) => {
    const { answered } = await anAnswerWithoutASlot({}, isAnswered);

    await harness.cancel(answered);
    await harness.clock.advance(LEASE_MS);

    expect(answers).toEqual({ "ask 0": undefined });
    expect(await harness.run(answered)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.run(answered)).not.toHaveProperty("lease");
  });

  test("a worker that stops hands an answered run back with its answer", async () => {
    const { answered } = await anAnswerWithoutASlot();

    const stopped = harness.stopRuns(MINUTE_MS);
    await harness.clock.advance(MINUTE_MS);
    await stopped;

    const { run, waiting } = await harness.storage.runs.getAggregate(answered);
    expect(run).toMatchObject({ state: "QUEUED", lostAttempts: 0 });
    expect(waiting.map(({ message }) => message)).toEqual(["You asked: May I?. The answer: Yes."]);
    expect(harness.agents.open).toBe(0);
  });

  test("an attempt that lost its lease while it waited for a slot does not continue", async () => {
    const { answered, working } = await anAnswerWithoutASlot();
    await harness.storage.runs.change(answered, ({ run }) => ({
      ...{ progress: run, lease: null, events: [], followUps: [], takenFollowUps: undefined },
      ...{ notices: [], jobs: [], binding: undefined },
    }));

    await harness.clock.advance(LEASE_MS);
    atWork.get(working[0]?.prompt ?? "")?.();
    await quiet();

    expect(answers).toEqual({ "ask 0": undefined });
    expect(harness.agents.open).toBe(SLOTS);
  });

  test("an agent that ends its turn without the answer leaves its slot to others", async () => {
    await harness.start();
    harness.agents.scripts.push(async ({ observer }) => {
      void observer.permission({ permissionId: "p", title: "May I?", options: OPTIONS });
      await quiet();
      return END_TURN;
    });
    const ended = await harness.create();
    await quiet();
    const working = await createAll("work", SLOTS + 1);

    expect(await statesOf(ended.id, ...working)).toEqual([
      "SUCCEEDED",
      ...Array(SLOTS).fill("INPROGRESS"),
      "QUEUED",
    ]);
  });

  test("a follow-up after a turn that ended with an open question waits for a slot", async () => {
    await harness.start();
    const ends = Promise.withResolvers<void>();
    harness.agents.scripts.push(async ({ observer }) => {
      void observer.permission({ permissionId: "p", title: "May I?", options: OPTIONS });
      await ends.promise;
      return END_TURN;
    });
    const { id } = await harness.create();
    await quiet();
    const working = await createAll("work", SLOTS);
    await harness.followUp(id, "Also this");

    ends.resolve();
    await quiet();
    const before = harness.agents.prompts.length;
    atWork.get((await prompts(working))[0]?.prompt ?? "")?.();
    await quiet();

    expect(before).toBe(SLOTS + 1);
    expect(harness.agents.prompts).toHaveLength(SLOTS + 2);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 1 });
  });
});

/** A run whose question is answered, or not yet, while other runs have all slots and one more is queued. */
async function anAnswerWithoutASlot(config = {}, isAnswered = true) {
  await harness.start();
  const answered = await create("ask 0", config);
  const ids = await createAll("work", SLOTS + 1);
  const queued = ids[SLOTS] as RunId;
  expect(await statesOf(answered, queued)).toEqual(["BLOCKED", "QUEUED"]);
  if (isAnswered) {
    await answer(answered);
    expect(await statesOf(answered, queued)).toEqual(["INPROGRESS", "QUEUED"]);
  }
  return { answered, queued, working: await prompts(ids) };
}

async function createAll(what: "ask" | "work", count: number): Promise<readonly RunId[]> {
  const ids: RunId[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await create(`${what} ${index}`));
  }
  return ids;
}

async function create(prompt: string, config = {}): Promise<RunId> {
  harness.agents.scripts.push(async ({ text, observer, cancelled }) => {
    if (text.includes("You asked")) {
      return END_TURN;
    }
    const name = /(?:ask|work).*/.exec(text)?.[0] ?? text;
    if (name.startsWith("ask")) {
      answers[name] = await observer.permission({ permissionId: "p", title: "May I?", options: OPTIONS });
    } else {
      await new Promise<void>((resolve) => {
        atWork.set(name, resolve);
        cancelled.addEventListener("abort", () => resolve());
      });
    }
    return END_TURN;
  });
  const { id } = await harness.create({ prompt, config });
  await quiet();
  return id;
}

async function answer(id: RunId | undefined): Promise<void> {
  const choice = { permissionId: "p", optionId: "yes" };
  await harness.runs.answerPermission(id as RunId, await harness.person(), choice);
  await quiet();
}

function statesOf(...ids: readonly RunId[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await harness.run(id)).state));
}

function prompts(ids: readonly RunId[]) {
  return Promise.all(ids.map((id) => harness.run(id)));
}
