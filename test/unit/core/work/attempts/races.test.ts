import { expect, test } from "vitest";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { CoreHarness, LEASE_MS } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { END_TURN, untilCancelled } from "../../../../support/scripted-agents.ts";
import { checkLog } from "../../requests/life-checks.ts";

const RACES = 1_000;
/** Each harness runs a limited number of races, because an in-memory storage gets slow with many rows. */
const RACES_PER_HARNESS = 50;
/** More steps than a run takes from its creation to its end. */
const STEPS = 250;

async function* races(): AsyncGenerator<{ readonly harness: CoreHarness; readonly race: number }> {
  for (let race = 0; race < RACES; ) {
    const harness = new CoreHarness();
    await harness.start();
    for (let end = race + RACES_PER_HARNESS; race < end; race += 1) {
      yield { harness, race };
    }
  }
}

/** Waits for this many turns of the microtask queue. */
async function steps(count: number): Promise<void> {
  for (let step = 0; step < count; step += 1) {
    await Promise.resolve();
  }
}

/** Returns true when the cancel was accepted. */
async function cancelled(harness: CoreHarness, id: RunId): Promise<boolean> {
  try {
    await harness.runs.cancel(id, await harness.person());
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_request") {
      return false;
    }
    throw error;
  }
}

async function checkEnd(harness: CoreHarness, id: RunId): Promise<readonly string[]> {
  const run = await harness.run(id);
  const events = await harness.events(id);
  checkLog(run, events);
  expect(run).not.toHaveProperty("lease");
  expect([harness.agents.open, harness.clock.pending]).toEqual([0, 0]);
  expect(harness.gateways.opened.every(({ isOpen }) => !isOpen)).toBe(true);
  return events.flatMap(({ body }) => (body.kind === "run.state" ? [body.to] : []));
}

test("a cancel that races the start of a run always wins, and nothing starts after it", async () => {
  const seen = new Set<string>();
  for await (const { harness, race } of races()) {
    harness.agents.scripts.splice(0, Number.POSITIVE_INFINITY, untilCancelled);
    const { id } = await harness.create();
    await steps(race % STEPS);
    const isTaken = cancelled(harness, id);
    await quiet();
    await harness.clock.advance(LEASE_MS);

    expect(await isTaken).toBe(true);
    const states = await checkEnd(harness, id);
    expect(states.at(-1)).toBe("CANCELLED");
    expect(states.indexOf("CANCELLED")).toBe(states.length - 1);
    seen.add(states.join(" "));
  }
  // The cancel came during the claim, when the run was ready, and during its turn.
  expect(Array.from(seen, (states) => states.split(" ").length).sort()).toEqual([2, 3, 4]);
});

test("a cancel that races the end of a run leads to one end, which the answer names", async () => {
  const ends = new Set<string>();
  for await (const { harness, race } of races()) {
    let finish: () => void = () => undefined;
    harness.agents.scripts.push(
      () =>
        new Promise((resolve) => {
          finish = () => resolve(END_TURN);
        }),
    );
    const { id } = await harness.create();
    await quiet();
    const isTaken = steps(race % 60).then(() => cancelled(harness, id));
    await steps((race * 7) % 60);
    finish();
    await quiet();
    await harness.clock.advance(LEASE_MS);

    const states = await checkEnd(harness, id);
    expect(states.slice(3)).toEqual([(await isTaken) ? "CANCELLED" : "SUCCEEDED"]);
    ends.add(states.at(-1) ?? "");
  }
  expect(ends).toEqual(new Set(["CANCELLED", "SUCCEEDED"]));
});
