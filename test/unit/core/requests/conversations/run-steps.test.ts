import { describe, expect, test } from "vitest";
import type { ToolCallUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import type { RunEventBody } from "../../../../../src/core/model/runs/events.ts";
import type { Step } from "../../../../../src/core/requests/conversations/conversation.ts";
import { RunSteps } from "../../../../../src/core/requests/conversations/run-steps.ts";
import { aRun } from "../../../../support/run-builders.ts";

const run = aRun({ prompt: "Fix it\nand all that" });
const FIRST: RunEventBody = { kind: "turn.started", followUpIds: [], again: false };
const END: RunEventBody = { kind: "turn.ended", stopReason: "end_turn", answer: "Did it." };

/** Returns the steps of these events. A number starts the turn of that number. */
function stepsOf(...log: readonly (RunEventBody | number)[]): readonly Step[] {
  const steps = new RunSteps(run);
  let turn = 1;
  for (const [index, entry] of log.entries()) {
    if (typeof entry === "number") {
      turn = entry;
    } else {
      steps.onEvent({ runId: run.id, seq: index + 1, turn, at: timeOf(index), body: entry });
    }
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
  return blocksOf(stepsOf(FIRST, ...log)[0]).find((block) => Object(block).type === "action_result");
}

describe("a turn as a step", () => {
  test("a step has the prompt, the answer and the times of its turn", () => {
    const succeeded: RunEventBody = { kind: "run.state", from: "INPROGRESS", to: "SUCCEEDED" };

    const [step] = stepsOf(FIRST, { kind: "agent.message", text: "Did it." }, END, succeeded);

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

  test("the step of a run that has not started has no times", () => {
    const steps = stepsOf({ kind: "run.created", state: "QUEUED" });

    expect(steps).toHaveLength(1);
    expect(steps[0]).not.toHaveProperty("startedAt");
    expect(blocksOf(steps[0])).toEqual([{ role: "user", type: "text", text: run.prompt }]);
  });

  test("follow-ups belong to the step of the turn that took them, and waiting ones to a future step", () => {
    const followUpEvent = (followUpId: string, message: string): RunEventBody => ({
      kind: "followup.received",
      followUpId,
      message,
      authorId: "a",
      delivery: "queue",
    });
    const second: RunEventBody = { kind: "turn.started", followUpIds: ["f1", "f2"], again: false };

    const steps = stepsOf(
      FIRST,
      followUpEvent("f1", "more"),
      followUpEvent("f2", "and more"),
      END,
      2,
      second,
      followUpEvent("f3", "late"),
    );

    expect(steps.map((step) => blocksOf(step).map((block) => Object(block).text))).toEqual([
      [run.prompt],
      ["more", "and more"],
      ["late"],
    ]);
    expect(steps.map(({ id }) => id)).toEqual([`${run.id}:1`, `${run.id}:2`, `${run.id}:3`]);
    expect(steps[2]).not.toHaveProperty("startedAt");
  });

  test("a turn that another attempt restarts is one step and does not repeat its prompt", () => {
    const steps = stepsOf(
      FIRST,
      { kind: "attempt.ended", attempt: 1, reason: "lost" },
      { ...FIRST, again: true },
    );

    expect(steps).toHaveLength(1);
    expect(blocksOf(steps[0])).toHaveLength(1);
    expect(steps[0]).not.toHaveProperty("completedAt");
  });

  test("the step of a failed run is over and says why", () => {
    const status = { message: "The agent refused.", errorCode: "invalid_request" as const };
    const failed: RunEventBody = { kind: "run.state", from: "INPROGRESS", to: "FAILED", status };

    const [step] = stepsOf(FIRST, failed);

    expect(step?.completedAt).toEqual(timeOf(1));
    const data = { from: "INPROGRESS", to: "FAILED", status };
    expect(blocksOf(step)).toContainEqual({ role: "system", type: "event", name: "run.state", data });
  });

  test("state changes of a successful run are not part of the conversation", () => {
    const steps = stepsOf(
      { kind: "run.state", from: "CLAIMED", to: "INPROGRESS" },
      FIRST,
      { kind: "agent.usage", used: 1, size: 2 },
      END,
      { kind: "run.state", from: "INPROGRESS", to: "SUCCEEDED" },
    );

    expect(blocksOf(steps[0])).toHaveLength(1);
  });

  test("the summary and the description are cut between characters", () => {
    const [step] = stepsOf(FIRST, { ...END, answer: `${"a".repeat(999)}😀` });

    expect(step?.summary).toBe(`${"a".repeat(999)}\ufffd…`);
  });
});

describe("the output of an agent as steps", () => {
  test("pieces of one message are one text, and another message is another text", () => {
    const [step] = stepsOf(
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

  test("text before and after a tool call are two texts, also without message numbers", () => {
    const [step] = stepsOf(FIRST, { kind: "agent.message", text: "a" }, tool({}), {
      kind: "agent.message",
      text: "b",
    });

    const texts = blocksOf(step).filter((block) => Object(block).type === "text");
    expect(texts.map((block) => Object(block).text)).toEqual([run.prompt, "a", "b"]);
  });

  test("thoughts are separate from text", () => {
    const [step] = stepsOf(
      FIRST,
      { kind: "agent.thought", text: "hm" },
      { kind: "agent.thought", text: "m" },
    );

    expect(blocksOf(step)[1]).toEqual({
      role: "assistant",
      type: "event",
      name: "thought",
      data: { text: "hmm" },
    });
  });

  test("the newest version of a plan is shown at the place of the first", () => {
    const entries = (status: string) => [{ content: "Look", status }];

    const [step] = stepsOf(
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

describe("a tool call as a step", () => {
  test("the updates of a tool call are one action and one result", () => {
    const [step] = stepsOf(
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
        output: { text: "1 of 1" },
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
  ])("a tool call of kind %s is of category %s", (toolKind, category) => {
    expect(resultOf(tool(toolKind === undefined ? {} : { toolKind }))).toMatchObject({ category });
  });

  test.each([
    ["runs while its turn does", [], "running"],
    ["failed", [tool({ status: "failed" })], "failed"],
    ["is over with its turn", [END], "completed"],
    ["is broken off with its turn", [{ ...END, stopReason: "cancelled" }], "failed"],
    ["is broken off with its attempt", [{ kind: "attempt.ended", attempt: 1, reason: "lost" }], "failed"],
  ] as [string, RunEventBody[], string][])("a tool call %s", (_what, rest, state) => {
    expect(resultOf(tool({ status: "in_progress" }), ...rest)).toMatchObject({ state });
  });

  test("a tool call that was refused is shown as denied", () => {
    expect(resultOf(tool({}), ...question("no"), tool({ status: "failed" }))).toMatchObject({
      state: "denied",
    });
    expect(resultOf(tool({}), ...question(null))).toMatchObject({ state: "denied" });
    expect(resultOf(tool({}), ...question("yes"), tool({ status: "completed" }))).toMatchObject({
      state: "completed",
    });
  });

  test("a diff is returned unchanged, and long output with its length only", () => {
    const diff = { type: "diff", path: "a", oldText: null, newText: "x".repeat(20_000) } as const;

    const { parts } = resultOf(tool({ content: [diff] })) as { parts: [{ newText: string }] };

    expect(parts[0]).toMatchObject({ type: "diff", path: "a", oldText: null });
    expect(parts[0].newText).toMatch(/^x{16000}… \[4000 characters more in the transcript\]$/);
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

describe("the preparation as steps", () => {
  const step = (status: "running" | "completed" | "failed", output?: string): RunEventBody => ({
    kind: "workspace.step",
    stepId: "1",
    title: "npm ci",
    status,
    ...(output === undefined ? {} : { output }),
  });

  test("the preparation is shown as commands with their complete output", () => {
    const blocks = blocksOf(
      stepsOf(step("running", "one\n"), step("running", "two\n"), step("completed"), FIRST)[0],
    );

    expect(blocks.slice(1)).toEqual([
      expect.objectContaining({ type: "action", category: "command", name: "npm ci" }),
      expect.objectContaining({ type: "action_result", state: "completed", output: { text: "one\ntwo\n" } }),
    ]);
  });

  test("a repeated preparation shows its output again", () => {
    const again = [step("running", "one"), step("failed"), step("running", "two"), step("completed", "!")];

    expect(resultOf(...again)).toMatchObject({ state: "completed", output: { text: "two!" } });
  });
});

test("a follow-up that the running turn took belongs to the step of that turn", () => {
  const steps = stepsOf(
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

test("work that could not be stored is mentioned", () => {
  const [step] = stepsOf(FIRST, { kind: "changes.not_kept", reason: "No room." }, END);

  expect(blocksOf(step)).toContainEqual(
    expect.objectContaining({ type: "event", name: "changes.not_kept", data: { reason: "No room." } }),
  );
});
