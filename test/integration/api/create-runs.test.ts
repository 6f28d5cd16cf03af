import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Call, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const RUNS = "/api/v1/agent/runs";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const batch = (runs: unknown, options: Call = {}) =>
  call(harness, `${RUNS}/batch`, { ...options, body: { runs } });
const single = (body: object, options: Call = {}) => call(harness, RUNS, { ...options, body });
const withKey = (key: string) => ({ headers: { "idempotency-key": key } });
const idsOf = ({ body }: { body: { results: { run_id?: string }[] } }) =>
  body.results.map(({ run_id }) => run_id);

async function titles(): Promise<string[]> {
  const { body } = await call(harness, `${RUNS}?sort_by=created_at&sort_order=asc&limit=500`);
  return body.runs.map(({ title }: { title: string }) => title);
}

describe("starting several runs", () => {
  test("each run is started, in the order of the request", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `order ${index}`);

    const { body, status } = await batch(names.map((title) => ({ prompt: "do it", title })));

    expect([status, body.results.length]).toEqual([200, 50]);
    expect(body.results[0]).toMatchObject({ state: "QUEUED", at_capacity: true });
    const found = await Promise.all(
      body.results.map(async ({ run_id }: { run_id: string }) => {
        const run = await call(harness, `${RUNS}/${run_id}`);
        return run.body.title;
      }),
    );
    expect(found).toEqual(names);
  });

  test("a bad entry does not refuse the others, and its error says where it is", async () => {
    const { body, status } = await batch([
      { prompt: "good", title: null, config: { name: "", computer_use_enabled: true } },
      { title: "no task" },
      { prompt: "nul \0" },
      7,
      { prompt: "x", config: { environment_id: "0000000000000000000000" } },
      { prompt: "x", attachments: [{ file_name: "a.txt", mime_type: "text/plain", data: "%" }] },
      { prompt: "with a file", attachments: [{ file_name: "a.txt", mime_type: "text/plain", data: "YQ==" }] },
    ]);

    expect(status).toBe(200);
    const [good, noTask, nul, number, unknown, badFile, file] = body.results;
    expect(good).toMatchObject({ state: "QUEUED", ignored: ["config.computer_use_enabled"] });
    expect(file).toMatchObject({ state: "QUEUED" });
    expect(noTask).toEqual({ error: expect.objectContaining({ code: "invalid_request", status: 400 }) });
    expect(noTask.error.issues).toEqual([
      { path: "runs.1.prompt", pointer: "/runs/1/prompt", message: expect.stringContaining("is needed") },
    ]);
    expect(nul.error.issues[0]).toMatchObject({ pointer: "/runs/2/prompt" });
    expect(number.error.issues).toEqual([
      { path: "runs.3", pointer: "/runs/3", message: "must be an object" },
    ]);
    expect(unknown.error).toMatchObject({ code: "resource_not_found", status: 404 });
    expect(badFile.error.issues[0]).toMatchObject({ pointer: "/runs/5/attachments/0/data" });
  });

  test.each([[[]], [Array.from({ length: 51 }, () => ({ prompt: "x" }))], [{ prompt: "x" }], [undefined]])(
    "what is no list of 1 to 50 runs is refused",
    async (runs) => {
      const before = await titles();

      const { body, status } = await batch(runs);

      expect([status, body.code, body.issues[0].path]).toEqual([400, "invalid_request", "runs"]);
      expect(await titles()).toEqual(before);
    },
  );

  test("a repeat with the same key starts only what was not started before", async () => {
    const key = randomUUID();
    const runs = [{ prompt: "one" }, { prompt: "two", skill: "acme/unknown:none" }, { prompt: "three" }];
    const first = await batch(runs, withKey(key));

    const [again, other, onlyMore] = [
      await batch(runs, withKey(key)),
      await batch([...runs, { prompt: "four" }], withKey(key)),
      await single({ prompt: "one" }, withKey(`0 ${key}`)),
    ];

    expect(idsOf(again)).toEqual(idsOf(first));
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.body.results[1].error.code).toBe(first.body.results[1].error.code);
    expect([other.status, other.body.code]).toEqual([422, "invalid_request"]);
    expect(onlyMore.body.run_id).not.toBe(idsOf(first)[0]);
  });

  test("two identical requests at the same time start each run once", async () => {
    const key = randomUUID();
    const runs = Array.from({ length: 10 }, (_, index) => ({ prompt: "x", title: `${key} ${index}` }));

    await Promise.all([1, 2, 3].map(() => batch(runs, withKey(key))));

    const started = (await titles()).filter((title) => title.startsWith(key));
    expect(started.toSorted()).toEqual(runs.map(({ title }) => title));
  });

  test("the key of an entry is that of a single request", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const alone = await single({ prompt: "one" }, withKey(one));

    const { body } = await batch([
      { prompt: "one", idempotency_key: one },
      { prompt: "changed", idempotency_key: one },
      { prompt: "two", idempotency_key: other },
      { prompt: "two", idempotency_key: other },
      { prompt: "three", idempotency_key: "é" },
    ]);

    const [replayed, changed, first, second, bad] = body.results;
    expect(replayed.run_id).toBe(alone.body.run_id);
    expect(changed.error).toMatchObject({ status: 422, code: "invalid_request" });
    expect(second.run_id).toBe(first.run_id);
    expect(bad.error.issues[0].pointer).toBe("/runs/4/idempotency_key");
    const later = await single({ prompt: "two" }, withKey(other));
    expect(later.body.run_id).toBe(first.run_id);
  });

  test("policies and quotas apply to each entry", async () => {
    const rule = (name: string, effect: string) =>
      call(harness, "/api/v1/agent/policies", {
        body: { name, effect, match: { sources: ["CLI"], models: [name] } },
      });
    await rule("asked", "require_approval");
    await rule("denied", "deny");
    const models = ["asked", "denied", "free"];
    const headers = { "x-run-source": "CLI" };

    const { body } = await batch(
      models.map((model_id) => ({ prompt: "x", config: { model_id } })),
      { headers },
    );

    const [asked, denied, free] = body.results;
    expect([asked.state, asked.waiting_for.reason]).toEqual(["BLOCKED", "approval"]);
    expect(denied.error).toMatchObject({ code: "not_authorized", status: 403 });
    expect(free.state).toBe("QUEUED");

    const team = (await call(harness, "/api/v1/agent/whoami")).body.principal.team_uid;
    const queued = (await call(harness, `${RUNS}?state=QUEUED&limit=500`)).body.runs.length;
    const quotas = [{ name: "queued_runs", limit: queued + 2 }];
    await call(harness, `/api/v1/agent/teams/${team}/quotas`, { method: "PUT", body: { quotas } });

    const limited = await batch(Array.from({ length: 4 }, () => ({ prompt: "x" })));

    const codes = limited.body.results.map(({ error }: { error?: { status: number } }) => error?.status);
    expect(codes.toSorted()).toEqual([429, 429, undefined, undefined]);
    await call(harness, `/api/v1/agent/teams/${team}/quotas`, { method: "PUT", body: { quotas: [] } });
  });

  test("a policy says who may use a priority, and a run without one is normal", async () => {
    const rule = (name: string, effect: string, priorities: readonly string[]) =>
      call(harness, "/api/v1/agent/policies", {
        body: { name, effect, match: { actions: ["create"], priorities } },
      });
    const rules = [await rule("urgent", "deny", ["high"]), await rule("rest", "allow", ["normal", "low"])];
    const priorities = ["high", "normal", "low", undefined];

    const { body } = await batch(priorities.map((priority) => ({ prompt: "x", config: { priority } })));

    const codes = body.results.map(({ error }: { error?: { status: number } }) => error?.status);
    expect(codes).toEqual([403, undefined, undefined, undefined]);
    expect(body.results[0].error.detail).toContain('The policy "urgent" says so');
    const [issue] = body.results[0].error.issues;
    expect(issue).toMatchObject({
      pointer: "/runs/0/config/priority",
      message: 'is refused by the policy "urgent"',
    });
    const { body: run } = await call(harness, `${RUNS}/${body.results[2].run_id}`);
    expect(run.agent_config.priority).toBe("low");
    const verdicts = await Promise.all(
      priorities.map((priority) =>
        call(harness, "/api/v1/agent/policies/evaluate", { body: { action: "create", priority } }),
      ),
    );
    expect(verdicts.map(({ body: { policy } }) => policy.name)).toEqual([
      "urgent",
      "rest",
      "rest",
      expect.stringContaining("Built in"),
    ]);
    for (const { body: made } of rules) {
      await call(harness, `/api/v1/agent/policies/${made.id}`, { method: "DELETE" });
    }
  });

  test("a priority that does not exist is refused at its member", async () => {
    const { status, body } = await call(harness, `/api/v1/agent/run`, {
      body: { prompt: "x", config: { priority: "urgent" } },
    });

    expect([status, body.detail]).toEqual([400, expect.stringContaining("config.priority")]);
  });

  test("the secret of a refused webhook is not in the answer", async () => {
    const other = await harness.addUser("Colleague");
    const runs = [{ prompt: "x", webhook: { url: "https://203.0.114.7/", secret: "whsec_short" } }];

    const { body } = await batch(runs, { key: other });

    expect(body.results[0].error.issues[0].pointer).toMatch(/^\/runs\/0\/webhook/);
    expect(JSON.stringify(body)).not.toContain("whsec_short");
  });
});
