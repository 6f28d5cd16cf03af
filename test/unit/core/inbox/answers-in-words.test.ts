import { expect, test } from "vitest";
import { quiet } from "../../../support/manual-clock.ts";
import { InboxHarness } from "./inbox-harness.ts";

test("a text in a thread that agrees politely answers the question", async () => {
  const harness = new InboxHarness();
  await harness.start();
  const { id } = await harness.aBlockedRun();

  await harness.receive({ text: "Ok, do it please" });
  await quiet();

  expect((await harness.run(id)).answer).toBe("I got yes");
  expect(harness.repliesShown()).toEqual([]);
});

test("a text in a thread that is no answer leaves the question open, and the thread says so", async () => {
  const harness = new InboxHarness();
  await harness.start();
  const { id } = await harness.aBlockedRun();

  await harness.receive({ text: "yes, but why?" });
  await quiet();

  const { permission, state } = await harness.run(id);
  expect([state, permission?.answer]).toEqual(["BLOCKED", undefined]);
  expect(harness.repliesShown()).toEqual([expect.stringContaining("question is still open")]);
});
