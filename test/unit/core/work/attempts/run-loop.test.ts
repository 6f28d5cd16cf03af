import { afterEach, expect, test } from "vitest";
import { CHANNELS } from "../../../../../src/core/ports/pubsub.ts";
import type { NothingNext } from "../../../../../src/core/ports/stores/claim-store.ts";
import { RunLoop } from "../../../../../src/core/work/attempts/run-loop.ts";
import { SILENT_LOG } from "../../../../support/logs.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../../support/memory/in-memory-pubsub.ts";

const loops: RunLoop[] = [];
afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop(0))));

/** A worker that never has a run to work on. */
async function start(answer: NothingNext, isListening = true) {
  const clock = new ManualClock();
  const messages = new InMemoryPubSub();
  const state = { answer, looks: 0 };
  const claim = async () => {
    state.looks += 1;
    return state.answer;
  };
  const subscribe = (channel: string, listener: () => void) => messages.subscribe(channel, listener);
  const loop = new RunLoop({
    worker: { claim, perform: () => Promise.reject(new Error("There is no run.")) },
    slots: 1,
    pubsub: { isListening, subscribe },
    clock,
    log: SILENT_LOG,
  });
  loops.push(loop);
  await quiet();
  return { clock, messages, state };
}

test.each<[string, NothingNext, boolean, number]>([
  ["every five seconds while no run waits", "empty", true, 3],
  ["every second while runs wait that it may not claim yet", "later", true, 11],
  ["every second while no messages arrive", "empty", false, 11],
])("a worker looks for runs %s", async (_when, answer, isListening, looks) => {
  const { clock, state } = await start(answer, isListening);

  await clock.advance(10_000);

  expect(state.looks).toBe(looks);
});

test("a message makes a worker look at once, and more often while a run waits", async () => {
  const { clock, messages, state } = await start("empty");
  state.answer = "later";

  messages.publish([CHANNELS.runQueue]);
  await clock.advance(10);
  expect(state.looks).toBe(2);

  await clock.advance(2_000);
  expect(state.looks).toBe(4);
});
