import { expect, test } from "vitest";
import { NoticeWriter } from "../../../../src/core/threads/notice-writer.ts";
import { aRun } from "../../../support/run-builders.ts";

const writer = new NoticeWriter(() => "https://errand.example.com", new Map());
const QUESTION = {
  permissionId: "p1",
  title: "Delete it?",
  options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
} as const;

test("a card that shows the question does not repeat what the run waits for", () => {
  const statusMessage = { message: "The agent asks: Delete it?" };

  const asking = writer.card(aRun({ state: "BLOCKED", permission: QUESTION, statusMessage }));
  const waiting = writer.card(aRun({ state: "BLOCKED", statusMessage: { message: "Waits for approval." } }));

  expect([asking.question, asking.message]).toEqual([QUESTION, undefined]);
  expect([waiting.question, waiting.message]).toEqual([undefined, "Waits for approval."]);
});
