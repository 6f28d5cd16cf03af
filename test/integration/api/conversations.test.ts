import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../../src/core/basics/errors.ts";
import type { RunEventBody } from "../../../src/core/model/runs/events.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const AGENT = "/api/v1/agent";
const UNKNOWN = "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";

async function append(runId: string, ...bodies: readonly RunEventBody[]): Promise<void> {
  await harness.edit(runId, (edit) => {
    edit.set({ turn: 1 });
    for (const body of bodies) {
      edit.record(body);
    }
  });
}

const START: RunEventBody = { kind: "turn.started", followUpIds: [], again: false };

async function conversationOf(runId: string, key = harness.key) {
  const { body } = await call(harness, `${AGENT}/runs/${runId}/conversation`, { key });
  return body;
}

describe("a conversation", () => {
  test("a conversation is the same by run id and by conversation id", async () => {
    const runId = await createRun(harness, { prompt: "Say hello" });
    await append(runId, START, { kind: "agent.message", text: "Hello" });

    const byRun = await conversationOf(runId);
    const byId = await call(harness, `${AGENT}/conversations/${byRun.conversation_id}`);

    expect(byId.body).toEqual(byRun);
    expect(byRun).toMatchObject({
      steps: [
        {
          id: `${runId}:1`,
          description: "Say hello",
          steps: [],
          messages: [
            { role: "user", content: [{ type: "text", text: "Say hello" }] },
            { role: "assistant", content: [{ type: "text", text: "Hello" }] },
          ],
        },
      ],
    });
  });

  test("the blocks of a conversation have the documented names", async () => {
    const runId = await createRun(harness);
    const call = { kind: "agent.tool_call", toolCallId: "c", toolKind: "read", title: "Look" } as const;
    await append(runId, START, { ...call, status: "completed", rawOutput: { lines: 3 } });

    const { steps } = await conversationOf(runId);

    const [action, result] = steps[0].messages.slice(1);
    expect(action.content[0]).toEqual({
      type: "action",
      id: result.content[0].action_id,
      category: "files",
      name: "Look",
      input: {},
    });
    expect(result).toMatchObject({
      role: "tool",
      content: [{ type: "action_result", state: "completed", output: { lines: 3 } }],
    });
  });

  test("members in blocks are snake_case, except in values that an agent chose", async () => {
    const runId = await createRun(harness);
    const edit = { type: "diff", path: "a", oldText: null, newText: "b" } as const;
    await append(
      runId,
      START,
      {
        kind: "agent.tool_call",
        toolCallId: "1",
        toolKind: "edit",
        rawInput: { filePath: "a" },
        content: [edit],
      },
      { kind: "agent.tool_call", toolCallId: "2", rawOutput: { exitCode: 0 } },
      { kind: "artifact.added", artifactId: "u", version: 1, artifact: { type: "PLAN", documentUid: "d" } },
    );

    const { steps } = await conversationOf(runId);

    const blocks = steps[0].messages.flatMap(({ content }: { content: unknown[] }) => content);
    expect(blocks).toMatchObject([
      { type: "text" },
      { type: "action", input: { filePath: "a" } },
      {
        type: "action_result",
        output: { text: "", content: [{ type: "diff", path: "a", old_text: null, new_text: "b" }] },
      },
      { type: "action" },
      { type: "action_result", output: { exitCode: 0 } },
      { type: "event", data: { artifact_uid: "u", artifact: { document_uid: "d" } } },
    ]);
  });

  test("a conversation spans several runs, and each caller sees the runs that they may see", async () => {
    const [ann, ben] = [await harness.addUser("ann"), await harness.addUser("ben")];
    const first = await createRun(harness, { prompt: "one" }, { key: ann });
    const { conversation_id } = await conversationOf(first);
    const second = await createRun(harness, { conversation_id, prompt: "two", team: false }, { key: ann });

    const described = async (key: string) =>
      (await conversationOf(first, key)).steps.map(({ description }: { description: string }) => description);

    expect(await described(ann)).toEqual(["one", "two"]);
    expect(await described(ben)).toEqual(["one"]);
    expect(await conversationOf(second, ann)).toEqual(await conversationOf(first, ann));
  });

  test("a conversation that the caller may not see is not found", async () => {
    const [ann, ben] = [await harness.addUser("ann2"), await harness.addUser("ben2")];
    const runId = await createRun(harness, { team: false }, { key: ann });
    const { conversation_id } = await conversationOf(runId, ann);

    const paths = [`conversations/${conversation_id}`, `conversations/${UNKNOWN}`, "conversations/x"];
    const answers = await Promise.all(
      [...paths, `runs/${runId}/conversation`].map((path) => call(harness, `${AGENT}/${path}`, { key: ben })),
    );

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  test("the conversation of a long log is read page by page without losses", async () => {
    const runId = await createRun(harness);
    const words = Array.from({ length: 450 }, (_, index) => `w${index} `);
    const messages = words.map((text) => ({ kind: "agent.message", text }) as const);
    await append(runId, START, ...messages);

    const { steps } = await conversationOf(runId);

    expect(steps[0].messages[1].content[0].text).toBe(words.join(""));
  });
});

describe("continuing a conversation", () => {
  test("continuing a conversation without a prompt means to continue the work", async () => {
    const { conversation_id } = await conversationOf(await createRun(harness));

    const { status, body } = await call(harness, `${AGENT}/runs`, { body: { conversation_id } });
    const run = await call(harness, `${AGENT}/runs/${body.run_id}`);

    expect(status).toBe(200);
    expect(run.body).toMatchObject({ conversation_id, prompt: "Continue." });
  });

  test.each([["x"], [UNKNOWN]])(
    "continuing an unknown conversation (%s) is not found",
    async (conversation_id) => {
      const answer = await call(harness, `${AGENT}/runs`, { body: { prompt: "x", conversation_id } });

      expect([answer.status, answer.body.code]).toEqual([404, "resource_not_found"]);
    },
  );

  test("continuing a colleague's private conversation is not found", async () => {
    const [ann, ben] = [await harness.addUser("ann3"), await harness.addUser("ben3")];
    const { conversation_id } = await conversationOf(
      await createRun(harness, { team: false }, { key: ann }),
      ann,
    );

    const answer = await call(harness, `${AGENT}/runs`, { body: { conversation_id }, key: ben });

    expect(answer.status).toBe(404);
  });
});

describe("the timeline", () => {
  test("the timeline lists the steps of the run and has the same ids on each request", async () => {
    const runId = await createRun(harness);
    await append(
      runId,
      { kind: "attempt.started", attempt: 1, worker: "w" },
      { kind: "workspace.ready", restored: false },
      { kind: "agent.started", agent: "demo", session: "s", resumed: false },
      START,
      { kind: "agent.message", text: "chatter" },
      { kind: "turn.ended", stopReason: "end_turn", answer: "long words" },
      { kind: "attempt.ended", attempt: 1, reason: "done" },
    );

    const path = `${AGENT}/runs/${runId}/timeline`;
    const { body } = await call(harness, path);

    const types = body.events.map(({ event_type }: { event_type: string }) => event_type);
    expect(types).toEqual(["oz_run_created", "worker_container_ready", "agent_started", "vm_shutdown"]);
    expect(body.events[0]).toMatchObject({ run_id: runId, payload: { state: "QUEUED" } });
    expect((await call(harness, path)).body).toEqual(body);
    const ids = body.events.map(({ event_uuid }: { event_uuid: string }) => event_uuid);
    expect(new Set(ids).size).toBe(4);
  });

  test.each([
    ["PENDING", ["oz_run_claimed"]],
    ["CLAIMED", []],
    ["INPROGRESS", []],
    ["BLOCKED", ["oz_run_blocked"]],
    ["QUEUED", []],
    ["SUCCEEDED", ["oz_run_done"]],
    ["FAILED", ["oz_run_failed"]],
    ["ERROR", ["oz_run_errored"]],
    ["CANCELLED", ["oz_run_cancelled"]],
  ] as const)("a change to %s is shown in a timeline as %j", async (to, shown) => {
    const runId = await createRun(harness);
    await append(runId, { kind: "run.state", from: "QUEUED", to });

    const { body } = await call(harness, `${AGENT}/runs/${runId}/timeline`);

    const types = body.events.map(({ event_type }: { event_type: string }) => event_type);
    expect(types).toEqual(["oz_run_created", ...shown]);
  });

  test("the timeline names the attempt of each event", async () => {
    const runId = await createRun(harness);
    await harness.edit(runId, (edit) => edit.moveTo("PENDING"));

    const { body } = await call(harness, `${AGENT}/runs/${runId}/timeline`);

    expect(body.events[0]).not.toHaveProperty("execution_id");
    expect(body.events[1].execution_id).toBe(1);
  });

  test("a long timeline is complete, and an unreadable one is answered with an error", async () => {
    const runId = await createRun(harness);
    const blocked = { kind: "run.state", from: "INPROGRESS", to: "BLOCKED" } as const;
    const reasons = Array.from({ length: 700 }, (_, index) => `${index} ${"x".repeat(2_000)}`);
    await append(runId, ...reasons.map((reason) => ({ ...blocked, reason })));
    const path = `${AGENT}/runs/${runId}/timeline`;

    const { body } = await call(harness, path);
    const { readEvents } = harness.runs;
    harness.runs.readEvents = () => Promise.reject(new AppError("resource_unavailable", "Away."));
    const refused = await call(harness, path);
    harness.runs.readEvents = readEvents;

    const read = body.events.slice(1).map(({ payload }: { payload: { reason: string } }) => payload.reason);
    expect(read).toEqual(reasons);
    expect([refused.status, refused.body.code]).toEqual([503, "resource_unavailable"]);
  });

  test("a HEAD request does not read the timeline", async () => {
    const runId = await createRun(harness);

    const { status } = await call(harness, `${AGENT}/runs/${runId}/timeline`, { method: "HEAD" });

    expect(status).toBe(405);
  });

  test("the timeline of a colleague's private run is not found", async () => {
    const runId = await createRun(harness, { team: false });
    const key = await harness.addUser("eve");

    expect((await call(harness, `${AGENT}/runs/${runId}/timeline`, { key })).status).toBe(404);
  });
});

describe("redirects between session and conversation", () => {
  test("the public redirects give the other id and nothing else", async () => {
    const runId = await createRun(harness, { team: false });
    const { body: run } = await call(harness, `${AGENT}/runs/${runId}`);
    const { conversation_id, session_id } = run;

    const of = async (path: string) => (await call(harness, `${AGENT}/${path}/redirect`, { key: null })).body;

    expect(await of(`sessions/${session_id}`)).toEqual({ conversation_id });
    expect(await of(`conversations/${conversation_id}`)).toEqual({ session_id });
  });

  test("a conversation redirects to the session of its newest run", async () => {
    const { conversation_id } = await conversationOf(await createRun(harness));
    const second = await createRun(harness, { conversation_id });
    const { body: run } = await call(harness, `${AGENT}/runs/${second}`);

    const { body } = await call(harness, `${AGENT}/conversations/${conversation_id}/redirect`, { key: null });

    expect(body).toEqual({ session_id: run.session_id });
  });

  test.each(["sessions/x", `sessions/${UNKNOWN}`, "conversations/x", `conversations/${UNKNOWN}`])(
    "a request for %s is not redirected and does not say whether it existed",
    async (path) => {
      const answer = await call(harness, `${AGENT}/${path}/redirect`, { key: null });

      expect([answer.status, answer.body]).toEqual([200, {}]);
    },
  );
});
