import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, type Script, untilCancelled } from "../../../../support/scripted-agents.ts";

let harness: CoreHarness;
let end: () => void;
const held: Script = () =>
  new Promise((resolve) => {
    end = () => resolve(END_TURN);
  });

beforeEach(() => {
  harness = new CoreHarness();
  harness.agents.takesSteering = true;
  end = () => undefined;
});

async function aRunInItsTurn(): Promise<RunId> {
  harness.agents.scripts.push(held);
  await harness.start();
  const { id } = await harness.create();
  await quiet();
  return id;
}

async function kindsOf(id: RunId): Promise<readonly string[]> {
  return (await harness.events(id)).map(({ body }) => body.kind);
}

describe("a steering follow-up", () => {
  test("a steering follow-up is sent to the running turn and is part of it", async () => {
    const id = await aRunInItsTurn();

    await harness.followUp(id, "mind the tests", "steer");
    expect(harness.agents.steered).toEqual(["mind the tests"]);
    expect((await kindsOf(id)).at(-1)).toBe("followup.steered");
    end();
    await quiet();

    expect(harness.agents.prompts).toEqual(["Fix it"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("a steering follow-up waits for the next turn if the agent accepts none", async () => {
    harness.agents.takesSteering = false;
    const id = await aRunInItsTurn();

    await harness.followUp(id, "mind the tests", "steer");
    end();
    await quiet();

    expect(harness.agents.prompts).toEqual(["Fix it", "mind the tests"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
    expect(await kindsOf(id)).not.toContain("followup.steered");
  });

  test("the log says of each steering follow-up of a turn that takes none that it waits for the next one", async () => {
    harness.agents.takesSteering = false;
    const id = await aRunInItsTurn();

    await harness.followUp(id, "one", "steer");
    await harness.followUp(id, "two", "steer");
    await harness.followUp(id, "three");

    const bodies = (await harness.events(id)).map(({ body }) => body);
    const received = bodies.flatMap((body) => (body.kind === "followup.received" ? body.followUpId : []));
    const queued = bodies.flatMap((body) => (body.kind === "followup.queued" ? body.followUpId : []));
    expect(queued).toEqual(received.slice(0, 2));
    end();
    await quiet();
    expect((await kindsOf(id)).filter((kind) => kind === "followup.queued")).toHaveLength(2);
  });

  test("a steering follow-up overtakes waiting ones and keeps the order among steering ones", async () => {
    const id = await aRunInItsTurn();

    await harness.followUp(id, "later");
    await harness.followUp(id, "one", "steer");
    await harness.followUp(id, "two", "steer");
    end();
    await quiet();

    expect(harness.agents.steered).toEqual(["one", "two"]);
    expect(harness.agents.prompts).toEqual(["Fix it", "later"]);
  });

  test("a steering follow-up after a refused one waits with it", async () => {
    const id = await aRunInItsTurn();
    harness.agents.takesSteering = false;
    await harness.followUp(id, "one", "steer");
    harness.agents.takesSteering = true;
    await harness.followUp(id, "two", "steer");
    end();
    await quiet();

    expect(harness.agents.steered).toEqual([]);
    expect(harness.agents.prompts).toEqual(["Fix it", "one\n\ntwo"]);
  });

  test("a steering follow-up before the first turn is sent with that turn", async () => {
    const { id } = await harness.create();
    await harness.followUp(id, "mind the tests", "steer");

    await harness.start();

    expect(harness.agents.prompts).toEqual(["Fix it\n\nmind the tests"]);
    expect(harness.agents.steered).toEqual([]);
  });

  test("a steering follow-up that comes while a turn's prompt is built is sent to that turn", async () => {
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    harness.agents.remembers = false;
    harness.agents.scripts.push(held);
    const readEvents = harness.storage.runs.readEvents.bind(harness.storage.runs);
    let steer: Promise<unknown> | undefined;
    harness.storage.runs.readEvents = async (...args) => {
      if (args[3]?.includes("turn.ended")) {
        steer ??= harness.followUp(id, "now", "steer");
      }
      await steer;
      return readEvents(...args);
    };

    await harness.followUp(id, "more");
    await quiet();
    end();
    await quiet();

    expect(harness.agents.steered).toEqual(["now"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });
  });

  test("a steering follow-up is not sent twice when the turn ends at that moment", async () => {
    const id = await aRunInItsTurn();
    let taken: () => void = () => undefined;
    harness.agents.beforeSteer.push(
      () =>
        new Promise((resolve) => {
          taken = resolve;
        }),
    );
    await harness.followUp(id, "mind the tests", "steer");
    end();
    await quiet();
    expect((await harness.run(id)).state).toBe("INPROGRESS");

    taken();
    await quiet();

    expect(harness.agents.steered).toEqual(["mind the tests"]);
    expect(harness.agents.prompts).toEqual(["Fix it"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 1 });
  });

  test("a steering follow-up is sent again with its turn after its worker is lost", async () => {
    const { id } = await harness.create();
    const clock = new ManualClock(harness.clock.now());
    harness.agents.scripts.push(held);
    void harness.worker({ clock }).work(id, new AbortController().signal);
    await quiet();
    await harness.followUp(id, "mind the tests", "steer");
    expect(harness.agents.steered).toEqual(["mind the tests"]);
    await harness.clock.advance(2 * LEASE_MS);
    await harness.lostRuns().recover(id);

    await harness.start();
    await quiet();

    expect(harness.agents.prompts.at(-1)).toMatch(/interrupted[\s\S]*Fix it\n\nmind the tests$/);
  });

  test("a steering follow-up to a run that is just cancelled is withdrawn with it", async () => {
    harness.agents.scripts.push(() => new Promise(() => undefined));
    await harness.start();
    const { id } = await harness.create();
    await quiet();
    harness.agents.beforeSteer.push(() => harness.cancel(id));

    await harness.followUp(id, "mind the tests", "steer");
    await harness.clock.advance(LEASE_MS);
    expect((await harness.run(id)).state).toBe("CANCELLED");
    await harness.followUp(id, "go on");

    expect(harness.agents.prompts.at(-1)).toBe("go on");
  });

  test("a steering follow-up without a response from the agent blocks neither turn end nor cancel", async () => {
    const id = await aRunInItsTurn();
    harness.agents.beforeSteer.push(() => new Promise(() => undefined));
    await harness.followUp(id, "mind the tests", "steer");
    end();
    await harness.clock.advance(5_000);
    expect(harness.agents.prompts).toEqual(["Fix it", "mind the tests"]);
    expect(await harness.run(id)).toMatchObject({ state: "SUCCEEDED", turn: 2 });

    harness.agents.scripts.push(untilCancelled);
    await harness.followUp(id, "go on");
    harness.agents.beforeSteer.push(() => new Promise(() => undefined));
    await harness.followUp(id, "and mind this", "steer");
    await harness.cancel(id);

    expect(await harness.run(id)).toMatchObject({ state: "CANCELLED" });
    expect(await harness.run(id)).not.toHaveProperty("lease");
    expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
  });

  test("a steering follow-up belongs to its turn in the log", async () => {
    const id = await aRunInItsTurn();
    await harness.followUp(id, "mind the tests", "steer");
    end();
    await quiet();

    const kinds = await kindsOf(id);
    expect(kinds.indexOf("followup.steered")).toBeLessThan(kinds.indexOf("turn.ended"));
  });
});
