import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LeaseToken, newId, type RunId } from "../../../src/core/basics/ids.ts";
import type { RunState } from "../../../src/core/model/runs/states.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const RUNS = "/api/v1/agent/runs";
const WAY: Readonly<Record<RunState, readonly RunState[]>> = {
  QUEUED: [],
  PENDING: ["PENDING"],
  CLAIMED: ["PENDING", "CLAIMED"],
  INPROGRESS: ["PENDING", "CLAIMED", "INPROGRESS"],
  BLOCKED: ["PENDING", "CLAIMED", "INPROGRESS", "BLOCKED"],
  SUCCEEDED: ["PENDING", "SUCCEEDED"],
  FAILED: ["PENDING", "FAILED"],
  ERROR: ["PENDING", "ERROR"],
  CANCELLED: ["CANCELLED"],
};

async function runIn(state: RunState): Promise<string> {
  const id = await createRun(harness);
  for (const next of WAY[state]) {
    await harness.edit(id, (edit) => edit.moveTo(next));
  }
  return id;
}

async function stateOf(id: string): Promise<string> {
  return (await call(harness, `${RUNS}/${id}`)).body.state;
}

describe("a follow-up", () => {
  test.each<[RunState, RunState, string]>([
    ["QUEUED", "QUEUED", "queued_prompt"],
    ["PENDING", "PENDING", "queued_prompt"],
    ["CLAIMED", "CLAIMED", "queued_prompt"],
    ["INPROGRESS", "INPROGRESS", "queue_pending"],
    ["SUCCEEDED", "QUEUED", "handoff_execution"],
    ["FAILED", "QUEUED", "handoff_execution"],
    ["ERROR", "QUEUED", "handoff_execution"],
    ["CANCELLED", "QUEUED", "handoff_execution"],
  ])("a follow-up to a run that is %s leaves it %s, with the outcome %s", async (before, after, outcome) => {
    const id = await runIn(before);

    const { status, body } = await call(harness, `${RUNS}/${id}/followups`, { body: { message: "go on" } });

    expect(status).toBe(200);
    expect(body).toEqual({ followup_id: expect.any(String), state: after, outcome });
    expect(await stateOf(id)).toBe(after);
  });

  test.each([
    ["an empty message", { message: "" }],
    ["a blank message", { message: " \n" }],
    ["no message", {}],
    ["a message over the limit", { message: "é".repeat(128 * 1024 + 1) }],
    ["an unknown delivery", { message: "x", delivery: "pigeon" }],
    ["no body at all", ""],
  ])("a follow-up with %s is invalid", async (_what, body) => {
    const id = await createRun(harness);

    const answer = await call(harness, `${RUNS}/${id}/followups`, { body });

    expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
  });

  test.each([
    { delivery: "steer" },
    { mode: "normal" },
    { mode: "plan" },
    { visibility: "thread" },
    { visibility: "private" },
  ])("a follow-up with %o is accepted", async (members) => {
    const id = await createRun(harness);
    const body = { message: "x", ...members };

    expect((await call(harness, `${RUNS}/${id}/followups`, { body })).status).toBe(200);
  });

  test("a follow-up to an unknown run or to a colleague's private run is not found", async () => {
    const [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
    const id = await createRun(harness, { team: false }, { key: ann });
    const send = (run: string) =>
      call(harness, `${RUNS}/${run}/followups`, { body: { message: "x" }, key: ben });

    const statuses = [await send(id), await send("x"), await send(newId(new Date()))].map(
      ({ status }) => status,
    );

    expect(statuses).toEqual([404, 404, 404]);
  });
});

test.each([
  [{}, "message: must not be empty", "must not be empty"],
  [{ message: 7 }, "message: must be a string", "must be a string"],
])("a follow-up of %j is answered with what it lacks", async (body, detail, message) => {
  const id = await createRun(harness);

  const answer = await call(harness, `${RUNS}/${id}/followups`, { body });

  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ detail, issues: [{ path: "message", message }] });
});

describe("a cancel", () => {
  test.each<RunState>(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "BLOCKED", "CANCELLED"])(
    "cancelling a run that is %s makes it CANCELLED and answers with the bare id",
    async (state) => {
      const id = await runIn(state);
      const headers = { "content-type": "application/json" };

      const answer = await call(harness, `${RUNS}/${id}/cancel`, { method: "POST", headers });

      expect([answer.status, answer.text]).toEqual([200, JSON.stringify(id)]);
      expect(answer.headers.get("content-type")).toContain("application/json");
      expect(await stateOf(id)).toBe("CANCELLED");
    },
  );

  test.each<RunState>(["SUCCEEDED", "FAILED", "ERROR"])(
    "cancelling a run that is %s is invalid",
    async (state) => {
      const id = await runIn(state);

      const answer = await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });

      expect([answer.status, answer.body.code]).toEqual([400, "invalid_request"]);
      expect(await stateOf(id)).toBe(state);
    },
  );

  test("cancelling an ended run changes nothing, and an idempotency key repeats the same answer", async () => {
    const id = await runIn("SUCCEEDED");
    const before = (await call(harness, `${RUNS}/${id}`)).body;
    const headers = { "idempotency-key": crypto.randomUUID() };
    const cancel = () => call(harness, `${RUNS}/${id}/cancel`, { method: "POST", headers });

    const [first, second] = [await cancel(), await cancel()];

    const { trace_id: _first, ...problem } = first.body;
    const { trace_id: _second, ...again } = second.body;
    expect([first.status, problem]).toEqual([second.status, again]);
    expect(first.status).toBe(400);
    expect((await call(harness, `${RUNS}/${id}`)).body).toEqual(before);
  });

  test("concurrent cancels are one cancel", async () => {
    const id = await createRun(harness);
    const cancel = () => call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });

    const answers = await Promise.all([cancel(), cancel(), cancel()]);

    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [200, JSON.stringify(id)]),
    );
    const kinds = (await harness.runs.readEvents(id as RunId, 0, 10)).map(({ body }) => body.kind);
    expect(kinds).toEqual(["run.created", "run.state"]);
  });

  test("a second cancel does not update the run", async () => {
    const id = await createRun(harness);
    const cancel = () => call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });
    await cancel();
    const { body: cancelled } = await call(harness, `${RUNS}/${id}`);

    await cancel();

    expect((await call(harness, `${RUNS}/${id}`)).body).toEqual(cancelled);
  });

  test("cancelling works by the deprecated address and with an empty object", async () => {
    const id = await createRun(harness);

    const answer = await call(harness, `/api/v1/agent/tasks/${id}/cancel`, { body: {} });

    expect([answer.status, answer.text]).toEqual([200, JSON.stringify(id)]);
  });

  test("a cancelled sandbox is shown as running while the attempt holds its lease", async () => {
    const id = await createRun(harness);
    const token = newId<LeaseToken>(new Date());
    await harness.edit(id, (edit) => {
      edit.grantLease({ token, worker: "w", ttlMs: 60_000 });
      edit.moveTo("PENDING");
    });

    await call(harness, `${RUNS}/${id}/cancel`, { method: "POST" });
    const during = (await call(harness, `${RUNS}/${id}`)).body;
    await harness.edit(id, (edit) => edit.dropLease());
    const after = (await call(harness, `${RUNS}/${id}`)).body;

    expect([during.state, during.is_sandbox_running]).toEqual(["CANCELLED", true]);
    expect([after.state, after.is_sandbox_running]).toEqual(["CANCELLED", false]);
    expect(during.status_message).toEqual({ message: "Cancelled by Administrator." });
  });
});

test("a failed run says why it failed and how long it worked", async () => {
  const id = await runIn("INPROGRESS");
  harness.clock.aheadMs += 90_500;
  const status = { message: "Out of words.", errorCode: "invalid_request", retryable: false } as const;
  await harness.edit(id, (edit) => edit.moveTo("FAILED", { status }));

  const { body } = await call(harness, `${RUNS}/${id}`);

  expect(body.status_message).toEqual({
    message: "Out of words.",
    error_code: "invalid_request",
    retryable: false,
  });
  expect(Number(/^PT(\d+(?:\.\d+)?)S$/.exec(body.run_time)?.[1])).toBeGreaterThanOrEqual(90.5);
});
