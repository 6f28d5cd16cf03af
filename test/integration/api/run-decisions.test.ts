import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { PendingPermission } from "../../../src/core/model/runs/run.ts";
import { aPolicy } from "../../support/rule-builders.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";
const OPTIONS = [
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
] as const;

let harness: ApiHarness;
let ann: string;
let ben: string;
beforeAll(async () => {
  harness = await startHarness();
  [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
});
afterAll(() => harness.close());

describe("a run that waits for approval", () => {
  beforeAll(async () => {
    const { id } = await harness.storage.people.ensure(FIRST_TEAM, "test:ann", "ann");
    const match = { principals: [id] };
    await harness.storage.policies.add(aPolicy({ effect: "require_approval", reason: "Costs.", match }));
  });

  test("a run that waits for approval is blocked and says what it waits for and why", async () => {
    const created = await call(harness, RUNS, { key: ann, body: { prompt: "x" } });

    const { body } = await call(harness, `${RUNS}/${created.body.run_id}`);
    expect([created.status, created.body.state]).toEqual([200, "BLOCKED"]);
    expect(body).toMatchObject({
      state: "BLOCKED",
      is_sandbox_running: false,
      approval: { reason: "Costs." },
      status_message: { message: "Waits for approval. Costs." },
    });
    expect(body.approval).not.toHaveProperty("decided");
    expect(body.approval.inputs).toEqual([{ text: "x", attachments: [] }]);
  });

  test("a run starts when an administrator approves it, and a second approval changes nothing", async () => {
    const id = await createRun(harness, {}, { key: ann });

    const [first, second] = [await decide(id, true), await decide(id, true)];
    const other = await decide(id, false);

    expect([first, second].map(({ status, body }) => [status, body])).toEqual([
      [200, { state: "QUEUED" }],
      [200, { state: "QUEUED" }],
    ]);
    expect([other.status, other.body.code, other.body.retryable]).toEqual([409, "conflict", false]);
    expect(other.headers.get("x-should-retry")).toBe("false");
    expect((await call(harness, `${RUNS}/${id}`)).body.approval).toMatchObject({ decided: "approved" });
    const kinds = (await harness.runs.readEvents(id as RunId, 0, 100)).map(({ body }) => body.kind);
    expect(kinds).toEqual(["run.created", "approval.requested", "approval.decided", "run.state"]);
  });

  test("a refused run is cancelled, and a follow-up requests approval again", async () => {
    const id = await createRun(harness, {}, { key: ann });

    const refused = await decide(id, false, { comment: "too dear" });
    const { body } = await call(harness, `${RUNS}/${id}`);
    const followed = await call(harness, `${RUNS}/${id}/followups`, {
      key: ann,
      body: { message: "please" },
    });
    const approved = await decide(id, true);

    expect(refused.body).toEqual({ state: "CANCELLED" });
    expect(body.status_message.message).toBe("Refused by Administrator: too dear");
    expect(followed.body.state).toBe("BLOCKED");
    expect(approved.body).toEqual({ state: "QUEUED" });
  });

  test("only administrators approve a run, and a private run is hidden from colleagues", async () => {
    const id = await createRun(harness, {}, { key: ann });
    const hidden = await createRun(harness, { team: false }, { key: ann });

    const statuses = [
      (await decide(id, true, {}, ann)).status,
      (await decide(id, true, {}, ben)).status,
      (await decide(hidden, true, {}, ben)).status,
      (await decide(randomUUID(), true)).status,
    ];

    expect(statuses).toEqual([403, 403, 404, 404]);
    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("BLOCKED");
  });

  test("an approval must be stated, and an omitted decision is invalid", async () => {
    const id = await createRun(harness, {}, { key: ann });

    for (const body of [{}, { approve: "yes", inputs_hash: "x" }, { approve: true }, ""]) {
      expect((await call(harness, `${RUNS}/${id}/approval`, { body })).status).toBe(400);
    }
  });

  test("approving a run that needs no approval is a conflict", async () => {
    expect((await decide(await createRun(harness), true)).status).toBe(409);
  });
});

describe("a question of a run", () => {
  test("a question is shown with all that an answer needs until it is answered", async () => {
    const id = await anAskingRun();
    const shown = async () => (await call(harness, `${RUNS}/${id}`)).body;

    const { permission } = await shown();
    await answerOf(id, permission.permission_id, permission.options[0].option_id);

    expect(permission).toEqual({
      permission_id: "p1",
      title: "Delete it?",
      options: [
        { option_id: "once", name: "Allow", kind: "allow_once" },
        { option_id: "no", name: "Reject", kind: "reject_once" },
      ],
      asked_at: expect.any(String),
    });
    expect(await shown()).not.toHaveProperty("permission");
  });

  test("a question shows the call itself, raw, and marks the agent's own words", async () => {
    const facts = {
      command: "rm -rf /\u200b",
      paths: ["/workspace"],
      diff: "--- a\n+++ a\n-x",
      input: '{"force":true}',
      reason: "list files",
    };
    const id = await anAskingRun(
      {},
      { ...facts, truncated: true, askedAt: new Date("2026-03-01T12:00:00Z") },
    );

    const { permission } = (await call(harness, `${RUNS}/${id}`)).body;

    expect(permission).toMatchObject({ ...facts, truncated: true, asked_at: "2026-03-01T12:00:00.000Z" });
  });

  test("a question is answered by one of its options, with the same effect as words", async () => {
    const [byOption, byWords] = [await anAskingRun(), await anAskingRun()];

    const answer = await answerOf(byOption, "p1", "once");
    const words = await call(harness, `${RUNS}/${byWords}/followups`, { body: { message: "yes" } });

    expect([answer.status, answer.body]).toEqual([200, { state: "QUEUED" }]);
    expect(words.body.state).toBe("QUEUED");
    const lastEvents = async (id: string) =>
      (await harness.runs.readEvents(id as RunId, 0, 100))
        .slice(-3)
        .map(({ body }) => ({ ...body, followUpId: "" }));
    expect(await lastEvents(byOption)).toEqual(await lastEvents(byWords));
  });

  test("one idempotency key answers a question once", async () => {
    const id = await anAskingRun();
    const headers = { "idempotency-key": randomUUID() };

    const [first, second] = [
      await answerOf(id, "p1", "no", headers),
      await answerOf(id, "p1", "no", headers),
    ];

    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replay")).toBe("true");
  });

  test("a question is not answered by the id of another question", async () => {
    const id = await anAskingRun();

    const { status, body, headers } = await answerOf(id, "p2", "once");

    expect([status, body.code, headers.get("x-should-retry")]).toEqual([409, "conflict", "false"]);
    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("BLOCKED");
  });

  test("an unknown option is refused with the list of offered options", async () => {
    const id = await anAskingRun();

    const { status, body, headers } = await answerOf(id, "p1", "other");

    expect([status, body.code, headers.get("x-should-retry")]).toEqual([400, "invalid_request", "false"]);
    expect(body.issues).toEqual([
      { path: "option_id", pointer: "/option_id", message: "must be one of: once, no" },
    ]);
    expect((await call(harness, `${RUNS}/${id}`)).body.state).toBe("BLOCKED");
  });

  test("a question is answered once", async () => {
    const id = await anAskingRun();
    await answerOf(id, "p1", "once");

    expect((await answerOf(id, "p1", "once")).status).toBe(409);
    expect((await answerOf(id, "p1", "other")).status).toBe(409);
  });

  test("a question of a hidden run is not found", async () => {
    const id = await anAskingRun({ team: false });

    const answer = await answerOf(id, "p1", "once", {}, ben);

    expect(answer.status).toBe(404);
  });
});

/** Decides about the inputs that the run has now. */
async function decide(id: string, approve: boolean, more: object = {}, key = harness.key) {
  const { approval } = (await call(harness, `${RUNS}/${id}`)).body;
  const body = { approve, inputs_hash: approval?.inputs_hash ?? "none", ...more };
  return call(harness, `${RUNS}/${id}/approval`, { body, key });
}

function answerOf(
  id: string,
  permissionId: string,
  optionId: string,
  headers: Record<string, string> = {},
  key = harness.key,
) {
  const path = `${RUNS}/${id}/permissions/${permissionId}`;
  return call(harness, path, { body: { option_id: optionId }, headers, key });
}

/** Creates a run with a question whose agent was stopped while it waited. */
async function anAskingRun(request: object = {}, facts: Partial<PendingPermission> = {}): Promise<string> {
  const id = await createRun(harness, request);
  await harness.edit(id, (edit) => {
    for (const state of ["PENDING", "CLAIMED", "INPROGRESS"] as const) {
      edit.moveTo(state);
    }
    const question = { permissionId: "p1", title: "Delete it?", options: OPTIONS, askedAt: edit.now };
    edit.set({ permission: { ...question, ...facts } });
    edit.moveTo("BLOCKED");
  });
  return id;
}
