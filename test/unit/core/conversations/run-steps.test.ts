import { describe, expect, test } from "vitest";
import type { ToolCallUpdate } from "../../../../src/core/agents/agent-runner.ts";
import type { Step } from "../../../../src/core/conversations/conversation.ts";
import { RunSteps } from "../../../../src/core/conversations/run-steps.ts";
import type { RunEventBody } from "../../../../src/core/runs/events.ts";
import { aRun } from "../../../support/run-builders.ts";

const run = aRun({ prompt: "Fix it\nand all that" });
const FIRST: RunEventBody = { kind: "turn.started", followUpIds: [], again: false };
const END: RunEventBody = { kind: "turn.ended", stopReason: "end_turn", answer: "Did it." };

/** Events in their order; a number is the turn from there on. */
function told(...log: readonly (RunEventBody | number)[]): readonly Step[] {
  const steps = new RunSteps(run);
  let turn = 1;
  for (const [index, entry] of log.entries()) {
    if (typeof entry === "number") turn = entry;
    else steps.onEvent({ runId: run.id, seq: index + 1, turn, at: timeOf(index), body: entry });
  }
  return steps.list();
}

function timeOf(index: number): Date {
  return new Date(run.createdAt.getTime() + (index + 1) * 1_000);
}

function blocksOf(step: Step | undefined): readonly unknown[] {
  return (step?.messages ?? []).flatMap(({ role, content }) => content.map((block) => ({ role, ...block })));
}

function tool(update: Partial<ToolCallUpdate>): ToolCallUpdate {
  return { kind: "agent.tool_call", toolCallId: "call", ...update };
}

function resultOf(...log: readonly RunEventBody[]): unknown {
  return blocksOf(told(FIRST, ...log)[0]).find((block) => Object(block).type === "action_result");
}

describe("a turn as a step", () => {
  test("is what was asked, what was answered, and when", () => {
    const succeeded: RunEventBody = { kind: "run.state", from: "INPROGRESS", to: "SUCCEEDED" };

    const [step] = told(FIRST, { kind: "agent.message", text: "Did it." }, END, succeeded);

    expect(step).toEqual({
      id: `${run.id}:1`,
      runId: run.id,
      description: "Fix it",
      summary: "Did it.",
      startedAt: timeOf(0),
      completedAt: timeOf(2),
      messages: [
        { role: "user", content: [{ type: "text", text: run.prompt }], at: run.createdAt },
        { role: "assistant", content: [{ type: "text", text: "Did it." }], at: timeOf(1) },
      ],
    });
  });

  test("of a run that nobody has begun has no times", () => {
    const steps = told({ kind: "run.created", state: "QUEUED" });

    expect(steps).toHaveLength(1);
    expect(steps[0]).not.toHaveProperty("startedAt");
    expect(blocksOf(steps[0])).toEqual([{ role: "user", type: "text", text: run.prompt }]);
  });

  test("follow-ups stand in the turn that took them, those that wait in one to come", () => {
    const said = (followUpId: string, message: string): RunEventBody => ({
      kind: "followup.received",
      followUpId,
      message,
      authorId: "a",
      delivery: "queue",
    });
    const second: RunEventBody = { kind: "turn.started", followUpIds: ["f1", "f2"], again: false };

    const steps = told(FIRST, said("f1", "more"), said("f2", "and more"), END, 2, second, said("f3", "late"));

    expect(steps.map((step) => blocksOf(step).map((block) => Object(block).text))).toEqual([
      [run.prompt],
      ["more", "and more"],
      ["late"],
    ]);
    expect(steps.map(({ id }) => id)).toEqual([`${run.id}:1`, `${run.id}:2`, `${run.id}:3`]);
    expect(steps[2]).not.toHaveProperty("startedAt");
  });

  test("a turn begun again by another attempt is one step, and does not repeat what was asked", () => {
    const steps = told(
      FIRST,
      { kind: "attempt.ended", attempt: 1, reason: "lost" },
      { ...FIRST, again: true },
    );

    expect(steps).toHaveLength(1);
    expect(blocksOf(steps[0])).toHaveLength(1);
    expect(steps[0]).not.toHaveProperty("completedAt");
  });

  test("a run that ended badly says why; the step is over", () => {
    const status = { message: "The agent refused.", errorCode: "invalid_request" as const };
    const failed: RunEventBody = { kind: "run.state", from: "INPROGRESS", to: "FAILED", status };

    const [step] = told(FIRST, failed);

    expect(step?.completedAt).toEqual(timeOf(1));
    const data = { from: "INPROGRESS", to: "FAILED", status };
    expect(blocksOf(step)).toContainEqual({ role: "system", type: "event", name: "run.state", data });
  });

  test("the course of a run that went well is not talk", () => {
    const steps = told(
      { kind: "run.state", from: "CLAIMED", to: "INPROGRESS" },
      FIRST,
      { kind: "agent.usage", used: 1, size: 2 },
      END,
      { kind: "run.state", from: "INPROGRESS", to: "SUCCEEDED" },
    );

    expect(blocksOf(steps[0])).toHaveLength(1);
  });

  test("the summary and the description are cut, by whole characters", () => {
    const [step] = told(FIRST, { ...END, answer: `${"a".repeat(999)}😀` });

    expect(step?.summary).toBe(`${"a".repeat(999)}\ufffd…`);
  });
});

describe("what an agent says", () => {
  test("pieces of one message are one text, another message is another", () => {
    const [step] = told(
      FIRST,
      { kind: "agent.message", messageId: "m1", text: "One " },
      { kind: "agent.message", messageId: "m1", text: "word." },
      { kind: "agent.message", messageId: "m2", text: "Two." },
    );

    expect(blocksOf(step).slice(1)).toEqual([
      { role: "assistant", type: "text", text: "One word." },
      { role: "assistant", type: "text", text: "Two." },
    ]);
  });

  test("words before and after a tool are two texts, also without numbers", () => {
    const [step] = told(FIRST, { kind: "agent.message", text: "a" }, tool({}), {
      kind: "agent.message",
      text: "b",
    });

    const texts = blocksOf(step).filter((block) => Object(block).type === "text");
    expect(texts.map((block) => Object(block).text)).toEqual([run.prompt, "a", "b"]);
  });

  test("thoughts are told apart from words", () => {
    const [step] = told(FIRST, { kind: "agent.thought", text: "hm" }, { kind: "agent.thought", text: "m" });

    expect(blocksOf(step)[1]).toEqual({
      role: "assistant",
      type: "event",
      name: "thought",
      data: { text: "hmm" },
    });
  });

  test("of a plan the newest is shown, where it was first told", () => {
    const entries = (status: string) => [{ content: "Look", status }];

    const [step] = told(
      FIRST,
      { kind: "agent.plan", entries: entries("pending") },
      { kind: "agent.message", text: "a" },
      { kind: "agent.plan", entries: entries("completed") },
    );

    expect(blocksOf(step).slice(1)).toEqual([
      { role: "assistant", type: "event", name: "plan", data: { entries: entries("completed") } },
      { role: "assistant", type: "text", text: "a" },
    ]);
  });
});

describe("a tool call", () => {
  test("its updates are one action and one result", () => {
    const [step] = told(
      FIRST,
      tool({ title: "Run tests", toolKind: "execute", status: "pending", rawInput: { command: "npm t" } }),
      tool({ status: "in_progress", content: [{ type: "text", text: "1" }] }),
      tool({ status: "completed", content: [{ type: "text", text: "1 of 1" }] }),
    );

    const common = { category: "command", name: "Run tests" };
    expect(blocksOf(step).slice(1)).toEqual([
      { role: "assistant", type: "action", id: `${run.id}:2`, ...common, input: { command: "npm t" } },
      {
        role: "tool",
        type: "action_result",
        actionId: `${run.id}:2`,
        ...common,
        state: "completed",
        output: "1 of 1",
      },
    ]);
  });

  test.each([
    ["execute", "command"],
    ["read", "files"],
    ["edit", "files"],
    ["delete", "files"],
    ["move", "files"],
    ["search", "search"],
    ["fetch", "search"],
    ["think", "documents"],
    ["switch_mode", "review"],
    ["other", "integration"],
    [undefined, "integration"],
  ])("of kind %s is of category %s", (toolKind, category) => {
    expect(resultOf(tool(toolKind === undefined ? {} : { toolKind }))).toMatchObject({ category });
  });

  test.each([
    ["runs while its turn does", [], "running"],
    ["failed", [tool({ status: "failed" })], "failed"],
    ["is over with its turn", [END], "completed"],
    ["is broken off with its turn", [{ ...END, stopReason: "cancelled" }], "failed"],
    ["is broken off with its attempt", [{ kind: "attempt.ended", attempt: 1, reason: "lost" }], "failed"],
  ] as [string, RunEventBody[], string][])("%s", (_what, rest, state) => {
    expect(resultOf(tool({ status: "in_progress" }), ...rest)).toMatchObject({ state });
  });

  test("to which somebody said no was denied", () => {
    expect(resultOf(tool({}), ...question("no"), tool({ status: "failed" }))).toMatchObject({
      state: "denied",
    });
    expect(resultOf(tool({}), ...question(null))).toMatchObject({ state: "denied" });
    expect(resultOf(tool({}), ...question("yes"), tool({ status: "completed" }))).toMatchObject({
      state: "completed",
    });
  });

  test("gives a diff back as it is, and what is long without its length", () => {
    const diff = { type: "diff", path: "a", oldText: null, newText: "x".repeat(20_000) } as const;

    const { output } = resultOf(tool({ content: [diff] })) as { output: [{ newText: string }] };

    expect(output[0]).toMatchObject({ type: "diff", path: "a", oldText: null });
    expect(output[0].newText).toMatch(/^x{16000}… \[4000 characters more in the transcript\]$/);
  });
});

function question(optionId: string | null): RunEventBody[] {
  const options = [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ] as const;
  const request = { permissionId: "p", toolCallId: "call", title: "May I?", options };
  return [
    { kind: "permission.requested", request },
    { kind: "permission.answered", permissionId: "p", optionId },
  ];
}

describe("the preparation", () => {
  const step = (status: "running" | "completed" | "failed", output?: string): RunEventBody => ({
    kind: "workspace.step",
    stepId: "1",
    title: "npm ci",
    status,
    ...(output === undefined ? {} : { output }),
  });

  test("is shown as commands, with what they printed in all", () => {
    const blocks = blocksOf(
      told(step("running", "one\n"), step("running", "two\n"), step("completed"), FIRST)[0],
    );

    expect(blocks.slice(1)).toEqual([
      expect.objectContaining({ type: "action", category: "command", name: "npm ci" }),
      expect.objectContaining({ type: "action_result", state: "completed", output: "one\ntwo\n" }),
    ]);
  });

  test("that is done again prints anew", () => {
    const again = [step("running", "one"), step("failed"), step("running", "two"), step("completed", "!")];

    expect(resultOf(...again)).toMatchObject({ state: "completed", output: "two!" });
  });
});

test("a follow-up that the running turn took stands in that turn", () => {
  const steps = told(
    FIRST,
    { kind: "agent.message", text: "I begin." },
    {
      kind: "followup.received",
      followUpId: "f",
      message: "Mind the tests.",
      authorId: "a",
      delivery: "steer",
    },
    { kind: "followup.steered", followUpId: "f" },
    { kind: "agent.message", text: "I do." },
    END,
  );

  expect(steps).toHaveLength(1);
  expect(blocksOf(steps[0]).map((block) => Object(block).text)).toEqual([
    run.prompt,
    "I begin.",
    "Mind the tests.",
    "I do.",
  ]);
});

test("what could not be kept of the work is told", () => {
  const [step] = told(FIRST, { kind: "changes.not_kept", reason: "No room." }, END);

  expect(blocksOf(step)).toContainEqual(
    expect.objectContaining({ type: "event", name: "changes.not_kept", data: { reason: "No room." } }),
  );
});
