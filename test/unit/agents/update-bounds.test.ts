import { expect, test } from "vitest";
import { boundedUpdate, mapUpdate } from "../../../src/agents/acp/update-mapping.ts";
import { cleaned } from "../../../src/core/basics/clean-text.ts";
import type { AgentUpdate } from "../../../src/core/model/runs/agent-update.ts";

const LARGE = { files: Array.from({ length: 20_000 }, () => "file") };
const LEFT_OUT = { leftOut: `${JSON.stringify(LARGE).length} characters` };

test("raw parts that are too large are left out, with their size; the rest is kept", () => {
  const call = {
    kind: "agent.tool_call",
    toolCallId: "1",
    title: "Write",
    rawInput: LARGE,
    rawOutput: LARGE,
  } as const;

  expect(boundedUpdate(call)).toEqual({ ...call, rawInput: LEFT_OUT, rawOutput: LEFT_OUT });
  expect(boundedUpdate({ kind: "agent.other", name: "n", data: LARGE })).toMatchObject({ data: LEFT_OUT });
});

test("small parts stay unchanged, and missing members are not added", () => {
  const call = { kind: "agent.tool_call", toolCallId: "1", rawInput: { path: "a" } } as const;

  expect(boundedUpdate(call)).toEqual(call);
  expect(boundedUpdate({ kind: "agent.title", title: "t" })).toEqual({ kind: "agent.title", title: "t" });
});

/** As it is stored, and the longest that it may be: two of the longest texts, and little more. */
function storedLengthOf(update: unknown): number {
  return JSON.stringify(cleaned(boundedOf(update), (text) => text)).length;
}
const STORED_MAX = 270_000;

function boundedOf(update: unknown): AgentUpdate {
  const mapped = mapUpdate(update);
  if (mapped === undefined) {
    throw new Error("It says nothing.");
  }
  return boundedUpdate(mapped);
}

const LONGEST = "x".repeat(128_000);

test.each<[string, (text: string) => object]>([
  ["texts", (text) => ({ content: [{ type: "content", content: { type: "text", text } }] })],
  ["what is no text", (text) => ({ content: [{ type: "content", content: { type: "image", data: text } }] })],
  ["locations", (path) => ({ locations: [{ path }] })],
])(
  "a tool call of many %s keeps as many as there is room for, and says how much it left out",
  (_what, one) => {
    const parts = Object.entries(one(LONGEST)).map(([name, [part]]) => [name, Array(120).fill(part)]);
    const head = { toolCallId: "1", title: "Write", status: "completed", kind: "edit" };
    const update = { sessionUpdate: "tool_call_update", ...head, ...Object.fromEntries(parts) };

    const bounded = boundedOf(update);

    expect(bounded).toMatchObject({ toolCallId: "1", title: "Write", status: "completed", toolKind: "edit" });
    expect(JSON.stringify(bounded)).toMatch(/1[56]\d{6} characters/);
    expect(storedLengthOf(update)).toBeGreaterThan(LONGEST.length);
    expect(storedLengthOf(update)).toBeLessThan(STORED_MAX);
  },
);

test("a plan is bounded in the same way", () => {
  const entry = { content: LONGEST, status: "pending", priority: "low" };
  const update = { sessionUpdate: "plan", entries: Array(120).fill(entry) };

  expect(boundedOf(update)).toMatchObject({
    entries: [entry, entry, { content: expect.stringMatching(/15\d{6} characters left out/) }],
  });
  expect(storedLengthOf(update)).toBeLessThan(STORED_MAX);
});

test("a small part behind a large one is kept, and a raw part has the room that is left", () => {
  const large = { type: "text", text: "x".repeat(300_000) } as const;
  const small = { type: "text", text: "Done." } as const;
  const call = { kind: "agent.tool_call", toolCallId: "1", content: [large, large, large, small] } as const;

  expect(boundedUpdate({ ...call, rawInput: "y".repeat(60_000), rawOutput: "ok" })).toEqual({
    ...call,
    content: [large, large, small, { type: "other", data: { leftOut: "300027 characters" } }],
    rawInput: { leftOut: "60002 characters" },
    rawOutput: "ok",
  });
});

test("a diff of two of the longest texts is kept whole", () => {
  const diff = { type: "diff", path: "package-lock.json", oldText: LONGEST, newText: LONGEST } as const;
  const call = { kind: "agent.tool_call", toolCallId: "1", content: [diff] } as const;

  expect(boundedUpdate(call)).toEqual(call);
});

test("endless nesting is bounded without an error", () => {
  const data: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);

  expect(boundedUpdate({ kind: "agent.other", name: "n", data })).toMatchObject({ data });
});
