import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunEventBody } from "../../../src/core/model/runs/events.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const AGENT = "/api/v1/agent";
const RUNS = `${AGENT}/runs`;
const UNKNOWN = "0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const read = async (path: string, key = harness.key) => (await call(harness, path, { key })).body;
const idsIn = async (query: string, key = harness.key): Promise<string[]> =>
  (await read(`${RUNS}?limit=500&${query}`, key)).runs.map(({ run_id }: { run_id: string }) => run_id);

describe("members of a run", () => {
  test("a run names the run at the top, when it ended, and what was submitted", async () => {
    const root = await createRun(harness, { prompt: "one" });
    const child = await createRun(harness, { prompt: "two", parent_run_id: root });
    const below = await createRun(harness, { prompt: "three", parent_run_id: child });
    await harness.edit(below, (edit) => edit.moveTo("CANCELLED"));

    const [first, last] = [await read(`${RUNS}/${root}`), await read(`${RUNS}/${below}`)];

    expect([first.root_run_id, last.root_run_id]).toEqual([root, root]);
    expect([first.finished_at, last.finished_at]).toEqual([null, expect.stringMatching(/Z$/)]);
    expect([first.submitted_prompt, last.submitted_prompt]).toEqual(["one", "three"]);
  });

  test("what was submitted includes the follow-ups before the start, but no withdrawn or later one", async () => {
    const id = await createRun(harness, { prompt: "one" });
    const send = (message: string) => call(harness, `${RUNS}/${id}/followups`, { body: { message } });
    await send("two");
    const { body } = await send("never mind");
    await call(harness, `${RUNS}/${id}/followups/${body.followup_id}`, { method: "DELETE" });
    await harness.edit(id, (edit) => {
      edit.moveTo("PENDING");
      edit.moveTo("CLAIMED");
    });
    harness.clock.aheadMs += 1_000;
    await harness.edit(id, (edit) => edit.moveTo("INPROGRESS"));
    harness.clock.aheadMs += 1_000;
    await send("three");

    expect((await read(`${RUNS}/${id}`)).submitted_prompt).toBe("one\n\ntwo");
  });
});

describe("filters of the list of runs", () => {
  test("a list by several sources has the runs of each", async () => {
    const key = await harness.addUser("ann");
    const cli = await createRun(harness, {}, { key, headers: { "x-run-source": "CLI" } });
    const local = await createRun(harness, {}, { key, headers: { "x-run-source": "LOCAL" } });
    await createRun(harness, {}, { key });

    expect((await idsIn("source=CLI&source=LOCAL&source=AUTOFIX")).toSorted()).toEqual(
      [cli, local].toSorted(),
    );
    expect(await idsIn("source=AUTOFIX")).toEqual([]);
  });

  test("a list by task status looks at the runs below for running, and at the top for the others", async () => {
    const root = await createRun(harness);
    const child = await createRun(harness, { parent_run_id: root });
    await harness.edit(root, (edit) => edit.moveTo("CANCELLED"));
    const family = async (query: string) => (await idsIn(query)).filter((id) => [root, child].includes(id));

    expect((await family("task_status=running")).toSorted()).toEqual([root, child].toSorted());
    expect((await family("task_status=cancelled")).toSorted()).toEqual([root, child].toSorted());
    expect(await family("task_status=complete&task_status=failed&task_status=blocked")).toEqual([]);
    expect((await call(harness, `${RUNS}?task_status=done`)).status).toBe(400);
  });

  test("a search for an id or an address finds that run alone", async () => {
    const id = await createRun(harness, { prompt: "find me" });
    await createRun(harness, { prompt: `about ${id}` });
    const { session_link, session_id } = await read(`${RUNS}/${id}`);

    const asked = [
      id,
      id.toUpperCase(),
      session_id,
      session_link,
      `${session_link}?share=x`,
      `${harness.url}/runs/${id}`,
    ];
    for (const q of asked) {
      expect(await idsIn(`q=${encodeURIComponent(q)}`)).toEqual([id]);
    }
    expect(await idsIn(`q=${UNKNOWN}`)).toEqual([]);
  });

  test.each(["factory_uid=f1", "factory_uid=f1&factory_uid=f2", "factory_only=true"])(
    "a list with %s is empty, because there are no factories",
    async (query) => {
      await createRun(harness);

      expect(await idsIn(query)).toEqual([]);
    },
  );

  test("a list without factories only is not filtered", async () => {
    const id = await createRun(harness);

    expect(await idsIn("factory_only=false")).toContain(id);
  });

  test("an automation is a pair of the metadata", async () => {
    const id = await createRun(harness, { metadata: { automation_id: "a1" } });

    expect(await idsIn("automation_id=a1")).toEqual([id]);
    expect(await idsIn("automation_id=a1&metadata[automation_id]=a2")).toEqual([]);
  });

  test("a list by parent, conversation and last change", async () => {
    const root = await createRun(harness);
    const child = await createRun(harness, { parent_run_id: root });
    await createRun(harness, { parent_run_id: child });
    const { conversation_id, updated_at } = await read(`${RUNS}/${root}`);

    expect(await idsIn(`parent_run_id=${root}`)).toEqual([child]);
    expect(await idsIn(`conversation_id=${conversation_id}`)).toEqual([root]);
    expect(await idsIn(`updated_before=${updated_at}`)).not.toContain(root);
    expect([await idsIn("parent_run_id=x"), await idsIn("conversation_id=x")]).toEqual([[], []]);
  });
});

describe("the newest run of a conversation", () => {
  test("a follow-up to a conversation goes to its newest run, once for each key", async () => {
    const first = await createRun(harness);
    const { conversation_id } = await read(`${RUNS}/${first}`);
    const second = await createRun(harness, { conversation_id });
    const path = `${AGENT}/conversations/${conversation_id}/followups`;
    const send = () =>
      call(harness, path, { body: { message: "go on" }, headers: { "idempotency-key": "conversation" } });

    const [sent, again] = [await send(), await send()];

    expect(sent.body).toMatchObject({ run_id: second, outcome: "queued_prompt" });
    expect(again.body).toEqual(sent.body);
    expect((await read(`${RUNS}/${second}/followups`)).followups).toHaveLength(1);
  });

  test("the transcript of a conversation is the one of its newest run", async () => {
    const id = await createRun(harness);
    const { conversation_id } = await read(`${RUNS}/${id}`);

    const { headers, status } = await call(harness, `${AGENT}/conversations/${conversation_id}/transcript`);
    const file = await call(harness, headers.get("location") ?? "", { key: null });

    expect(status).toBe(302);
    expect(JSON.parse(file.text.trim().split("\n")[0] ?? "")).toMatchObject({ seq: 1, kind: "run.created" });
  });

  test("a conversation of others is not found", async () => {
    const id = await createRun(harness, { team: false });
    const { conversation_id } = await read(`${RUNS}/${id}`);
    const key = await harness.addUser("eve");
    const of = (path: string, body?: object) =>
      call(harness, `${AGENT}/conversations/${conversation_id}/${path}`, { key, ...(body && { body }) });

    expect([(await of("transcript")).status, (await of("followups", { message: "x" })).status]).toEqual([
      404, 404,
    ]);
  });
});

describe("the run of an address", () => {
  test("an address finds the run that made what is there", async () => {
    await createRun(harness);
    const made = await createRun(harness);
    await harness.edit(made, (edit) =>
      edit.addArtifact({
        key: "https://git.example.com/acme/web/pull/3",
        body: { type: "PULL_REQUEST", url: "https://git.example.com/acme/web/pull/3", branch: "b" },
      }),
    );
    const find = (url: string, key = harness.key) =>
      call(harness, `${AGENT}/run-by-external-reference?url=${encodeURIComponent(url)}`, { key });

    expect((await find("https://git.example.com/acme/web/pull/3")).body).toEqual({ run_id: made });
    expect((await find("https://git.example.com/acme/web/pull/4")).body.code).toBe("resource_not_found");
    expect((await call(harness, `${AGENT}/run-by-external-reference`)).status).toBe(400);
  });
});

describe("the tokens of an agent", () => {
  const END: RunEventBody = {
    kind: "turn.ended",
    stopReason: "end_turn",
    answer: "done",
    usage: { inputTokens: 10, outputTokens: 2, totalTokens: 15 },
  };

  async function usageOf(agent: string, ...bodies: readonly RunEventBody[]) {
    const id = await createRun(harness, { config: { harness: { type: agent } } });
    await harness.edit(id, (edit) => {
      for (const body of bodies) {
        edit.record(body);
      }
    });
    return read(`${RUNS}/${id}/harness-usage`);
  }

  test.each([
    ["claude", "CLAUDE_CODE", { input_tokens: 20, output_tokens: 4 }],
    ["codex", "CODEX", { input_tokens: 20, output_tokens: 4, total_tokens: 30 }],
  ])("the tokens of %s are the sum of its turns", async (agent, harnessName, tokens) => {
    const { usage: _none, ...silent } = END;

    const usage = await usageOf(agent, END, END);
    const partial = await usageOf(agent, END, silent);

    expect(usage).toMatchObject({
      available: true,
      usage: {
        harness: harnessName,
        captureSequence: 2,
        metricsVersion: 1,
        snapshot: { coverage: { tokenStatus: "known" }, payload: { usage: tokens } },
      },
    });
    expect(partial.usage.snapshot.coverage.tokenStatus).toBe("partial");
  });

  test("there are no tokens of other agents, and none before the end of a turn", async () => {
    expect(await usageOf("demo", END)).toMatchObject({ available: false });
    expect(await usageOf("claude")).not.toHaveProperty("usage");
  });
});

describe("clients of another server", () => {
  test.each([
    "GET /factory",
    "POST /factory/f1/runs",
    "DELETE /factory/f1/tasks/t1",
    "GET /factory-files/schemas",
  ])("%s is refused, because there are no factories", async (route) => {
    const [method = "", path] = route.split(" ");

    const { body, status } = await call(harness, `/api/v1${path}`, { method });

    expect([status, body.code]).toEqual([403, "feature_not_available"]);
  });

  test("a path that only begins like a factory is not found", async () => {
    expect((await call(harness, "/api/v1/factoryx")).status).toBe(404);
  });

  test("the team of the key may be named, and no other", async () => {
    const { team } = await read(`${AGENT}/whoami`);
    const id = await createRun(harness);
    const named = (uid: string) => call(harness, `${RUNS}/${id}`, { headers: { "x-warp-team-uid": uid } });

    expect([(await named(team.uid)).status, (await named(UNKNOWN)).status, (await named("")).status]).toEqual(
      [200, 404, 404],
    );
  });

  test("the networks of the agents are those that the operator has set", async () => {
    expect(await read("/api/v1/networking/egress-ranges")).toEqual({ cidrs: ["203.0.113.0/24"] });
  });
});

describe("interrupting a run", () => {
  const interrupt = (id: string, options: object = {}) =>
    call(harness, `${RUNS}/${id}/interrupt`, { method: "POST", ...options });

  async function working(): Promise<string> {
    const id = await createRun(harness);
    await harness.edit(id, (edit) => {
      for (const state of ["PENDING", "CLAIMED", "INPROGRESS"] as const) {
        edit.moveTo(state);
      }
    });
    return id;
  }

  test("an interrupted run waits for instructions and says who interrupted it", async () => {
    const id = await working();

    const [first, again] = [await interrupt(id), await interrupt(id)];

    expect([first.status, first.body, again.status]).toEqual([202, {}, 202]);
    const run = await read(`${RUNS}/${id}`);
    const message = "Paused by Administrator. Write what to do next.";
    expect(run).toMatchObject({ state: "BLOCKED", waiting_for: { reason: "instructions", message } });
    expect(run.status_message.message).toBe(message);
    const { events } = await read(`${RUNS}/${id}/timeline`);
    expect(events.at(-1).event_type).toBe("oz_run_blocked");
  });

  test("a follow-up to a paused run continues it", async () => {
    const id = await working();
    await interrupt(id);

    const { body } = await call(harness, `${RUNS}/${id}/followups`, { body: { message: "go on" } });

    expect(body).toMatchObject({ state: "QUEUED", outcome: "handoff_execution" });
  });

  test("a run without a turn is a conflict that no repeat helps", async () => {
    const id = await createRun(harness);

    const { body, headers, status } = await interrupt(id);

    expect([status, body.code, headers.get("x-should-retry")]).toEqual([409, "conflict", "false"]);
  });

  test("a conversation interrupts its newest run, and names it", async () => {
    const id = await working();
    const { conversation_id } = await read(`${RUNS}/${id}`);

    const { body, status } = await call(harness, `${AGENT}/conversations/${conversation_id}/interrupt`, {
      method: "POST",
    });

    expect([status, body]).toEqual([202, { run_id: id }]);
  });
});
