import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Acknowledged, auditAfterKills, type SettingChange } from "../../support/kill-audit.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres-server.ts";
import { slashCommandForm } from "../../support/slack/slack-events.ts";
import { sendSlackForm } from "../../support/slack/slack-sender.ts";
import { waitFor } from "../../support/wait-for.ts";
import { FaultHarness, type Worker } from "./fault-harness.ts";

const KILLS = 23;
const CREATES = 60;
const RUNS_WITH_FOLLOW_UPS = 10;
const FOLLOW_UPS_EACH = 2;
const CANCELS = 10;
const EVENTS = 20;
const COMMANDS = 10;
/** Environments that are created and renamed. Every second one is then deleted. */
const ENVIRONMENTS = 10;
/** The longest pause before a kill. The other processes work meanwhile. */
const PAUSE_MAX_MS = 1_200;
const ANSWER_MS = 90_000;
const END_MS = 120_000;
const LIMIT_MS = 400_000;

/** The same seed gives the same pauses and the same order of requests: `ERRAND_KILL_SEED=17 npm run test:slow`. */
const seed = Number(process.env.ERRAND_KILL_SEED ?? Math.floor(Math.random() * 1_000_000));

let server: PostgresServer;
let harness: FaultHarness;
let api: Worker;
let worker: Worker;
const done = {
  prompts: [] as string[],
  followUps: [] as string[],
  cancelled: [] as string[],
  deliveryIds: [] as string[],
  changes: [] as SettingChange[],
} satisfies Acknowledged;

beforeAll(async () => {
  server = await startPostgresServer();
  harness = await FaultHarness.open({ databaseUrl: server.url, withSlack: true });
  api = await harness.start({ ERRAND_ROLE: "api" });
  worker = await harness.start({ ERRAND_ROLE: "worker", ERRAND_CONCURRENCY: "4" });
});

afterAll(async () => {
  await harness?.close();
  await server?.stop();
});

test(`${KILLS} kills lose, double, block and reorder nothing (seed ${seed})`, {
  timeout: LIMIT_MS,
}, async () => {
  const random = createRandom(seed);
  const requests = shuffled(allRequests(), random);
  const perKill = Math.ceil(requests.length / KILLS);
  const targets = [killWorker, killApi, killDatabase];
  const sent: Promise<unknown>[] = [];

  for (let kill = 0; kill < KILLS; kill += 1) {
    sent.push(...requests.slice(kill * perKill, (kill + 1) * perKill).map((request) => request()));
    await pause(random() * PAUSE_MAX_MS);
    await targets[kill % targets.length]?.();
  }
  await Promise.all(sent);

  let violations: readonly string[] = ["nothing was read"];
  const isClean = async () => {
    violations = await auditAfterKills(server.url, done);
    return violations.length === 0;
  };
  await waitFor(isClean, { what: "a clean audit", timeoutMs: END_MS, everyMs: 500 }).catch(() => undefined);
  expect(violations).toEqual([]);
  expect([done.prompts.length, done.followUps.length]).toEqual([
    CREATES + COMMANDS,
    RUNS_WITH_FOLLOW_UPS * FOLLOW_UPS_EACH,
  ]);
  expect([done.cancelled.length, done.deliveryIds.length]).toEqual([CANCELS, EVENTS]);
  expect(done.changes).toHaveLength(2.5 * ENVIRONMENTS);
  await harness.check({ acknowledged: {} });
});

async function killWorker(): Promise<void> {
  await worker.end("SIGKILL");
  worker = await harness.start({ ERRAND_ROLE: "worker", ERRAND_CONCURRENCY: "4" }, worker.dataDir);
}

async function killApi(): Promise<void> {
  await api.end("SIGKILL");
  api = await harness.start({ ERRAND_ROLE: "api" }, api.dataDir);
}

async function killDatabase(): Promise<void> {
  await server.kill9();
  await server.restart();
}

/** Each one resolves when its last answer has come. Cancels and follow-ups are for runs of the creates. */
function allRequests(): readonly (() => Promise<void>)[] {
  const creates = Array.from({ length: CREATES }, (_, index) => async () => {
    // The runs to cancel do not end by themselves.
    const isCancelled = index >= CREATES - CANCELS;
    const runId = await create(`say create ${index}${isCancelled ? "\nhang" : ""}`);
    if (isCancelled) {
      await post(`/agent/runs/${runId}/cancel`, {}, `cancel-${index}`);
      done.cancelled.push(runId);
    } else if (index < RUNS_WITH_FOLLOW_UPS) {
      await followUp(runId, index);
    }
  });
  const events = Array.from({ length: EVENTS }, (_, index) => () => mention(index));
  const commands = Array.from({ length: COMMANDS }, (_, index) => () => command(index));
  const settings = Array.from({ length: ENVIRONMENTS }, (_, index) => () => changeSettings(index));
  return [...creates, ...events, ...commands, ...settings];
}

async function create(prompt: string): Promise<string> {
  const { run_id: runId } = (await post("/agent/runs", { prompt }, prompt.replaceAll(/\W/g, "-"))) as {
    run_id: string;
  };
  done.prompts.push(prompt);
  return runId;
}

async function followUp(runId: string, index: number): Promise<void> {
  for (let number = 0; number < FOLLOW_UPS_EACH; number += 1) {
    const message = `say follow-up ${index} ${number}`;
    await post(`/agent/runs/${runId}/followups`, { message }, `follow-up-${index}-${number}`);
    done.followUps.push(message);
  }
}

/** Creates an environment, renames it and, every second time, deletes it. Each request is repeated until its answer. */
async function changeSettings(index: number): Promise<void> {
  const [name, renamed] = [`environment ${index}`, `renamed ${index}`];
  const { uid } = (await post("/agent/environments", { config: { name } }, `create-${index}`)) as {
    uid: string;
  };
  done.changes.push({ action: "environment.created", value: name });
  await send("PUT", `/agent/environments/${uid}`, { config: { name: renamed } }, `rename-${index}`);
  done.changes.push({ action: "environment.updated", value: renamed });
  if (index % 2 === 0) {
    await send("DELETE", `/agent/environments/${uid}`, undefined, `delete-${index}`);
    done.changes.push({ action: "environment.deleted", value: renamed });
  }
}

function post(path: string, body: object, key: string): Promise<unknown> {
  return send("POST", path, body, key);
}

/** Repeats the request with its idempotency key until it is answered, as the client libraries do. */
function send(method: string, path: string, body: object | undefined, key: string): Promise<unknown> {
  const ask = async () => {
    const response = await fetch(`${api.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${api.apiKey}`,
        "idempotency-key": key,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) {
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    }
    const text = await response.text();
    return { answer: (text === "" ? {} : JSON.parse(text)) as unknown };
  };
  return waitFor(ask, { what: `an answer to ${path}`, timeoutMs: ANSWER_MS, everyMs: 200 }).then(
    ({ answer }) => answer,
  );
}

/** Delivers a signed event until it is acknowledged, as Slack does. */
async function mention(index: number): Promise<void> {
  const { slack } = harness;
  // Other requests of this test create environments. With several of them, a request that names none is asked for one.
  const text = `env=none say event ${index}`;
  const { appMention } = await slack.mention(slack.alice, { channel: "work", text });
  const eventId = `Ev-kill-${index}`;
  const deliver = async () =>
    (await slack.sendEvent(`${api.url}/webhooks/slack`, appMention, { eventId })).ok;
  await waitFor(deliver, { what: "an acknowledgement", timeoutMs: ANSWER_MS, everyMs: 200 });
  done.deliveryIds.push(eventId);
}

/** Sends a command until it is acknowledged. */
async function command(index: number): Promise<void> {
  const { alice: user, app, dialogs, signingSecret, workspace } = harness.slack;
  const prompt = `say command ${index}`;
  const triggerId = dialogs.newTrigger(user);
  const facts = { channel: "work", command: "/errand", text: `env=none ${prompt}`, triggerId, user };
  const form = slashCommandForm(workspace, app, facts, "http://127.0.0.1:9/response");
  const deliver = async () => {
    const answer = await sendSlackForm(`${api.url}/webhooks/slack`, form, { signingSecret });
    return answer.ok && (await answer.text()).includes("I will do it");
  };
  await waitFor(deliver, { what: "an acknowledgement", timeoutMs: ANSWER_MS, everyMs: 200 });
  done.prompts.push(prompt);
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** A linear congruential generator, the same on every machine. */
function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
