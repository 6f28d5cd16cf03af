import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OzAPI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  UnprocessableEntityError,
} from "oz-agent-sdk";
import { Client as Database } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/app/system.ts";
import type { RunId } from "../../src/core/basics/ids.ts";
import { NoticeWriter } from "../../src/core/runs/notice-writer.ts";
import { RunEdit } from "../../src/core/runs/run-edit.ts";
import { Database as Pool } from "../../src/storage/database.ts";
import { createPrismaStorage } from "../../src/storage/prisma-storage.ts";
import { reasonToSkipGit } from "../support/git-program.ts";
import { GitRepositories } from "../support/git-repositories.ts";
import { GitServer } from "../support/git-server.ts";
import { NO_JOBS } from "../support/job-inserts.ts";
import { SILENT_LOG } from "../support/logs.ts";
import { type Service, startService } from "../support/service.ts";
import { SILENT_PUBSUB } from "../support/silent-pubsub.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The public client library, unchanged. Only the address and the key are those of the service. */
type Client = OzAPI;
type RunListQuery = NonNullable<Parameters<Client["agent"]["runs"]["list"]>[0]>;
type RunItem = Awaited<ReturnType<Client["agent"]["runs"]["retrieve"]>>;
/** Members that the client does not know. */
interface Answered {
  readonly warnings?: readonly string[];
  readonly result?: { readonly text: string };
}

/** Says which of two secrets the agent has. */
const PRINT_BOTH = 'shell echo "(of $WANTED and of$OTHER)" > both.txt\nread both.txt';

const SECRET_KEY = "the secret key of a test, 32 characters and more";
const ENDED = ["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"];

let database: TestDatabase;
let dataDir: string;
let repositories: GitRepositories;
let git: GitServer;
let service: Service;
let client: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "errand-client-"));
  repositories = await GitRepositories.create();
  git = await GitServer.start(repositories.root);
  service = await startService(dataDir, {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: SECRET_KEY,
    ERRAND_MAX_STREAMS: "1",
    ERRAND_GIT_URL: git.url,
  });
  client = clientWith(service.apiKey);
});

afterAll(async () => {
  await service.end("SIGTERM");
  await database.drop();
  await git.stop();
  await repositories.remove();
  await rm(dataDir, { recursive: true, force: true });
});

function clientWith(apiKey: string, maxRetries = 2): Client {
  return new OzAPI({ apiKey, baseURL: `${service.url}/api/v1`, maxRetries });
}

describe("the public client creates, polls, steers and cancels", () => {
  test("the public client follows a run from creation to answer and sends a follow-up", async () => {
    const created = await client.agent.run({ prompt: "write a.txt hello", title: "By the client" });
    const done = await untilEnded(created.run_id);

    await client.post(`/agent/runs/${created.run_id}/followups`, { body: { message: "read a.txt" } });
    const again = await untilEnded(created.run_id);

    expect(created).toMatchObject({ state: "QUEUED", task_id: created.run_id });
    expect(done).toMatchObject({ state: "SUCCEEDED", title: "By the client", is_sandbox_running: false });
    expect(again.state).toBe("SUCCEEDED");
    expect(Date.parse(again.updated_at)).toBeGreaterThan(Date.parse(done.updated_at));
  });

  test("the public client cancels a run twice and gets the bare id", async () => {
    const { run_id } = await client.agent.run({ prompt: "sleep 600" });

    const answers = [await client.agent.runs.cancel(run_id), await client.agent.runs.cancel(run_id)];

    expect(answers).toEqual([run_id, run_id]);
    expect((await untilEnded(run_id)).state).toBe("CANCELLED");
  });

  test("the public client sends config and receives it resolved as agent_config", async () => {
    const config = { name: "nightly", model_id: "m", base_prompt: "Be brief." };
    const { run_id } = await client.agent.run({ prompt: "say hi", config });

    const { agent_config, creator, source } = await client.agent.runs.retrieve(run_id);

    expect(agent_config).toMatchObject({ name: "nightly", model_id: "m", base_prompt: "Be brief." });
    expect(creator).toMatchObject({ type: "user", uid: expect.any(String) });
    expect(source).toBe("API");
    await untilEnded(run_id);
  });
});

describe("the public client continues a failed run", () => {
  test("an environment keeps it for some minutes; in the configuration of a run they are named as ignored", async () => {
    const minutes = { failure_session_retention_minutes: 30 };
    const body = { config: { name: "debugged", ...minutes } };
    const made = await client.post("/agent/environments", { body }).asResponse();
    const { uid } = (await made.json()) as { uid: string };
    const config = { environment_id: uid, ...minutes };
    const created = await client.agent.run({ prompt: "write kept.txt evidence; fail 401", config });
    const failed = await untilFailed(created.run_id);

    await client.post(`/agent/runs/${created.run_id}/followups`, { body: { message: "read kept.txt" } });
    const continued: RunItem & Answered = await untilEnded(created.run_id);

    expect(made.headers.get("errand-ignored")).toBeNull();
    expect(created).toMatchObject({ ignored: ["config.failure_session_retention_minutes"] });
    expect(failed).toMatchObject({
      state: "FAILED",
      is_sandbox_running: true,
      status_message: { session_debug_until: expect.any(String) },
    });
    expect(continued).toMatchObject({
      state: "SUCCEEDED",
      result: { text: expect.stringContaining("evidence") },
    });
    expect(continued.status_message ?? {}).not.toHaveProperty("session_debug_until");
  });
});

describe("the public client limits the secrets of a run", () => {
  test("its config.secrets comes back, and the agent gets no other secret of the team", async () => {
    for (const name of ["WANTED", "OTHER"]) {
      await client.put(`/agent/secrets/${name}`, { body: { value: `value of ${name}` } });
    }
    const secrets = [{ name: "WANTED" }, { name: "GONE" }];
    const config = { secrets } as OzAPI.AmbientAgentConfig;

    const { run_id } = await client.agent.run({ prompt: PRINT_BOTH, config });
    const run: RunItem & Answered = await untilEnded(run_id);

    expect(run.agent_config).toMatchObject({ secrets });
    expect(run.warnings).toEqual([
      "The secret GONE, which the configuration of this run names, does not exist.",
    ]);
    expect(run.result?.text).toContain("(of [redacted] and of)");
  });
});

describe("the public client downloads a picture that a tool of the agent returned", () => {
  test("each picture is a screenshot of the run once, and its conversation gives its bytes", async () => {
    const { run_id } = await client.agent.run({ prompt: "picture; picture" });
    const run = await untilEnded(run_id);
    const { runs } = await client.agent.runs.list({ artifact_type: "SCREENSHOT" as "PLAN" });

    expect(run.artifacts).toMatchObject([
      { artifact_type: "SCREENSHOT", data: { mime_type: "image/png", description: "Take a picture" } },
    ]);
    expect(runs.map((each) => each.run_id)).toEqual([run_id]);
    const { artifact_uid: uid } = Object(run.artifacts?.[0]?.data);
    const artifact = await client.get(`/agent/artifacts/${uid}`);
    const path = `/agent/conversations/${run.conversation_id}/screenshots/${uid}/download`;
    const download = await client.get(path, { __binaryResponse: true }).asResponse();

    expect(artifact).toMatchObject({
      artifact_type: "SCREENSHOT",
      data: { content_type: "image/png", description: "Take a picture" },
    });
    expect(Object.fromEntries(download.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": expect.stringContaining("screenshot.png"),
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect(
      Buffer.from(await download.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  });
});

describe("the public client lists", () => {
  test("the public client lists runs by each of its filters", async () => {
    const { uid } = await client.post<{ uid: string }>("/agent/environments", {
      body: { config: { name: "for the list" } },
    });
    const before = new Date();
    const { run_id } = await client.agent.run({
      prompt: "write artifacts/report.txt found",
      title: "Findable needle",
      config: { name: "listed", model_id: "list-model", environment_id: uid },
    });
    const run = await untilEnded(run_id);
    const later = new Date(Date.now() + 60_000).toISOString();
    const creator = run.creator?.uid ?? "";
    const holding = [
      { name: "listed" },
      { model_id: "list-model" },
      { creator, name: "listed" },
      { source: "API", name: "listed" },
      { state: ["SUCCEEDED" as const, "FAILED" as const], name: "listed" },
      { environment_id: uid },
      { created_after: before.toISOString(), created_before: later, name: "listed" },
      { updated_after: before.toISOString(), name: "listed" },
      { q: "needle" },
    ] satisfies Parameters<Client["agent"]["runs"]["list"]>[0][];
    const failing = [
      { name: "another" },
      { model_id: "another" },
      { creator: "00000000-0000-7000-8000-00000000ffff" },
      { source: "SLACK" },
      { state: ["QUEUED" as const], name: "listed" },
      { environment_id: "empty-environment", name: "listed" },
      { created_before: before.toISOString(), name: "listed" },
      { updated_after: later },
      { q: "haystack" },
      { skill: "acme/tools:none" },
      { skill_spec: "acme/tools:none" },
      { schedule_id: "00000000-0000-7000-8000-00000000ffff" },
      { artifact_type: "PULL_REQUEST" },
    ] satisfies Parameters<Client["agent"]["runs"]["list"]>[0][];

    const idsBy = async (query: object) =>
      (await client.agent.runs.list(query)).runs.map((item) => item.run_id);

    for (const query of holding) {
      expect([query, await idsBy(query)]).toEqual([query, [run_id]]);
    }
    for (const query of failing) {
      expect([query, await idsBy(query)]).toEqual([query, []]);
    }
  });

  test("the public client lists runs by their schedule and by their artifacts", async () => {
    const { run_id: planned } = await client.agent.run({ prompt: "say hi" });
    await untilEnded(planned);
    await addPlan(planned);
    const { schedules } = client.agent;
    const schedule = { name: "Due", cron_schedule: "0 3 * * *", prompt: "say hi", enabled: true };
    const { id } = await schedules.create(schedule);
    await makeDue(id);
    // The edit triggers the schedule for the time that has passed.
    await schedules.update(id, schedule);
    const runsOf = async (query: RunListQuery) => (await client.agent.runs.list(query)).runs;

    const fired = await waitFor(async () => (await runsOf({ schedule_id: id }))[0], {
      what: "the firing",
      timeoutMs: 20_000,
    });
    await untilEnded(fired.run_id);
    const [ofSchedule, withPlan] = [
      await runsOf({ schedule_id: id }),
      await runsOf({ artifact_type: "PLAN" }),
    ];
    await schedules.delete(id);

    expect(ofSchedule).toMatchObject([
      { run_id: fired.run_id, source: "SCHEDULED_AGENT", schedule: { schedule_id: id } },
    ]);
    expect(withPlan).toMatchObject([
      { run_id: planned, artifacts: [{ artifact_type: "PLAN", data: { document_uid: "the plan" } }] },
    ]);
  });

  const noGit = reasonToSkipGit();
  test.skipIf(noGit !== undefined)("the public client lists skills, and runs by their skill", async () => {
    const skill_path = ".agents/skills/deploy/SKILL.md";
    const spec = `acme/tools:${skill_path}`;
    const text = "---\nname: deploy\ndescription: Deploys.\n---\nsay deployed";
    await repositories.commit("acme/tools", { [skill_path]: text });
    const { uid } = await client.post<{ uid: string }>("/agent/environments", {
      body: { config: { name: "tools", github_repos: [{ owner: "acme", repo: "tools" }] } },
    });
    const { run_id: plain } = await client.agent.run({ prompt: "say hi" });
    const unused = await client.agent.list({ repo: "acme/tools" });

    const { run_id } = await client.agent.run({ prompt: "say hi", skill: "acme/tools:deploy" });
    await Promise.all([plain, run_id].map(untilEnded));
    const used = await client.agent.list({ sort_by: "last_run", refresh: true });
    const lists = [
      await client.agent.runs.list({ skill: spec }),
      await client.agent.runs.list({ skill_spec: spec }),
    ];

    const variant = {
      id: spec,
      base_prompt: "say deployed",
      description: "Deploys.",
      environments: [{ uid, name: "tools" }],
      source: { owner: "acme", name: "tools", skill_path },
    };
    const last_run_timestamp = expect.stringMatching(/^\d{4}-.+Z$/);
    expect(unused).toMatchObject({ agents: [{ name: "deploy", variants: [variant] }] });
    expect(used).toMatchObject({
      agents: [{ name: "deploy", variants: [{ ...variant, last_run_timestamp }] }],
    });
    expect(lists.map(({ runs }) => runs.map((run) => run.run_id))).toEqual([[run_id], [run_id]]);
    expect(lists[0]?.runs[0]?.agent_skill).toMatchObject({ name: "deploy", full_path: skill_path });
  });

  test("the public client reads a list page by page to its end", async () => {
    const config = { name: "paged" };
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await client.agent.run({ prompt: "say hi", config })).run_id);
    }
    await Promise.all(ids.map(untilEnded));

    const walked: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { name: "paged", limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const { runs, page_info } = await client.agent.runs.list(query);
      walked.push(...runs.map(({ run_id }) => run_id));
      cursor = page_info.has_next_page ? page_info.next_cursor : undefined;
    } while (cursor !== undefined);

    expect(walked.toSorted()).toEqual(ids.toSorted());
  });
});

describe("the public client and schedules", () => {
  test("the public client creates, pauses, resumes and deletes a schedule", async () => {
    const { schedules } = client.agent;
    const created = await schedules.create({ name: "Nightly", cron_schedule: "0 3 * * *", prompt: "say hi" });

    const paused = await schedules.pause(created.id);
    const resumed = await schedules.resume(created.id);
    const changed = await schedules.update(created.id, {
      name: "Nightly",
      cron_schedule: "30 4 * * 1",
      prompt: "say hello",
      enabled: true,
    });
    const listed = await schedules.list();
    const deleted = await schedules.delete(created.id);

    expect(created).toMatchObject({ enabled: true, cron_schedule: "0 3 * * *" });
    expect([paused.enabled, resumed.enabled]).toEqual([false, true]);
    expect(changed).toMatchObject({ id: created.id, cron_schedule: "30 4 * * 1", prompt: "say hello" });
    expect(listed.schedules.map(({ id }) => id)).toEqual([created.id]);
    expect(deleted).toMatchObject({ success: true });
    await expect(schedules.retrieve(created.id)).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("the error classes of the public client", () => {
  test("the public client has error classes for invalid input, unknown ids, and missing or weak keys", async () => {
    const unknown = "00000000-0000-7000-8000-00000000ffff";
    const { key: readOnly } = await client.post<{ key: string }>("/agent/keys", {
      body: { name: "reads", scopes: ["runs:read"] },
    });

    await expect(client.agent.runs.list({ limit: 0 })).rejects.toBeInstanceOf(BadRequestError);
    await expect(client.agent.runs.retrieve(unknown)).rejects.toBeInstanceOf(NotFoundError);
    await expect(clientWith("nobody's").agent.runs.list()).rejects.toBeInstanceOf(AuthenticationError);
    await expect(clientWith(readOnly).agent.run({ prompt: "x" })).rejects.toBeInstanceOf(
      PermissionDeniedError,
    );
  });

  test("the public client shows a readable message if a run can no longer be cancelled", async () => {
    const { run_id } = await client.agent.run({ prompt: "say hi" });
    await untilEnded(run_id);

    const error = await client.agent.runs.cancel(run_id).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, error: { error: expect.any(String), retryable: false } });
  });

  test("the public client reports an outdated answer and an idempotency key of another request", async () => {
    const { run_id } = await client.agent.run({ prompt: "say hi" });
    const answerLate = () =>
      client.post(`/agent/runs/${run_id}/permissions/gone`, { body: { option_id: "allow" } });
    const headers = { "Idempotency-Key": "one and the same" };
    await client.agent.run({ prompt: "say one" }, { headers });

    await expect(answerLate()).rejects.toBeInstanceOf(ConflictError);
    await expect(client.agent.run({ prompt: "say two" }, { headers })).rejects.toBeInstanceOf(
      UnprocessableEntityError,
    );
  });

  test("the public client reports too many streams of one key", async () => {
    const { run_id } = await client.agent.run({ prompt: "sleep 600" });
    const options = { headers: { accept: "text/event-stream" }, maxRetries: 0 };
    const open = await client.get(`/agent/runs/${run_id}/events`, options).asResponse();

    const refused = client.get(`/agent/runs/${run_id}/events`, options).asResponse();

    await expect(refused).rejects.toBeInstanceOf(RateLimitError);
    await open.body?.cancel();
    await client.agent.runs.cancel(run_id);
  });

  test("the public client reports server errors, timeouts, refused connections and its own abort", async () => {
    const impatient = clientWith(service.apiKey, 0);
    const unreachable = new OzAPI({ apiKey: "x", baseURL: "http://127.0.0.1:1/api/v1", maxRetries: 0 });
    await allowConnections(false);
    const stop = new AbortController();
    const requests = [
      impatient.agent.runs.retrieve("00000000-0000-7000-8000-00000000ffff"),
      impatient.agent.runs.list({}, { timeout: 1 }),
      unreachable.agent.runs.list(),
      impatient.agent.runs.list({}, { signal: stop.signal }),
    ];
    stop.abort();
    const outcomes = await Promise.allSettled(requests);

    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.constructor)).toEqual([
      InternalServerError,
      APIConnectionTimeoutError,
      APIConnectionError,
      APIUserAbortError,
    ]);
    await allowConnections(true);
    await waitFor(async () => (await fetch(`${service.url}/readyz`)).ok, { what: "the service to be ready" });
  });
});

/** Makes the database refuse all connections, as it does while it starts or has too many. */
async function allowConnections(isAllowed: boolean): Promise<void> {
  const url = new URL(database.url);
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  const client = new Database({ connectionString: url.href });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
  if (!isAllowed) {
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
  }
  await client.end();
}

/** Makes the schedule due, as if no process had run at its due time. */
async function makeDue(scheduleId: string): Promise<void> {
  const client = new Database({ connectionString: database.url });
  await client.connect();
  const missed = "UPDATE schedules SET next_run_at = now() - interval '5 hours' WHERE id = $1";
  await client.query(missed, [scheduleId]);
  await client.end();
}

/** Stores a plan of the run as a worker would. */
async function addPlan(runId: string): Promise<void> {
  const pool = new Pool({ url: database.url, maxConnections: 1, log: SILENT_LOG });
  const parts = { database: pool, pubsub: SILENT_PUBSUB, clock: systemClock, jobInsert: NO_JOBS };
  const writer = new NoticeWriter(() => service.url, new Map());
  await createPrismaStorage(parts).runs.change(runId as RunId, (aggregate) => {
    const edit = new RunEdit(aggregate, { now: systemClock.now(), writer });
    edit.addArtifact({ key: "plan", body: { type: "PLAN", documentUid: "the plan" } });
    return edit.done();
  });
  await pool.close();
}

/** Its agent may still live. */
function untilFailed(runId: string): Promise<RunItem> {
  const find = async () => {
    const item = await client.agent.runs.retrieve(runId);
    return item.state === "FAILED" ? item : undefined;
  };
  return waitFor(find, { what: `the failure of ${runId}`, timeoutMs: 30_000 });
}

async function untilEnded(runId: string): Promise<RunItem> {
  let item = await client.agent.runs.retrieve(runId);
  const isOver = async () => {
    item = await client.agent.runs.retrieve(runId);
    return ENDED.includes(item.state) && !item.is_sandbox_running;
  };
  await waitFor(isOver, { what: `the end of ${runId}`, timeoutMs: 30_000 });
  return item;
}
