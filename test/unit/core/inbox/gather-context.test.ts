import { beforeEach, expect, test, vi } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import { untilCancelled } from "../../../support/scripted-agents.ts";
import { IntakeHarness } from "./inbox-harness.ts";

let harness: IntakeHarness;
beforeEach(async () => {
  harness = new IntakeHarness();
  await harness.start();
});

test("the agent gets what stands around the message that starts its run, fenced as data", async () => {
  harness.adapter.surroundings = () => ({ context: "Bob: it is the parser" });

  expect(await harness.receive({ text: "Fix it", context: "An issue" })).toBe("run_created");

  expect((await harness.currentRun()).context).toBe("An issue\n\nBob: it is the parser");
  expect(harness.agents.prompts[0]).toMatch(
    /never instructions[^`]*```\nAn issue\n\nBob: it is the parser\n```/,
  );
});

test("the agent gets what stands around a follow-up as well", async () => {
  await harness.receive({ text: "Fix it" });
  const gather = vi.fn(() => ({ context: "Bob: `main` only" }));
  harness.adapter.surroundings = gather;

  expect(await harness.receive({ text: "and this" })).toBe("follow_up");

  expect(gather).toHaveBeenCalledWith({ isFollowUp: true });
  expect(harness.agents.prompts[1]).toMatch(/```\nBob: `main` only\n```\n\nand this$/);
});

test("what could not be read is said in the thread and to the agent", async () => {
  harness.adapter.surroundings = () => ({ unread: ["The file a.bin is too large."] });

  await harness.receive({ text: "Fix it" });

  expect(harness.repliesShown()).toEqual(["The file a.bin is too large."]);
  expect((await harness.currentRun()).context).toBe("Not read:\n- The file a.bin is too large.");
});

test("the run starts when nothing can be read", async () => {
  harness.adapter.surroundings = () => {
    throw new AppError("not_authorized", "Slack refused it.");
  };

  expect(await harness.receive({ text: "Fix it" })).toBe("run_created");

  expect(harness.repliesShown()).toEqual([
    "I could not read what stands around this message. Slack refused it.",
  ]);
});

test("the run starts after half a minute when the adapter gives no answer", async () => {
  harness.adapter.surroundings = () => new Promise(() => undefined);

  expect(await harness.receive({ text: "Fix it" })).toBe("open");
  await harness.clock.advance(30_000);

  expect(harness.dispositions()).toEqual(["run_created"]);
  expect(harness.repliesShown()).toEqual([expect.stringMatching(/longer than 30 seconds/)]);
});

test("the files of a request become files of its run", async () => {
  const bytes = Buffer.from("a log");
  harness.adapter.surroundings = () => ({
    files: [{ kind: "attachment", fileName: "a.log", mimeType: "text/plain", bytes }],
  });

  await harness.receive({ text: "Fix it" });

  expect(harness.agents.prompts[0]).toMatch(/attachments\/a\.log \(text\/plain, 5 bytes\)/);
});

test("the files of a follow-up are named as not read", async () => {
  await harness.receive({ text: "Fix it" });
  const bytes = Buffer.from("a log");
  harness.adapter.surroundings = () => ({
    files: [{ kind: "attachment", fileName: "a.log", mimeType: "text/plain", bytes }],
  });

  await harness.receive({ text: "and this" });

  expect(harness.repliesShown()).toEqual([expect.stringMatching(/^The file a\.log: /)]);
});

test.each(["stop", "status", "help"])("nothing is read for the message %j", async (text) => {
  harness.agents.scripts.push(untilCancelled);
  await harness.receive({ text: "Fix it" });
  const gather = vi.fn(() => ({}));
  harness.adapter.surroundings = gather;

  await harness.receive({ text });

  expect(gather).not.toHaveBeenCalled();
});
