import { beforeEach, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, type HarnessWorker } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";

const NEVER = new AbortController().signal;
const ONE = { worker: "worker-1", disk: "disk-1" };
const TWO = { worker: "worker-2", disk: "disk-2" };

let harness: CoreHarness;
let second: HarnessWorker;
let runId: RunId;
beforeEach(async () => {
  harness = new CoreHarness();
  second = harness.worker(TWO);
  const { id } = await harness.create();
  runId = id;
  await harness.worker(ONE).work(id, NEVER);
  await harness.followUp(id, "And this");
});

/** A heartbeat of the first worker, with room for so many runs. */
async function beat(slots = 1): Promise<void> {
  const sandbox = { name: "local", isolated: false };
  await harness.storage.workers.beat({ id: "worker-1", disk: "disk-1", slots, sandbox });
}

async function workers(): Promise<readonly string[]> {
  const bodies = (await harness.events(runId)).map(({ body }) => body);
  return bodies.flatMap((body) => (body.kind === "attempt.started" ? [body.worker] : []));
}

test("another worker leaves a follow-up to the free worker that has the files", async () => {
  await beat();

  await second.work(runId, NEVER);

  expect(await workers()).toEqual(["worker-1"]);
  await harness.start(harness.worker(ONE));
  expect(await workers()).toEqual(["worker-1", "worker-1"]);
});

test("any worker takes a follow-up when the worker with the files has not taken it in time", async () => {
  await beat();
  await second.work(runId, NEVER);

  await harness.clock.advance(2_000);
  await second.work(runId, NEVER);

  expect(await workers()).toEqual(["worker-1", "worker-2"]);
  expect(await harness.run(runId)).toMatchObject({ state: "SUCCEEDED", disk: "disk-2" });
});

test("a follow-up does not wait for a worker that is gone", async () => {
  await beat();
  await harness.storage.workers.remove("worker-1");

  await second.work(runId, NEVER);

  expect(await workers()).toEqual(["worker-1", "worker-2"]);
});

test("a follow-up does not wait for a worker whose slots are taken", async () => {
  await beat(1);
  harness.agents.scripts.push(untilCancelled);
  const other = await harness.create({ source: "WEB_APP" });
  const stopping = new AbortController();
  const busy = harness.worker(ONE).work(other.id, stopping.signal);
  await quiet();

  await second.work(runId, NEVER);

  expect(await workers()).toEqual(["worker-1", "worker-2"]);
  stopping.abort();
  await busy;
});

test("many follow-ups for one worker all end although that worker takes none of them", async () => {
  await beat(100);
  const ids: RunId[] = [runId];
  for (let count = 0; count < 20; count += 1) {
    const { id } = await harness.create();
    await harness.worker(ONE).work(id, NEVER);
    await harness.followUp(id, "And this");
    ids.push(id);
  }
  for (const id of ids) {
    await second.work(id, NEVER);
  }

  await harness.clock.advance(2_000);
  for (const id of ids) {
    await second.work(id, NEVER);
  }

  const states = await Promise.all(ids.map(async (id) => (await harness.run(id)).state));
  expect(new Set(states)).toEqual(new Set(["SUCCEEDED"]));
});
