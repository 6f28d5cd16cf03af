import { expect, test } from "vitest";
import { RUN_ITEM_EXAMPLE } from "../../../src/api/schemas/run-examples.ts";
import { strictEventProblem, strictProblem } from "../../support/strict-reader.ts";

const { run_id } = RUN_ITEM_EXAMPLE;

function problemOf(members: object, path = `/api/v1/agent/runs/${run_id}`): string | undefined {
  return strictProblem({ method: "GET", path, status: 200, body: { ...RUN_ITEM_EXAMPLE, ...members } });
}

test("a strict client reads a run, with members that it does not know", () => {
  expect(problemOf({ new_member: 1 })).toBeUndefined();
});

test.each([
  ["an unknown value of a closed set", { state: "PAUSED" }, "state"],
  ["an unknown source", { source: "CARRIER_PIGEON" }, "source"],
  [
    "an unknown error code",
    { status_message: { message: "m", error_code: "x" } },
    "status_message.error_code",
  ],
  ["a missing member", { creator: undefined }, "creator"],
  ["null instead of an absent member", { parent_run_id: null }, "parent_run_id"],
  ["a wrong type", { is_sandbox_running: "true" }, "is_sandbox_running"],
  ["two ids of one run", { task_id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6f" }, "run_id and task_id differ"],
  ["a name that is not snake_case", { waitingFor: {} }, "waitingFor"],
  ["such a name in a list", { items: [{ someName: 1 }] }, "items.0.someName"],
])("a strict client refuses %s", (_, members, place) => {
  expect(problemOf(members)).toContain(place);
});

test("a strict client does not look at names that callers and agents choose", () => {
  const event = { seq: 1, turn: 0, at: "2026-03-01T09:00:00Z", kind: "agent.tool_call" };

  expect(problemOf({ metadata: { camelCase: "x" }, agent_config: { camelCase: 1 } })).toBeUndefined();
  expect(strictEventProblem({ ...event, raw_input: { filePath: "a" } })).toBeUndefined();
  expect(strictEventProblem({ ...event, rawInput: {} })).toContain("rawInput");
});

test("a strict client refuses another status than the one of the operation, and an unreadable problem", () => {
  const answer = { method: "POST", path: "/api/v1/agent/runs" };
  const created = { run_id, task_id: run_id, state: "QUEUED" };

  expect(strictProblem({ ...answer, status: 200, body: created })).toBeUndefined();
  expect(strictProblem({ ...answer, status: 201, body: created })).toContain("201 instead of 200");
  expect(strictProblem({ ...answer, status: 400, body: { message: "No." } })).toContain("error");
});
