import { expect, test } from "vitest";
import { ActivityReporter } from "../../../../../src/core/work/attempts/activity-reporter.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

function harness(hasCard = false) {
  const clock = new ManualClock();
  const shownMs: number[] = [];
  const reporter = new ActivityReporter(clock, async () => {
    shownMs.push(clock.elapsedMs());
    return hasCard;
  });
  const call = (title: string) => reporter.onUpdates([{ kind: "agent.tool_call", toolCallId: title, title }]);
  return { call, clock, reporter, shownMs };
}

test("the first change is shown at once, and later changes once in three seconds", async () => {
  const { call, clock, shownMs } = harness();

  for (const title of ["one", "two", "three", "four"]) {
    call(title);
    await clock.advance(500);
  }
  await clock.advance(10_000);
  call("five");
  await clock.advance(10_000);

  expect(shownMs).toEqual([0, 3_000, 12_000]);
});

test("without a card anywhere, nothing is written while nothing changes", async () => {
  const { clock, reporter, shownMs } = harness();

  reporter.beginTurn();
  await clock.advance(600_000);

  expect(shownMs).toEqual([60_000]);
});

test("while nothing changes, the card is shown once a minute until the turn ends", async () => {
  const { call, clock, reporter, shownMs } = harness(true);

  reporter.beginTurn();
  await clock.advance(30_000);
  call("one");
  for (let minute = 0; minute < 3; minute += 1) {
    await clock.advance(60_000);
  }
  reporter.stop();
  await clock.advance(600_000);

  expect(shownMs).toEqual([30_000, 90_000, 150_000, 210_000]);
});

test("updates that change nothing are neither stored nor shown", async () => {
  const { call, clock, reporter, shownMs } = harness();

  call("one");
  await clock.advance(5_000);
  const again = [call("one"), reporter.onUpdates([{ kind: "agent.message", text: "hello" }])];
  await clock.advance(5_000);

  expect([again, shownMs]).toEqual([[undefined, undefined], [0]]);
});

test("the plan is kept while steps change, and ends with its turn", () => {
  const { call, reporter } = harness();
  const entries = [{ content: "Read", status: "in_progress" }];

  reporter.onUpdates([{ kind: "agent.plan", entries }]);
  const during = call("one");
  reporter.beginTurn();

  expect(during).toEqual({ plan: [{ text: "Read", status: "in_progress" }], step: "one" });
  expect(call("two")).toEqual({ step: "two" });
});

test("nothing is shown after the end", async () => {
  const { call, clock, reporter, shownMs } = harness();

  call("one");
  reporter.stop();
  await clock.advance(10_000);

  expect([shownMs, clock.pending]).toEqual([[], 0]);
});
