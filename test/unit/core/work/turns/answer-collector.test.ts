import { expect, test } from "vitest";
import type { AgentUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import { AnswerCollector } from "../../../../../src/core/work/turns/turn-text.ts";

const say = (text: string): AgentUpdate => ({ kind: "agent.message", text });
const act: AgentUpdate = { kind: "agent.tool_call", toolCallId: "1" };

test("the answer is the text after the last tool call", () => {
  expect(answerTo(say("I look."), act, act, say(" Done"), say(", all of it.\n"))).toBe("Done, all of it.");
});

test("text before a tool call is the answer if none follows", () => {
  expect(answerTo(say("Done."), act)).toBe("Done.");
});

test("thoughts and plans are not part of the answer", () => {
  expect(
    answerTo(say("Done."), { kind: "agent.thought", text: "hm" }, { kind: "agent.plan", entries: [] }),
  ).toBe("Done.");
});

test("an endless answer is cut", () => {
  const keeper = new AnswerCollector();

  for (let index = 0; index < 300; index += 1) {
    keeper.onUpdate(say("x".repeat(1_000)));
  }

  expect(keeper.text.length).toBeLessThanOrEqual(101_000);
});

test("a new turn starts with an empty answer", () => {
  const keeper = new AnswerCollector();
  keeper.onUpdate(say("old"));
  keeper.onUpdate(act);
  keeper.clear();

  expect(keeper.text).toBe("");
});

function answerTo(...updates: readonly AgentUpdate[]): string {
  const keeper = new AnswerCollector();
  for (const update of updates) {
    keeper.onUpdate(update);
  }
  return keeper.text;
}
