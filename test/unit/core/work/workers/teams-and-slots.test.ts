import { beforeEach, describe, expect, test } from "vitest";
import type { RunId, TeamId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN } from "../../../../support/scripted-agents.ts";

const SLOTS = 4;
const [A, B] = ["team-a" as TeamId, "team-b" as TeamId];
const OPTIONS = [{ optionId: "yes", name: "Yes", kind: "allow_once" }] as const;

let harness: CoreHarness;
/** The prompts of the turns at work in the order of their start, and how each is ended. */
let atWork: Map<string, () => void>;
beforeEach(async () => {
  harness = new CoreHarness();
  atWork = new Map();
  for (const id of [A, B]) {
    await harness.storage.teams.put({ id, name: id, createdAt: harness.clock.now(), sharing: "off" });
  }
});

describe("slots of several teams", () => {
  test("four unanswered questions of one team hold back no run of another", async () => {
    await harness.start();
    const asking = await createAll(A, "ask", SLOTS);

    const other = await create(B, "work b");

    expect(await statesOf(...asking, other)).toEqual([...Array(SLOTS).fill("BLOCKED"), "INPROGRESS"]);
  });

  test("a team uses all slots while no other waits, and the next free slot is the other team's", async () => {
    await harness.start();
    const ofA = await createAll(A, "a", 50);
    expect((await statesOf(...ofA)).filter((state) => state === "INPROGRESS")).toHaveLength(SLOTS);
    const ofB = await createAll(B, "b", 3);

    await endOne("a 0");
    await endOne("a 1");
    await endOne("a 2");

    expect(await statesOf(...ofB)).toEqual(["INPROGRESS", "INPROGRESS", "QUEUED"]);
    expect([...atWork.keys()]).toEqual(["a 3", "b 0", "b 1", "a 4"]);
  });

  test("a team that was passed over loses neither a run nor its order", async () => {
    await harness.start();
    const ofA = await createAll(A, "a", 12);
    const ofB = await createAll(B, "b", 12);

    const order = await endAll();

    expect(await statesOf(...ofA, ...ofB)).toEqual(Array(24).fill("SUCCEEDED"));
    const inOrder = (what: string) => Array.from({ length: 12 }, (_, index) => `${what} ${index}`);
    expect(order.filter((prompt) => prompt.startsWith("a"))).toEqual(inOrder("a"));
    expect(order.filter((prompt) => prompt.startsWith("b"))).toEqual(inOrder("b"));
  });
});

describe("the quota running_runs", () => {
  test("runs above the quota wait, and each is begun when another ends", async () => {
    await limit(A, 2);
    await harness.start();
    const ofA = await createAll(A, "a", 7);
    expect([...atWork.keys()]).toEqual(["a 0", "a 1"]);

    await endOne("a 1");
    expect([...atWork.keys()]).toEqual(["a 0", "a 2"]);
    const order = await endAll();

    expect(order.slice(-4)).toEqual(["a 3", "a 4", "a 5", "a 6"]);
    expect(await statesOf(...ofA)).toEqual(Array(7).fill("SUCCEEDED"));
  });

  test("several runs that end at once make room for as many", async () => {
    await limit(A, 3);
    await harness.start();
    await createAll(A, "a", 9);
    const ends = [...atWork.values()];
    atWork.clear();

    for (const end of ends) {
      end();
    }
    await quiet();

    expect([...atWork.keys()]).toEqual(["a 3", "a 4", "a 5"]);
  });

  test("a run that asks makes room for the next, and continues above the quota when it is answered", async () => {
    await limit(A, 1);
    await harness.start();
    const asking = await create(A, "ask a");
    const [next, last] = await createAll(A, "a", 2);
    expect(await statesOf(asking, next as RunId, last as RunId)).toEqual(["BLOCKED", "INPROGRESS", "QUEUED"]);

    const viewer = await harness.person();
    await harness.runs.answerPermission(
      asking,
      { ...viewer, teamId: A },
      { permissionId: "p", optionId: "yes" },
    );
    await quiet();

    expect(await statesOf(asking, next as RunId, last as RunId)).toEqual([
      "SUCCEEDED",
      "INPROGRESS",
      "QUEUED",
    ]);
  });

  test("runs of a team at its quota hold back no other team", async () => {
    await limit(A, 1);
    await harness.start();
    await createAll(A, "a", 30);

    await createAll(B, "b", SLOTS);

    expect([...atWork.keys()]).toEqual(["a 0", "b 0", "b 1", "b 2"]);
  });

  test("a removed quota lets the waiting runs begin", async () => {
    await limit(A, 0);
    await harness.start();
    await createAll(A, "a", 3);
    expect([...atWork.keys()]).toEqual([]);

    await harness.storage.quotas.replace(A, []);
    await harness.clock.advance(1_000);
    await quiet();

    expect([...atWork.keys()].toSorted()).toEqual(["a 0", "a 1", "a 2"]);
  });

  test("the end of a run whose worker was lost makes room", async () => {
    await limit(A, 1);
    const lost = await create(A, "a lost");
    void harness.worker({ clock: new CoreHarness().clock, worker: "lost" }).work(lost, NEVER);
    await quiet();
    await harness.start();
    const waiting = await create(A, "a waiting");
    expect(await statesOf(lost, waiting)).toEqual(["INPROGRESS", "QUEUED"]);

    await harness.clock.advance(30_000);
    await harness.lostRuns().recover(lost);
    await quiet();

    expect((await statesOf(lost, waiting)).filter((state) => state === "INPROGRESS")).toHaveLength(1);
    await endAll();
    expect(await statesOf(lost, waiting)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  });
});

const NEVER = new AbortController().signal;

async function limit(teamId: TeamId, max: number): Promise<void> {
  await harness.storage.quotas.replace(teamId, [{ name: "running_runs", scope: "team", limit: max }]);
}

async function createAll(teamId: TeamId, what: string, count: number): Promise<readonly RunId[]> {
  const ids: RunId[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await create(teamId, `${what} ${index}`));
  }
  return ids;
}

async function create(teamId: TeamId, prompt: string): Promise<RunId> {
  harness.agents.scripts.push(async ({ text, observer, cancelled }) => {
    const name = /(?:ask|work|a|b) \w+/.exec(text)?.[0] ?? text;
    if (name.startsWith("ask")) {
      await observer.permission({ permissionId: "p", title: "May I?", options: OPTIONS });
      return END_TURN;
    }
    await new Promise<void>((resolve) => {
      atWork.set(name, resolve);
      cancelled.addEventListener("abort", () => resolve());
    });
    return END_TURN;
  });
  const creator = { ...(await harness.person()), teamId };
  const { id } = await harness.runs.create({ prompt, source: "API", creator });
  await harness.clock.advance(1);
  return id;
}

async function endOne(prompt: string): Promise<void> {
  atWork.get(prompt)?.();
  atWork.delete(prompt);
  await quiet();
}

/** Ends all turns until none is at work. Returns their prompts in the order in which they began. */
async function endAll(): Promise<readonly string[]> {
  const order: string[] = [];
  for (let [prompt] = atWork.keys(); prompt !== undefined; [prompt] = atWork.keys()) {
    order.push(prompt);
    await endOne(prompt);
  }
  return order;
}

function statesOf(...ids: readonly RunId[]): Promise<readonly string[]> {
  return Promise.all(ids.map(async (id) => (await harness.run(id)).state));
}
