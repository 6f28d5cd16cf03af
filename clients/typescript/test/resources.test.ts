import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Service, startService } from "../../../test/support/service.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../../test/support/webhook-receiver.ts";
import {
  APIUserAbortError,
  ApiClient,
  BadRequestError,
  ConflictError,
  Errand,
  type LoggedEvent,
  NotFoundError,
  type RunEvent,
  Runs,
  WebhookVerificationError,
} from "../src/index.ts";
import { FaultyProxy } from "./faulty-proxy.ts";

/** The timeout is generous because other tests may run at the same time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const UNKNOWN = "00000000-0000-7000-8000-000000000000";
/** `whsec_` and 24 bytes in base64. */
const RUN_SECRET = "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiB3ZWJob29rcw==";
const DOCUMENT = resolve(import.meta.dirname, "../../../docs/openapi.json");
/** Aliases of other operations, addresses that are given by the server, and what `asResponse` follows. */
const WITHOUT_METHOD = [
  "runAgent",
  "listTasks",
  "getTask",
  "cancelTask",
  "downloadRunTranscript",
  "downloadArtifactFile",
  "downloadRunArtifact",
  "downloadRunChanges",
];

let database: TestDatabase;
let dataDir: string;
let service: Service;
let receiver: WebhookReceiver;
let client: Errand;
/** Every request of `client`, as `GET /agent/runs`. */
const requests: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "errand-client-"));
  receiver = await startWebhookReceiver();
  service = await startService(dataDir, {
    DATABASE_URL: database.url,
    ERRAND_SECRET_KEY: "the secret key of a test, 32 characters and more",
    ERRAND_WEBHOOK_ALLOW: "127.0.0.0/8",
  });
  client = new Errand({
    baseUrl: service.url,
    apiKey: service.apiKey,
    fetch: (url, init) => {
      requests.push(`${init.method} ${new URL(url).pathname.replace("/api/v1", "")}`);
      return fetch(url, init);
    },
  });
});
afterAll(async () => {
  await service.end("SIGTERM");
  await receiver.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Starts a run and waits for its end. */
async function endedRun(prompt: string) {
  const { run_id } = await client.runs.create({ prompt });
  return client.runs.waitForCompletion(run_id);
}

describe("runs", () => {
  test("a run is created, awaited, continued, read and deleted", async () => {
    const run = await endedRun("write a.txt hello");
    expect([run.state, run.result?.turn]).toEqual(["SUCCEEDED", 1]);

    await client.runs.followUp(run.run_id, { message: "say again" });
    const again = await client.runs.waitForCompletion(run.run_id);
    expect(again.result).toMatchObject({ text: expect.stringContaining("again"), turn: 2 });

    const { followups } = await client.runs.followUps(run.run_id);
    expect(followups.map(({ message }) => message)).toEqual(["say again"]);
    const updated = await client.runs.update(run.run_id, {
      title: "Renamed",
      metadata: { ticket: "OPS-17" },
    });
    expect(updated).toMatchObject({ title: "Renamed", metadata: { ticket: "OPS-17" } });
    expect((await client.runs.conversation(run.run_id, { limit: 1 })).steps).toHaveLength(1);
    expect((await client.runs.timeline(run.run_id)).events.length).toBeGreaterThan(0);
    expect((await client.runs.changes(run.run_id)).repositories).toEqual([]);
    expect((await client.runs.handoffAttachments(run.run_id)).attachments).toEqual([]);
    expect(await client.runs.artifacts(run.run_id)).toEqual([]);
    const transcript = await (await client.runs.transcript(run.run_id)).text();
    expect(JSON.parse(transcript.split("\n", 1)[0] ?? "")).toMatchObject({ kind: "run.created" });

    const found = await client.runs.list({ metadata: { ticket: "OPS-17" } });
    expect(found.runs.map(({ title }) => title)).toEqual(["Renamed"]);

    await client.runs.delete(run.run_id);
    await expect(client.runs.retrieve(run.run_id)).rejects.toBeInstanceOf(NotFoundError);
  });

  test("runs are cancelled one by one and together, and a run is repeated", async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await client.runs.create({ prompt: "sleep 600" })).run_id),
    );
    const [first = "", ...others] = ids;

    expect(await client.runs.cancel(first)).toBe(first);
    expect((await client.runs.cancelMany(others)).results.map(({ run_id }) => run_id)).toEqual(others);

    expect((await client.runs.waitForCompletion(first)).state).toBe("CANCELLED");
    const { run_id } = await client.runs.retry(first);
    expect((await client.runs.retrieve(run_id)).parent_run_id).toBe(first);
    await client.runs.cancel(run_id);
  });

  test("a question of the agent is answered", async () => {
    const { run_id } = await client.runs.create({ prompt: "ask; say done", interactive: true });

    const blocked = await client.runs.waitForCompletion(run_id, { untilBlocked: true });
    const { permission_id = "", options: [option] = [] } = blocked.permission ?? {};
    await client.runs.answer(run_id, permission_id, { option_id: option?.option_id ?? "" });

    expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
  });

  test("a run that a policy holds back is approved for exactly what was shown", async () => {
    const policy = await client.policies.create({
      name: "Ask first",
      effect: "require_approval",
      match: { sources: ["API"] },
    });
    const { run_id } = await client.runs.create({ prompt: "say approved" });
    const { approval } = await client.runs.retrieve(run_id);

    await expect(
      client.runs.approve(run_id, { approve: true, inputs_hash: "0".repeat(64) }),
    ).rejects.toBeInstanceOf(ConflictError);
    await client.runs.approve(run_id, { approve: true, inputs_hash: approval?.inputs_hash ?? "" });

    expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
    await client.policies.delete(policy.id);
  });

  test("a waiting follow-up is changed and withdrawn", async () => {
    const { run_id } = await client.runs.create({ prompt: "sleep 600" });
    const start = async () => {
      const { state, waiting_for } = await client.runs.retrieve(run_id);
      if (state !== "INPROGRESS") {
        throw new Error(`The run is ${state}. ${waiting_for?.message ?? ""}`);
      }
      return true;
    };
    await waitFor(start, { what: "the start" });
    await client.runs.followUp(run_id, { message: "say one" });
    const [followUp] = (await client.runs.followUps(run_id)).followups;
    const id = followUp?.followup_id ?? "";

    const changed = await client.runs.updateFollowUp(run_id, id, { message: "say two" });
    await client.runs.withdrawFollowUp(run_id, id);

    expect(changed.message).toBe("say two");
    await expect(client.runs.withdrawFollowUp(run_id, id, { maxRetries: 0 })).rejects.toBeInstanceOf(
      ConflictError,
    );
    await client.runs.cancel(run_id);
  });

  test("a run is shared by a link that can be deleted", async () => {
    const { run_id } = await endedRun("say shared");

    const { id, url } = await client.runs.share(run_id, { access: "VIEWER", expires_in_seconds: 3_600 });
    const { share_links } = await client.runs.shareLinks(run_id);
    await client.runs.unshare(run_id, id);

    expect(new URL(url).pathname).toMatch(/^\/(sessions|share)/);
    expect(share_links.map((link) => link.id)).toEqual([id]);
    expect((await client.runs.shareLinks(run_id)).share_links).toEqual([]);
  });

  test("a file that an agent leaves as an artifact is found and downloaded", async () => {
    const { run_id } = await endedRun("write artifacts/report.txt found");

    const [artifact] = await client.runs.artifacts(run_id);
    const uid = artifact?.data && "artifact_uid" in artifact.data ? String(artifact.data.artifact_uid) : "";

    expect((await client.artifacts.retrieve(uid)).artifact_uid).toBe(uid);
    expect(await (await client.artifacts.download(uid)).text()).toBe("found\n");
  });

  test("the conversation of a session is found by either id", async () => {
    const { conversation_id = "", session_id = "" } = await endedRun("say found");

    expect((await client.conversations.retrieve(conversation_id)).conversation_id).toBe(conversation_id);
    expect((await client.conversations.session(conversation_id)).session_id).toBe(session_id);
    expect((await client.conversations.ofSession(session_id)).conversation_id).toBe(conversation_id);
  });
});

describe("live events", () => {
  test("the events of a run are yielded live, each once and in order, although the connection breaks", async () => {
    const proxy = await FaultyProxy.start(service.url);
    const throughProxy = new Errand({ baseUrl: proxy.url, apiKey: service.apiKey, random: () => 1 });
    const { run_id } = await client.runs.create({
      prompt: "say one; sleep 0.2; say two; sleep 0.2; say three",
    });

    const events: RunEvent[] = [];
    for await (const event of throughProxy.runs.events(run_id)) {
      events.push(event as RunEvent);
      if (event.kind === "turn.started" || event.kind === "turn.ended") {
        proxy.breakAll();
      }
    }

    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({ kind: "run.state", to: "SUCCEEDED" });
    expect(proxy.seen.filter(({ headers }) => headers["last-event-id"] !== undefined).length).toBeGreaterThan(
      0,
    );
    await proxy.stop();
  });

  test("listeners get the text, the tool calls, the questions and the states of a run", async () => {
    const { run_id } = await client.runs.create({
      prompt: "write a.txt x; ask; say done",
      interactive: true,
    });
    const [texts, tools, states]: [string[], string[], string[]] = [[], [], []];

    const run = await client.runs
      .stream(run_id)
      .on("text", (text) => texts.push(text))
      .on("tool", ({ title, status }) => tools.push(`${title}: ${status}`))
      .on("question", ({ options, permission_id }) => {
        void client.runs.answer(run_id, permission_id, { option_id: options[0]?.option_id ?? "" });
      })
      .on("state", (state) => states.push(state))
      .finished();

    expect(run.state).toBe("SUCCEEDED");
    expect(texts.join("")).toContain("done");
    expect(tools.some((tool) => tool.endsWith(": completed"))).toBe(true);
    expect(states).toEqual(expect.arrayContaining(["CLAIMED", "INPROGRESS", "BLOCKED", "SUCCEEDED"]));
  });

  test("a stream that its caller aborts ends with an APIUserAbortError, and the run continues", async () => {
    const { run_id } = await client.runs.create({ prompt: "sleep 600" });
    const stream = client.runs.stream(run_id);

    stream.on("state", () => stream.abort());

    await expect(stream.finished()).rejects.toBeInstanceOf(APIUserAbortError);
    expect((await client.runs.retrieve(run_id)).state).not.toBe("CANCELLED");
    await client.runs.cancel(run_id);
  });

  test("a page of stored events is read from either end", async () => {
    const { run_id } = await endedRun("say x");

    const last = await client.runs.storedEvents(run_id, { tail: 2 });
    const first = await client.runs.storedEvents(run_id, { after: 0, limit: 1 });

    expect(last.events).toContainEqual(expect.objectContaining({ kind: "run.state", to: "SUCCEEDED" }));
    expect(first.events[0]).toMatchObject({ kind: "run.created", seq: 1 });
  });

  test("the events of all runs are yielded live", async () => {
    const stop = new AbortController();
    const { next_after } = await client.events.list({ limit: 1 });
    const seen: (LoggedEvent | { readonly kind: "reset" })[] = [];
    const { run_id } = await client.runs.create({ prompt: "say x" });

    for await (const event of client.events.stream({ after: next_after }, { signal: stop.signal })) {
      seen.push(event);
      if (event.kind === "run.state" && event.run_id === run_id && event.to === "SUCCEEDED") {
        break;
      }
    }

    expect(seen.length).toBeGreaterThan(3);
  });
});

describe("settings", () => {
  test("environments, schedules, secrets and MCP servers are created, read, changed and deleted", async () => {
    const config = { name: "site", setup_commands: ["true"] };
    const { uid } = await client.environments.create({ config });
    const replaced = await client.environments.replace(uid, {
      config: { ...config, description: "The site" },
    });
    expect(replaced.config).toMatchObject({ description: "The site" });
    expect((await client.environments.retrieve(uid)).uid).toBe(uid);
    expect((await client.environments.list()).environments.map((one) => one.uid)).toContain(uid);
    const test = await client.environments.test(uid);
    expect((await client.runs.waitForCompletion(test.run_id)).state).toBe("SUCCEEDED");
    await client.environments.delete(uid);

    const times = { name: "Nightly", cron_schedule: "0 3 * * *", prompt: "say night" };
    const { id } = await client.schedules.create(times);
    expect((await client.schedules.pause(id)).enabled).toBe(false);
    expect((await client.schedules.resume(id)).enabled).toBe(true);
    expect((await client.schedules.replace(id, { ...times, name: "Late", enabled: true })).name).toBe("Late");
    expect((await client.schedules.retrieve(id)).name).toBe("Late");
    expect((await client.schedules.list()).schedules.map((one) => one.id)).toEqual([id]);
    await client.schedules.delete(id);

    await client.secrets.put("NPM_TOKEN", { value: "npm-secret-value" });
    expect(JSON.stringify(await client.secrets.retrieve("NPM_TOKEN"))).not.toContain("npm-secret-value");
    expect((await client.secrets.list()).secrets.map(({ name }) => name)).toEqual(["NPM_TOKEN"]);
    await client.secrets.delete("NPM_TOKEN");

    const wiki = { name: "Wiki", config: { url: "https://wiki.example.com/mcp" } };
    const server = await client.mcpServers.create(wiki);
    await client.mcpServers.replace(server.uid, { ...wiki, description: "Searches" });
    expect((await client.mcpServers.retrieve(server.uid)).description).toBe("Searches");
    expect((await client.mcpServers.list()).mcp_servers).toHaveLength(1);
    await client.mcpServers.delete(server.uid);
  });

  test("policies and routing rules are created, read, changed, evaluated and deleted", async () => {
    const rule = { name: "No production", effect: "deny" as const, match: { environments: ["x"] } };
    const policy = await client.policies.create(rule);
    await client.policies.replace(policy.id, { ...rule, reason: "Ask the platform team." });
    expect((await client.policies.retrieve(policy.id)).reason).toBe("Ask the platform team.");
    expect((await client.policies.list()).policies.some(({ id }) => id === policy.id)).toBe(true);
    expect(await client.policies.evaluate({ action: "create", environment_id: "x" })).toMatchObject({
      effect: "deny",
    });
    await client.policies.delete(policy.id);

    const shop = { name: "Shop", match: { text: ["cart"] }, config: { base_prompt: "Be brief." } };
    const routing = await client.routingRules.create(shop);
    await client.routingRules.replace(routing.id, { ...shop, priority: 7 });
    expect((await client.routingRules.retrieve(routing.id)).priority).toBe(7);
    expect((await client.routingRules.list()).routing_rules).toHaveLength(1);
    const result = await client.routingRules.evaluate({ text: "Fix the cart", source: "SLACK" });
    expect(JSON.stringify(result)).toContain(routing.id);
    await client.routingRules.delete(routing.id);
  });

  test("webhooks are created, tested, changed and deleted, and their messages are verified", async () => {
    const { id, secret: first } = await client.webhooks.create({ url: receiver.url });
    const { secret } = await client.webhooks.rotateSecret(id, { overlap_seconds: 0 });
    expect(first).not.toBe(secret);
    const { run_id } = await client.runs.create({ prompt: "say hello" });
    await client.runs.waitForCompletion(run_id);
    // Runs of earlier tests may end meanwhile.
    const isOurs = ({ body }: { readonly body: string }) =>
      body.includes("run.succeeded") && body.includes(run_id);
    await waitFor(async () => receiver.posts.some(isOurs), { what: "a post" });
    const post = receiver.posts.find(isOurs);
    const { body = "", headers = {} } = post ?? {};

    const message = await client.webhooks.unwrap({ body, headers, secret });
    expect(message).toMatchObject({ type: "run.succeeded", data: { run_id, state: "SUCCEEDED" } });
    const forged = [
      { body: body.replace("SUCCEEDED", "FAILED"), headers, secret },
      { body, headers, secret: first },
      { body, headers, secret: "not a secret" },
      { body, headers: { ...headers, "webhook-timestamp": "1" }, secret },
      { body, headers: { ...headers, "webhook-timestamp": "now" }, secret },
      { body, headers: { ...headers, "webhook-signature": "v1,%%% v2,x" }, secret },
      { body, headers: new Headers(), secret },
    ];
    for (const received of forged) {
      await expect(client.webhooks.unwrap(received)).rejects.toBeInstanceOf(WebhookVerificationError);
    }

    const { deliveries } = await client.webhooks.deliveries(id, { limit: 1 });
    const [delivery] = deliveries;
    // The post arrives before the server stores the answer to it.
    await waitFor(async () => (await client.webhooks.delivery(id, delivery?.id ?? "")).history.length > 0, {
      what: "the stored answer to the post",
    });
    expect((await client.webhooks.replay(id, delivery?.id ?? "")).id).toBe(delivery?.id);
    expect(await client.webhooks.replayMany(id, { since: "2026-03-01T09:00:00Z" })).toEqual({ count: 0 });
    expect((await client.webhooks.test(id)).type).toBe("webhook.test");
    expect((await client.webhooks.update(id, { enabled: false })).enabled).toBe(false);
    expect((await client.webhooks.retrieve(id)).url).toBe(receiver.url);
    expect((await client.webhooks.list()).webhooks.map((one) => one.id)).toEqual([id]);
    await client.webhooks.delete(id);
  });

  test("the webhook of one run has deliveries that can be sent again", async () => {
    const { run_id } = await client.runs.create({
      prompt: "say x",
      webhook: { url: receiver.url, secret: RUN_SECRET },
    });
    await client.runs.waitForCompletion(run_id);

    const { deliveries } = await client.runs.webhookDeliveries(run_id);
    const [delivery] = deliveries;
    const replayed = await client.runs.replayWebhookDelivery(run_id, delivery?.id ?? "");

    expect(replayed.id).toBe(delivery?.id);
  });
});

describe("people", () => {
  test("principals, keys, named agents, teams and identity links are created, changed and ended", async () => {
    const person = await client.principals.create({ type: "user", display_name: "Ada" });
    expect((await client.principals.update(person.uid, { display_name: "Ada L." })).display_name).toBe(
      "Ada L.",
    );
    expect((await client.principals.retrieve(person.uid)).display_name).toBe("Ada L.");
    expect((await client.principals.list()).principals.length).toBeGreaterThan(1);

    const key = await client.keys.create({ name: "CI", scopes: ["runs:write"], principal_uid: person.uid });
    const asPerson = new Errand({ baseUrl: service.url, apiKey: key.key });
    expect((await asPerson.whoami()).principal.uid).toBe(person.uid);
    expect((await client.keys.update(key.id, { name: "Nightly" })).name).toBe("Nightly");
    const rotated = await client.keys.rotate(key.id, { overlap_seconds: 0 });
    expect((await client.keys.retrieve(rotated.id)).name).toBe("Nightly");
    expect((await client.keys.list({ principal: person.uid })).keys.map(({ id }) => id)).toContain(
      rotated.id,
    );
    await client.keys.revoke(rotated.id, { descendants: true });
    expect((await client.keys.revokeAll(person.uid)).revoked).toBeTypeOf("number");

    const link = await client.identityLinks.create({ subject: "slack:T1:U1", principal_uid: person.uid });
    expect((await client.identityLinks.list()).links.map(({ id }) => id)).toEqual([link.id]);
    await client.identityLinks.delete(link.id);
    await client.principals.disable(person.uid);
    expect((await client.principals.retrieve(person.uid)).disabled).toBe(true);

    const agent = await client.agents.create({ name: "Reviewer", prompt: "Be strict." });
    expect((await client.agents.update(agent.uid, { prompt: "Be brief." })).prompt).toBe("Be brief.");
    expect((await client.agents.retrieve(agent.uid)).name).toBe("Reviewer");
    expect((await client.agents.list()).agents.map(({ uid }) => uid)).toContain(agent.uid);
    await client.agents.delete(agent.uid);

    const team = await client.teams.create({ name: "Platform" });
    expect((await client.teams.update(team.uid, { name: "Infrastructure" })).name).toBe("Infrastructure");
    expect((await client.teams.retrieve(team.uid)).uid).toBe(team.uid);
    expect((await client.teams.list()).teams.map(({ uid }) => uid)).toContain(team.uid);
  });

  test("quotas are set for a team and listed with their use", async () => {
    const { team } = await client.whoami();
    const quota = { name: "runs_per_day", scope: "key", limit: 1_000_000 } as const;

    await client.quotas.set(team.uid, { quotas: [quota] });
    const before = await client.quotas.list();
    await client.runs.create({ prompt: "say x" });
    const after = await client.quotas.list();

    expect(before.quotas).toMatchObject([quota]);
    expect(after.quotas[0]?.used).toBe((before.quotas[0]?.used ?? 0) + 1);
    expect((await client.quotas.set(team.uid, { quotas: [] })).quotas).toEqual([]);
  });

  test("sign-ins are listed, and an unknown one cannot be ended", async () => {
    const { principal } = await client.whoami();

    expect((await client.signIns.list()).sign_ins).toEqual([]);
    await expect(client.signIns.end(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
    await client.signIns.endAll(principal.uid);
  });

  test("a program gets a device code, and no key before a person allows it", async () => {
    const { device_code, user_code } = await client.deviceCodes.create({ client_name: "a test" });

    expect(user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    await expect(client.deviceCodes.token(device_code)).rejects.toMatchObject({
      status: 400,
      problem: { reason: "authorization_pending" },
    });
  });
});

describe("the server", () => {
  test("skills, models, agents, workers, usage, audit entries and the doctor's findings are read", async () => {
    expect((await client.skills.list()).agents).toEqual([]);
    expect((await client.models.list()).models).toBeInstanceOf(Array);
    expect((await client.catalogue.list()).agents.map(({ name }) => name)).toContain("demo");
    const { run_id } = await client.catalogue.test("demo");
    expect((await client.runs.waitForCompletion(run_id)).state).toBe("SUCCEEDED");
    expect((await client.workers.list()).workers).toBeInstanceOf(Array);
    expect((await client.usage.retrieve({ group_by: ["source"] })).usage.length).toBeGreaterThan(0);
    expect((await client.doctor.retrieve()).checks.length).toBeGreaterThan(3);
    const actions = new Set<string>();
    for await (const { action } of client.audit.list({ limit: 5 })) {
      actions.add(action);
    }
    expect(actions.size).toBeGreaterThan(5);
  });

  test("threads, events of the inbox, notices and installations are listed, and unknown ones are not found", async () => {
    const { run_id } = await endedRun("say x");

    expect((await client.threads.list({ run_id })).threads).toEqual([]);
    expect((await client.inbox.list({ run_id })).events).toEqual([]);
    expect((await client.notices.list({ run_id })).notices).toEqual([]);
    expect((await client.installations.list()).installations).toEqual([]);
    expect((await client.installations.guides()).guides.map(({ title }) => title)).toEqual([
      "Slack",
      "GitHub",
    ]);
    await expect(client.threads.update(UNKNOWN, { verbosity: "quiet" })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    await expect(client.inbox.retry(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.notices.retry(UNKNOWN)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.installations.update(UNKNOWN, { enabled: false })).rejects.toBeInstanceOf(
      NotFoundError,
    );
  });

  test("a bundle without other resources can use one of them alone", async () => {
    const runs = new Runs(new ApiClient({ baseUrl: service.url, apiKey: service.apiKey }));

    await expect(runs.create({ prompt: "" })).rejects.toBeInstanceOf(BadRequestError);
  });
});

/** Runs last, because it looks at the requests of all tests before. */
test("every operation of the API has been called by a method of the client", async () => {
  const { paths } = JSON.parse(await readFile(DOCUMENT, "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  };
  const missing = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => {
        const pattern = path.replace("/api/v1", "").replaceAll(/\{\w+\}/g, "[^/]+");
        return !requests.some((request) => new RegExp(`^${method.toUpperCase()} ${pattern}$`).test(request));
      })
      .map(([, { operationId }]) => operationId),
  );

  expect(missing.toSorted()).toEqual(WITHOUT_METHOD.toSorted());
});
