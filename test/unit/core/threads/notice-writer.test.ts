import { expect, test } from "vitest";
import { NoticeWriter } from "../../../../src/core/threads/notice-writer.ts";
import { aFollowUp, anApproval, aRun } from "../../../support/run-builders.ts";

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

test("a card shows the words that wait for approval, and a decision needs all of them", () => {
  const approval = anApproval();
  const long = anApproval({ inputs: [{ text: "x".repeat(10_000), attachments: [] }] });

  const [shown, cut] = [approval, long].map((each) =>
    writer.card(aRun({ state: "BLOCKED", approval: each })),
  );

  const { inputsHash } = approval;
  expect(shown?.approval).toEqual({ isFollowUp: false, text: "Fix the parser, please", inputsHash });
  expect(cut?.approval?.text?.length).toBeLessThan(3_000);
  expect(cut?.approval).not.toHaveProperty("inputsHash");
});

test("a card does not show a private follow-up that waits for approval", () => {
  const run = aRun({ state: "INPROGRESS" });
  const followUp = { ...aFollowUp(run, { private: true }), seq: 1 };
  const approval = anApproval({ inputs: [{ followUpId: followUp.id, text: "secret", attachments: [] }] });

  expect(writer.card(run, [{ ...followUp, approval }]).approval).toEqual({ isFollowUp: true });
});
