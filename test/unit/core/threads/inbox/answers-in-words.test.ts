import { expect, test } from "vitest";
import { quiet } from "../../../../support/manual-clock.ts";
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
  expect(harness.repliesShown()).toEqual([
    expect.stringMatching(/question is still open, because this was no answer.*yes, no or the name/),
  ]);
});

test.each(["yes", "yes, but why?"])(
  "the reply %j to a question that is shown only in part asks for no word, and says where the whole is",
  async (text) => {
    const harness = new InboxHarness();
    await harness.start();
    const { id } = await harness.aBlockedRun({ command: `echo ${"x".repeat(5_000)}; rm -rf /` });

    await harness.receive({ text });
    await quiet();

    const run = await harness.run(id);
    expect([run.state, run.permission?.answer]).toEqual(["BLOCKED", undefined]);
    const [reply = "", ...more] = harness.repliesShown();
    expect(more).toEqual([]);
    expect(reply).not.toMatch(/answer with|no answer/);
    expect(reply).toMatch(/still open.*only on the page of the run.*An answer applies to all of it/);
    expect(reply).toContain(harness.runs.sessionLink(run));
  },
);

test("a plain no refuses a question that is shown only in part", async () => {
  const harness = new InboxHarness();
  await harness.start();
  const { id } = await harness.aBlockedRun({
    command: `echo ${"x".repeat(5_000)}; rm -rf /`,
    options: [{ optionId: "no", name: "No", kind: "reject_once" }],
  });

  await harness.receive({ text: "no" });
  await quiet();

  expect((await harness.run(id)).answer).toBe("I got no");
  expect(harness.repliesShown()).toEqual([]);
});

test("a quote, a signature and a quoted mail around an answer or a stop do not hide it", async () => {
  const harness = new InboxHarness();
  await harness.start();
  const { id } = await harness.aBlockedRun();

  await harness.receive({ text: "> **The agent asks:** May I?\n\nyes\n\nSent from my iPhone" });
  await quiet();
  const { answer } = await harness.run(id);
  const next = await harness.aBlockedRun();
  await harness.receive({ text: "> May I?\n\nstop\n\nOn 2 Mar 2026, at 10:12, errand wrote:\n> May I?" });

  expect(answer).toBe("I got yes");
  expect((await harness.run(next.id)).state).toBe("CANCELLED");
});
