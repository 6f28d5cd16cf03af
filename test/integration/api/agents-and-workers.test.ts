import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LeaseToken } from "../../../src/core/basics/ids.ts";
import { START_BOUNDS } from "../../../src/core/model/workers/start-durations.ts";
import type { Worker } from "../../../src/core/model/workers/worker.ts";
import { StartTimes } from "../../../src/core/work/log/start-times.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { waitFor } from "../../support/wait-for.ts";
import { call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("the agent catalogue", () => {
  test("the catalogue lists the agents with their needs and models", async () => {
    const { body } = await call(harness, "/api/v1/agent/catalogue");

    expect(body.agents.map(({ name }: { name: string }) => name)).toEqual([
      "demo",
      "codex",
      "claude",
      "opencode",
      "gemini",
      "qwen",
      "copilot",
    ]);
    expect(body.agents[2]).toMatchObject({
      ...{ name: "claude", version: "0.100.0", installed: false, usable: false, is_default: false },
      needs: ["Claude Code needs ANTHROPIC_API_KEY.", expect.stringMatching(/^It is installed when/)],
    });
    expect(body.agents[0]).toMatchObject({
      name: "demo",
      installed: true,
      is_default: true,
      needs: [],
      usable: true,
      license: "Apache-2.0",
      models: [{ id: "demo", provider: "UNKNOWN", vision_supported: true }],
    });
  });

  test("the list of models has those of the usable agents, and the default model", async () => {
    const { body } = await call(harness, "/api/v1/agent/models");

    expect(body.default_model_id).toBe("demo");
    expect(body.models).toMatchObject([{ id: "demo", display_name: "No model" }]);
  });

  test("testing an agent creates a real run, once per idempotency key", async () => {
    const headers = { "idempotency-key": "try" };
    const test = { method: "POST", headers };
    const first = await call(harness, "/api/v1/agent/catalogue/demo/test", test);
    const again = await call(harness, "/api/v1/agent/catalogue/demo/test", test);

    const run = (await call(harness, `/api/v1/agent/runs/${first.body.run_id}`)).body;
    expect(again.body.run_id).toBe(first.body.run_id);
    expect(run).toMatchObject({
      state: "QUEUED",
      title: "Test of Demo agent (no model)",
      agent_config: { harness: { type: "demo" } },
      metadata: { purpose: "agent-test" },
    });
  });

  test("an unknown agent is not found, and a key that may only read tests no agent", async () => {
    const reader = await harness.addUser("reader", { scopes: ["runs:read"] });
    const tried = (name: string, key = harness.key) =>
      call(harness, `/api/v1/agent/catalogue/${name}/test`, { method: "POST", key });

    expect([(await tried("none")).status, (await tried("demo", reader)).status]).toEqual([404, 403]);
  });
});

test("a model that no agent names is accepted and returned", async () => {
  const config = { model_id: "gpt-unheard-of", harness: { model_id: "another" } };

  const id = await createRun(harness, { config });

  expect((await call(harness, `/api/v1/agent/runs/${id}`)).body.agent_config).toMatchObject(config);
});

describe("workers", () => {
  test("connected workers are listed by their names", async () => {
    const host = `box-${randomUUID()}`;
    for (const worker of [aWorker({ host }), aWorker({ host }), aWorker()]) {
      await harness.storage.workers.beat(worker);
    }

    const { body } = await call(harness, "/api/v1/agent/connected-self-hosted-workers");

    const times = { connected_at: expect.any(String), last_seen_at: expect.any(String) };
    expect(body.workers).toEqual([{ worker_host: host, connection_count: 2, disk_full_count: 0, ...times }]);
  });

  test("the answer to a new run says whether workers of the requested name are absent, busy, or free for others first", async () => {
    const host = `box-${randomUUID()}`;
    const worker = aWorker({ host, slots: 2 });
    const cancel = (id: string) => call(harness, `/api/v1/agent/runs/${id}/cancel`, { method: "POST" });
    const capacityFor = async (worker_host?: string) => {
      harness.clock.aheadMs += 2_000;
      const body = { prompt: "x", ...(worker_host === undefined ? {} : { config: { worker_host } }) };
      const { at_capacity, run_id } = (await call(harness, "/api/v1/agent/runs", { body })).body;
      await cancel(run_id);
      return at_capacity;
    };
    const queueRun = () => createRun(harness, { config: { worker_host: host } });

    const absent = await capacityFor(host);
    await harness.storage.workers.beat(worker);
    const free = await capacityFor(host);
    const queued = [await queueRun(), await queueRun(), await queueRun()];
    const behind = await capacityFor(host);
    await Promise.all(queued.map(cancel));
    const freeAgain = await capacityFor(host);
    await Promise.all([holdRun(worker), holdRun(worker)]);
    const busy = await capacityFor(host);

    expect([absent, free, behind, freeAgain, busy]).toEqual([true, false, true, false, true]);
    expect(await capacityFor()).toBe(false);
  });

  test("the capacity in the answer is that of the worker name that a routing rule sets", async () => {
    const match = { sources: ["API"], text: ["far away"] };
    const rule = { name: "far", match, config: { worker_host: `box-${randomUUID()}` } };
    await harness.storage.workers.beat(aWorker());
    const { status } = await call(harness, "/api/v1/agent/routing-rules", { body: rule });
    const capacityFor = async (prompt: string) =>
      (await call(harness, "/api/v1/agent/runs", { body: { prompt } })).body.at_capacity;
    harness.clock.aheadMs += 2_000;

    expect([status, await capacityFor("Do it far away"), await capacityFor("Do it here")]).toEqual([
      201,
      true,
      false,
    ]);
  });

  test("the metrics count what waits, up to what waits for too long", async () => {
    const figures = async () => {
      const { text } = await call(harness, "/metrics");
      const names = [
        "waiting_runs",
        "oldest_wait_seconds",
        "undecided_events",
        "late_notices",
        "dead_notices",
      ];
      return names.map((name) =>
        Math.floor(Number(text.match(new RegExp(`^errand_${name} (\\S+)$`, "m"))?.[1])),
      );
    };
    const before = await figures();
    await createRun(harness);
    await withConnection(
      harness.databaseUrl,
      { applicationName: "errand tests", queryLimitMs: 30_000 },
      async (client) => {
        await client.query("UPDATE run_queue SET queued_at = now() - interval '1 hour'");
        await client.query(`
        INSERT INTO inbox_events (id, adapter, ordering_key, delivery_id, name, body, received_at, disposition)
        SELECT gen_random_uuid(), 'chat', 'k', 'd' || n, 'message', '', now() - n * interval '4 minutes', given
        FROM unnest(ARRAY[NULL, NULL, 'ignored']) WITH ORDINALITY AS events (given, n)`);
        const thread = randomUUID();
        await client.query(
          "INSERT INTO threads (id, adapter, installation, key) VALUES ($1::uuid, 'chat', 'i', 'k')",
          [thread],
        );
        await client.query(
          `INSERT INTO outbox_deliveries (uid, thread_id, message_key, notice, state, created_at)
         SELECT gen_random_uuid(), $1::uuid, 'm', '{}', given, now() - n * interval '4 minutes'
         FROM unnest(ARRAY['waiting', 'waiting', 'dead', 'sent']) WITH ORDINALITY AS notices (given, n)`,
          [thread],
        );
      },
    );

    const [waiting = 0, seconds, undecided, late, dead] = await figures();

    expect(before.slice(2)).toEqual([0, 0, 0]);
    expect(waiting).toBe((before[0] ?? 0) + 1);
    expect([seconds, undecided, late, dead]).toEqual([3_600, 1, 1, 1]);
  });

  test("the metrics have the disk of each live worker, for operators only", async () => {
    const used = { workspaces: 3_000, environments: 0, mirrors: 20, agents: 100 };
    const worker = aWorker({ diskUse: { freeBytes: 5_000, takesRuns: false, used, orphans: 2 } });
    const { id } = worker;
    await harness.storage.workers.beat(worker);
    const member = await harness.addUser("member");

    const { status, text } = await call(harness, "/metrics");
    const refused = await call(harness, "/metrics", { key: member });

    expect(status).toBe(200);
    expect(text.split("\n")).toEqual(
      expect.arrayContaining([
        "# TYPE errand_worker_disk_free_bytes gauge",
        `errand_worker_disk_free_bytes{worker="${id}"} 5000`,
        `errand_worker_disk_used_bytes{worker="${id}",kind="workspaces"} 3000`,
        `errand_worker_takes_runs{worker="${id}"} 0`,
        `errand_worker_orphans_ended{worker="${id}"} 2`,
      ]),
    );
    expect(refused.status).toBe(403);
  });

  test("the metrics have the durations of the starts of each live worker as a histogram", async () => {
    const times = new StartTimes();
    for (const ms of [20, 40, 400_000]) {
      times.add("first_word", ms);
    }
    const worker = aWorker({ starts: times.durations });
    const labels = `worker="${worker.id}",phase="first_word"`;
    await harness.storage.workers.beat(worker);

    const { text } = await call(harness, "/metrics");

    const counted = text.split("\n").filter((line) => line.includes(worker.id) && line.includes("start"));
    expect(text).toContain("# TYPE errand_run_start_seconds histogram");
    expect(counted).toHaveLength(START_BOUNDS.length + 3);
    expect(counted).toEqual(
      expect.arrayContaining([
        `errand_run_start_seconds_bucket{${labels},le="0.01"} 0`,
        `errand_run_start_seconds_bucket{${labels},le="0.025"} 1`,
        `errand_run_start_seconds_bucket{${labels},le="300"} 2`,
        `errand_run_start_seconds_bucket{${labels},le="+Inf"} 3`,
        `errand_run_start_seconds_sum{${labels}} 400.06`,
        `errand_run_start_seconds_count{${labels}} 3`,
      ]),
    );
  });

  test("the metrics have the bytes that the database stores for runs", async () => {
    const [open, ended] = [await createRun(harness), await createRun(harness)];
    await call(harness, `/api/v1/agent/runs/${ended}/cancel`, { method: "POST" });
    await storeFiles(open, { checkpoint: 30_000 });
    await storeFiles(ended, { checkpoint: 20_000, checkpointDelta: 4_000, workCheckpoint: 1_000 });

    harness.clock.aheadMs += 60_000;

    const text = await waitFor(
      async () => {
        const answer = await call(harness, "/metrics");
        return /^errand_stored_bytes_age_seconds \d$/m.test(answer.text) ? answer.text : undefined;
      },
      { what: "a new measurement" },
    );

    const stored = (kind: string) =>
      Number(text.match(new RegExp(`^errand_stored_bytes\\{kind="${kind}"\\} (\\d+)$`, "m"))?.[1]);
    expect(stored("checkpoints")).toBeGreaterThanOrEqual(30_000);
    expect(stored("checkpoints")).toBeLessThan(31_000);
    expect(stored("checkpoints_of_ended_runs")).toBeGreaterThanOrEqual(25_000);
    expect(stored("checkpoints_of_ended_runs")).toBeLessThan(26_000);
    expect(stored("artifacts")).toBe(0);
    expect(stored("events")).toBeGreaterThan(0);
  });
});

/** Stores blobs of these sizes, which the run names. */
async function storeFiles(runId: string, sizes: Readonly<Record<string, number>>): Promise<void> {
  const blobs = Object.entries(sizes).map(([name, size]) => ({
    name,
    id: randomUUID(),
    bytes: randomBytes(size),
  }));
  const session = { applicationName: "errand tests", queryLimitMs: 30_000 };
  await withConnection(harness.databaseUrl, session, async (client) => {
    for (const { bytes, id } of blobs) {
      await client.query("INSERT INTO blobs (id, bytes) VALUES ($1, $2)", [id, bytes]);
    }
  });
  const named = Object.fromEntries(blobs.map(({ id, name }) => [name, id]));
  await harness.edit(runId, (edit) => edit.set(named));
}

function aWorker(changes: Partial<Worker> = {}): Worker {
  return { id: randomUUID(), slots: 4, sandbox: { name: "local", isolated: false }, ...changes };
}

async function holdRun({ id: worker }: Worker): Promise<void> {
  const id = await createRun(harness);
  const token = randomUUID() as LeaseToken;
  await harness.edit(id, (edit) => edit.grantLease({ token, worker, ttlMs: 60_000 }));
}
