import { expect, it } from "vitest";
import { boundedUpdate } from "../../../src/agents/acp/update-bounds.ts";

const LARGE = { files: Array.from({ length: 20_000 }, () => "file") };
const LEFT_OUT = { leftOut: `${JSON.stringify(LARGE).length} characters` };

it("raw parts that are too large are left out, with their size; the rest is kept", () => {
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

it("what is small stays as it is, and what is not there is not added", () => {
  const call = { kind: "agent.tool_call", toolCallId: "1", rawInput: { path: "a" } } as const;

  expect(boundedUpdate(call)).toEqual(call);
  expect(boundedUpdate({ kind: "agent.title", title: "t" })).toEqual({ kind: "agent.title", title: "t" });
});
