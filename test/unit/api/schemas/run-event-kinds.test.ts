import { beforeAll, expect, test } from "vitest";
import { openapiDocument } from "../../../../scripts/openapi-document.ts";
import { eventJson } from "../../../../src/api/events/event-text.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { RunEventBody, RunEventKind } from "../../../../src/core/model/runs/events.ts";
import { AnswerJudge } from "../../../support/openapi-answers.ts";

/** One event of each kind, with every member that it can have. */
const EVENTS: { readonly [Kind in RunEventKind]: Omit<Extract<RunEventBody, { kind: Kind }>, "kind"> } = {
  "run.created": {
    state: "QUEUED",
    files: [{ path: "attachments/a.txt", kind: "attachment", mimeType: "text/plain", sizeBytes: 1 }],
  },
  "run.state": {
    from: "INPROGRESS",
    to: "ERROR",
    reason: "It died.",
    status: {
      message: "It died.",
      errorCode: "internal_error",
      retryable: true,
      reason: "agent_process_failed",
      remedy: "Send a follow-up.",
    },
  },
  "run.updated": { members: ["title", "metadata"] },
  "attempt.started": { attempt: 1, worker: "w" },
  "attempt.ended": { attempt: 1, reason: "done" },
  "workspace.step": { stepId: "s", title: "t", status: "running", output: "o" },
  "workspace.ready": { restored: true },
  "workspace.stored": { checkpoint: "c" },
  "workspace.not_stored": { reason: "r" },
  "changes.not_kept": { reason: "r" },
  "agent.started": {
    ...{ agent: "demo", version: "1", session: "s", resumed: false },
    phases: { processMs: 1, initializeMs: 2, sessionMs: 3 },
    warm: true,
  },
  "turn.started": { followUpIds: ["f"], again: false, mode: "plan" },
  "turn.ended": {
    stopReason: "end_turn",
    answer: "",
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  },
  "turn.rated": { ratedBy: "a", ratedTurn: 1, rating: "good" },
  "followup.received": { followUpId: "f", message: "m", authorId: "a", delivery: "queue" },
  "followup.edited": { followUpId: "f", message: "n", editedBy: "a" },
  "followup.withdrawn": { followUpId: "f", withdrawnBy: "a" },
  "followup.steered": { followUpId: "f" },
  "followup.queued": { followUpId: "f" },
  "permission.requested": {
    request: {
      permissionId: "p",
      toolCallId: "t",
      title: "May I?",
      options: [{ optionId: "o", name: "Yes", kind: "allow_once" }],
    },
  },
  "permission.answered": { permissionId: "p", optionId: null },
  "approval.requested": { policyId: "p", reason: "r" },
  "approval.decided": { approved: false, decidedBy: "p", comment: "c" },
  "notice.dead": { adapter: "issues", threadId: "t", noticeId: "n", reason: "r" },
  "thread.bound": { adapter: "issues", threadId: "t" },
  "artifact.added": { artifactId: "a", version: 1, artifact: { type: "PLAN", documentUid: "d", title: "t" } },
  "artifact.left_out": { files: [{ path: "p", reason: "r" }] },
  "agent.message": { messageId: "m", text: "t" },
  "agent.thought": { messageId: "m", text: "t" },
  "agent.tool_call": {
    toolCallId: "t",
    title: "t",
    toolKind: "read",
    status: "pending",
    content: [
      { type: "text", text: "t" },
      { type: "diff", path: "p", oldText: null, newText: "n" },
      { type: "terminal", terminalId: "t", output: "o" },
      { type: "other", data: { ofAgents: "any shape" } },
    ],
    locations: [{ path: "p", line: 1 }],
    rawInput: { ofAgents: "any shape" },
    rawOutput: [{ ofAgents: "too" }],
  },
  "agent.plan": { entries: [{ content: "c", status: "pending", priority: "high" }] },
  "agent.usage": { used: 1, size: 2, costUsd: 0.5 },
  "agent.title": { title: "t" },
  "agent.notice": { severity: "info", text: "t" },
  "agent.permission_granted": { title: "t", optionId: "o" },
  "agent.other": { name: "n", data: { ofAgents: 1 } },
};
const KINDS = Object.keys(EVENTS) as RunEventKind[];

let judge: AnswerJudge;
beforeAll(async () => {
  judge = new AnswerJudge(JSON.parse(await openapiDocument()));
});

test.each(KINDS)("the members of %s are described, and no others", (kind) => {
  const event = told(kind);

  expect(judge.judgeNamed("RunEvent", event)).toBeUndefined();
  expect(judge.judgeNamed("RunEvent", { ...event, undescribed: 1 })).toContain(
    "must NOT have additional properties",
  );
});

test("member names are snake_case, except in values that an agent chose", () => {
  const names = new Set(KINDS.flatMap((kind) => namesIn(told(kind))));

  expect(Array.from(names).filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual(["ofAgents"]);
  expect(told("agent.tool_call")).toMatchObject({
    tool_call_id: "t",
    content: [
      {},
      { old_text: null, new_text: "n" },
      { terminal_id: "t" },
      { data: { ofAgents: "any shape" } },
    ],
    raw_input: { ofAgents: "any shape" },
    raw_output: [{ ofAgents: "too" }],
  });
});

test("members have the names that they have elsewhere in the API", () => {
  const artifact = { type: "FILE", filePath: "a/b", fileName: "b", mimeType: "text/plain" } as const;
  const event = shown({ kind: "artifact.added", artifactId: "a", version: 1, artifact });

  expect(told("turn.started")).toMatchObject({ followup_ids: ["f"] });
  expect(told("followup.received")).toMatchObject({ followup_id: "f" });
  expect(event).toMatchObject({
    artifact_uid: "a",
    artifact: { type: "FILE", filepath: "a/b", filename: "b", mime_type: "text/plain" },
  });
});

test("the schema accepts an unknown kind with any members", () => {
  const event = { ...told("agent.title"), kind: "moon.landed", crew: 3 };

  expect(judge.judgeNamed("RunEvent", event)).toBeUndefined();
});

function told(kind: RunEventKind): object {
  return shown({ kind, ...EVENTS[kind] } as RunEventBody);
}

function shown(body: RunEventBody): object {
  const [runId, at] = ["0198f3a2-6c1e-7b90-8f53-2f1f6e0c9a11" as RunId, new Date(0)];
  return eventJson({ runId, seq: 1, turn: 0, at, body });
}

function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(namesIn)];
}
