import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUDIT_LENGTH_MAX } from "../../../src/core/model/people/audit.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { WebhookEndpoint } from "../../../src/core/model/webhooks/webhook.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { aSchedule } from "../../support/rule-builders.ts";
import { type Answer, call } from "./api-caller.ts";
import {
  type AuthorizationHarness,
  addressOf,
  type Caller,
  startAuthorizationHarness,
} from "./authorization-harness.ts";
import { ROUTES } from "./authorization-table.ts";

const A_RUN = "It changes a run, and the run's own log has an event of it.";
const STORED_SETTINGS =
  "The entries of stored settings are tested with the settings and the apps of adapters.";
const A_DELIVERY = "It only sends again what was stored already.";
const A_DRAFT = "It is a note of its author that no one else sees. Sending it is a follow-up of the run.";
const NOTHING = "It changes nothing.";

/**
 * Every operation that is not a GET, with the actions of its audit entries, or the reason why it has none. A new
 * operation without a line fails the test.
 */
const WRITES: Readonly<Record<string, readonly string[] | string>> = {
  "POST /signin": "Its entry is tested with the device codes: here nobody signs in.",
  "POST /signout": "It ends a session of the pages, and changes no setting.",
  "POST /signin/link/join": "The account that is joined is an identity link, like that of an administrator.",
  "POST /signin/link": "The entries of a link that signs in are tested with the links.",
  "POST /device": "It shows a program that waits, and changes nothing.",
  "POST /device/decision": "The entries of a decision are tested with the device codes.",

  "POST /agent/device-codes": "Nobody has decided about the program yet.",
  "POST /agent/device-codes/token": "The entries of a key are tested with the device codes.",
  "POST /agent/keys/exchange": "The entries of a key are tested with the tokens of workflows.",
  "POST /agent/runs": A_RUN,
  "POST /agent/run": A_RUN,
  "POST /agent/runs/batch": A_RUN,
  "POST /agent/runs/:runId/followups": A_RUN,
  "PATCH /agent/runs/:runId/followups/:followupId": A_RUN,
  "DELETE /agent/runs/:runId/followups/:followupId": A_RUN,
  "POST /agent/conversations/:conversationId/followups": A_RUN,
  "PUT /agent/runs/:runId/draft-comments/:draftId": A_DRAFT,
  "DELETE /agent/runs/:runId/draft-comments/:draftId": A_DRAFT,
  "POST /agent/runs/:runId/interrupt": A_RUN,
  "POST /agent/conversations/:conversationId/interrupt": A_RUN,
  "POST /agent/runs/:runId/cancel": A_RUN,
  "POST /agent/tasks/:runId/cancel": A_RUN,
  "POST /agent/runs/cancel": A_RUN,
  "PATCH /agent/runs/:runId": A_RUN,
  "DELETE /agent/runs/:runId": "It deletes a run with its log. Share links of the run have entries.",
  "POST /agent/runs/:runId/retry": A_RUN,
  "POST /agent/runs/:runId/permissions/:permissionId": A_RUN,
  "POST /agent/runs/:runId/approval": "Its entry is tested with a run that waits for approval.",
  "POST /agent/runs/:runId/webhook-deliveries/:deliveryId/replay": A_DELIVERY,
  "PATCH /agent/threads/:threadId": "It only sets how much a thread shows of its run.",
  "POST /agent/catalogue/:name/test": A_RUN,
  "POST /agent/environments/:uid/test": A_RUN,
  "POST /agent/policies/evaluate": NOTHING,
  "POST /agent/routing-rules/evaluate": NOTHING,
  "POST /agent/inbox/:eventId/retry": A_DELIVERY,
  "POST /agent/notices/:noticeId/retry": A_DELIVERY,
  "POST /agent/webhooks/:webhookId/test": A_DELIVERY,
  "POST /agent/webhooks/:webhookId/deliveries/:deliveryId/replay": A_DELIVERY,
  "POST /agent/webhooks/:webhookId/deliveries/replay": A_DELIVERY,

  "DELETE /agent/installations/guides/:adapter/settings": ["adapter_setting.deleted"],
  "PUT /agent/installations/guides/:adapter/app": STORED_SETTINGS,

  "POST /agent/runs/:runId/share-links": ["share_link.created"],
  "DELETE /agent/runs/:runId/share-links/:linkId": ["share_link.deleted"],
  "POST /agent/environments": ["environment.created"],
  "PUT /agent/environments/:uid": ["environment.updated"],
  "DELETE /agent/environments/:uid": ["environment.deleted"],
  "PUT /agent/secrets/:name": ["secret.created"],
  "DELETE /agent/secrets/:name": ["secret.deleted"],
  "POST /agent/mcp-servers": ["mcp_server.created"],
  "PUT /agent/mcp-servers/:uid": ["mcp_server.updated"],
  "DELETE /agent/mcp-servers/:uid": ["mcp_server.deleted"],
  "POST /agent/schedules": ["schedule.created"],
  "PUT /agent/schedules/:scheduleId": ["schedule.updated"],
  "DELETE /agent/schedules/:scheduleId": ["schedule.deleted"],
  "POST /agent/schedules/:scheduleId/pause": ["schedule.updated"],
  "POST /agent/schedules/:scheduleId/resume": ["schedule.updated"],
  "POST /agent/policies": ["policy.created"],
  "PUT /agent/policies/:policyId": ["policy.updated"],
  "DELETE /agent/policies/:policyId": ["policy.deleted"],
  "POST /agent/routing-rules": ["routing_rule.created"],
  "PUT /agent/routing-rules/:ruleId": ["routing_rule.updated"],
  "DELETE /agent/routing-rules/:ruleId": ["routing_rule.deleted"],
  "POST /agent/webhooks": ["webhook.created"],
  "PATCH /agent/webhooks/:webhookId": ["webhook.updated"],
  "DELETE /agent/webhooks/:webhookId": ["webhook.deleted"],
  "POST /agent/webhooks/:webhookId/rotate-secret": ["webhook.updated"],
  "POST /agent/keys": ["key.created"],
  "PATCH /agent/keys/:keyId": ["key.updated"],
  "DELETE /agent/keys/:keyId": ["key.revoked"],
  "POST /agent/keys/:keyId/rotate": ["key.created", "key.revoked"],
  "DELETE /agent/principals/:uid/keys": "Each revoked key has an entry, as when it is revoked alone.",
  "DELETE /agent/sign-ins/:signInId": ["sign_in.updated"],
  "DELETE /agent/principals/:uid/sign-ins": "The caller of this table has no open sign-in.",
  "POST /agent/principals": ["principal.created"],
  "PATCH /agent/principals/:uid": ["principal.updated"],
  "DELETE /agent/principals/:uid": ["principal.updated"],
  "POST /agent/teams": ["team.created"],
  "PATCH /agent/teams/:uid": ["team.updated"],
  "PUT /agent/teams/:uid/quotas": ["team.updated"],
  "POST /agent/identities": ["named_agent.created", "principal.created"],
  "PUT /agent/identities/:uid": ["named_agent.updated"],
  "DELETE /agent/identities/:uid": ["named_agent.deleted", "principal.updated"],
  "POST /agent/identity-links": ["identity_link.created"],
  "DELETE /agent/identity-links/:linkId": ["identity_link.deleted"],
  "PATCH /agent/installations/:installationId": ["installation.updated"],
};

/** Bodies that change something, where that of the authorization table does not. */
const BODIES: Readonly<Record<string, object>> = {
  "PATCH /agent/installations/:installationId": { enabled: false },
};

/** Members of the objects that are changed. */
const MEMBERS: Readonly<Record<string, object>> = {
  "POST /agent/schedules/:scheduleId/pause": { enabled: true },
};

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: Readonly<Record<string, string>>;
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly request_id: string;
}

let harness: AuthorizationHarness;
beforeAll(async () => {
  harness = await startAuthorizationHarness();
});
afterAll(() => harness.close());

describe("the entries of each operation", () => {
  test("every write operation says whether it has audit entries", () => {
    const writes = Object.keys(ROUTES).filter((name) => !name.startsWith("GET "));

    expect(Object.keys(WRITES).toSorted()).toEqual(writes.toSorted());
  });

  test.for(Object.entries(WRITES))("%s has the audit entries of the table", async ([name, expected]) => {
    const caller = callerOf(name);
    const path = await harness.objects.fill(addressOf(name), caller, MEMBERS[name]);
    const requestId = randomUUID();

    await write(name, path, caller, requestId);

    const entries = (await entriesOf(caller)).filter((entry) => entry.request_id === requestId);
    expect(entries.map(({ action }) => action).toSorted()).toEqual(
      typeof expected === "string" ? [] : expected,
    );
    for (const { actor } of entries) {
      expect(actor).toEqual({
        uid: caller.uid,
        type: "user",
        key_id: expect.any(String),
        address: "127.0.0.1",
      });
    }
  });
});

describe("what an entry says", () => {
  test("an entry contains the members that changed, as they were and as they are", async () => {
    const { body: made } = await ask("POST", "/policies", {
      name: "night",
      effect: "deny",
      enabled: false,
      priority: 7,
    });

    await ask("PUT", `/policies/${made.id}`, {
      name: "night",
      effect: "deny",
      enabled: false,
      priority: 9,
      match: { principal_types: ["service_account"] },
    });
    await ask("DELETE", `/policies/${made.id}`);

    const [deleted, updated, created] = await entriesOf(harness.admin, `target_id=${made.id}`);
    expect(created).toMatchObject({
      action: "policy.created",
      target: { type: "policy", id: made.id },
      after: { name: "night", effect: "deny", enabled: false, priority: 7 },
    });
    expect(created).not.toHaveProperty("before");
    expect(updated?.before).toEqual({ priority: 7, match: {}, updated_at: expect.any(String) });
    expect(updated?.after).toEqual({
      priority: 9,
      match: { principal_types: ["service_account"] },
      updated_at: expect.any(String),
    });
    expect(deleted).toMatchObject({ action: "policy.deleted", before: { name: "night", priority: 9 } });
    expect(deleted).not.toHaveProperty("after");
  });

  test("a refused write and a write that changes nothing have no entry", async () => {
    const { body: made } = await ask("POST", "/policies", { name: "same", effect: "deny", enabled: false });
    const { body: held } = await ask("POST", "/principals", { type: "service_account", display_name: "CI" });

    const refused = await ask("POST", "/policies", { name: "same", effect: "deny", enabled: false });
    await ask("PATCH", `/principals/${held.uid}`, { display_name: "CI" });

    expect(refused.status).toBe(400);
    const entries = await entriesOf(harness.admin, `target_type=policy`);
    expect(entries.filter(({ after }) => after?.name === "same")).toHaveLength(1);
    expect(await entriesOf(harness.admin, `target_id=${held.uid}`)).toHaveLength(1);
    expect(await entriesOf(harness.admin, `target_id=${made.id}`)).toHaveLength(1);
  });

  test("no entry contains a secret that a write sends or receives", async () => {
    const mark = `marked-${randomUUID()}`;
    const servers = { wiki: { command: "wiki-mcp", env: { TOKEN: mark } }, web: aRemoteServer(mark) };
    const config = { mcp_servers: servers };
    const schedule = { name: mark.slice(0, 6), cron_schedule: "0 3 * * *", prompt: "tidy", enabled: false };
    const runId = (await ask("POST", "/runs", { prompt: "do it" })).body.run_id;
    const answers = [
      await ask("PUT", "/secrets/MARKED", { value: mark }),
      await ask("PUT", "/secrets/MARKED", { value: `${mark}-2` }),
      await ask("POST", "/mcp-servers", { name: "wiki", config: servers.wiki }),
      await ask("POST", "/mcp-servers", { name: "web", config: servers.web }),
      await ask("POST", "/schedules", { ...schedule, agent_config: config }),
      await ask("POST", "/identities", { name: "marked", mcp_servers: servers }),
      await ask("POST", "/routing-rules", { name: "marked", config }),
      await ask("POST", "/keys", { name: "marked", scopes: ["runs:read"] }),
      await ask("POST", "/webhooks", { url: "https://203.0.114.7/hook" }),
      await ask("POST", `/runs/${runId}/share-links`, {}),
    ];
    const [put, again, wiki, web, aSchedule, agent, rule, key, hook, link] = answers.map(({ body }) => body);
    const changed = [
      await ask("PUT", `/mcp-servers/${wiki.uid}`, { name: "wiki", config: servers.wiki, description: "x" }),
      await ask("PUT", `/schedules/${aSchedule.id}`, { ...schedule, agent_config: config, name: "marked" }),
      await ask("PUT", `/identities/${agent.uid}`, { mcp_servers: { wiki: servers.wiki } }),
      await ask("PUT", `/routing-rules/${rule.id}`, { name: "marked again", config }),
      await ask("POST", `/keys/${key.id}/rotate`, {}),
      await ask("POST", `/webhooks/${hook.id}/rotate-secret`, {}),
    ];
    const [, , , , rotated, secret] = changed.map(({ body }) => body);

    const rows = await allRows();

    expect([...answers, ...changed].filter(({ status }) => status >= 300)).toEqual([]);
    expect([put, again, web].map((body) => typeof body)).toEqual(["object", "object", "object"]);
    const secrets = [mark, key.key, rotated.key, hook.secret, secret.secret, tokenOf(link.url)];
    expect(secrets.map((value) => typeof value === "string" && value.length > 20)).toEqual(
      secrets.map(() => true),
    );
    expect(secrets.filter((value) => rows.includes(value))).toEqual([]);
    expect(rows).toContain('"sealed": "[redacted]"');
    expect(rows).toContain('"mcp_servers": ["web", "wiki"]');
  });

  test("columns that may hold a secret are redacted in every audited table", async () => {
    const columns = await query<{ readonly table: string; readonly column: string }>(`
      SELECT table_name AS table, column_name AS column FROM information_schema.columns
      WHERE table_schema = 'public'
        AND table_name IN (SELECT event_object_table FROM information_schema.triggers WHERE action_statement ~ 'audit_row')
        AND column_name ~ '(hash|seal|secret|token|password|cipher|encrypted)'
        AND audit_value(column_name, '"a value"') <> '"[redacted]"'`);

    // The names of secrets are no secrets.
    expect(columns.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual([
      "named_agents.secret_names",
    ]);
  });
});

describe("whose change an entry is", () => {
  test("a decision about an approval names the person who decided, and the request", async () => {
    const { admin, member } = harness;
    const match = { principals: [member.uid], sources: ["API"] };
    const { body: policy } = await ask("POST", "/policies", {
      ...{ name: "dear", effect: "require_approval", priority: 1_000, match },
    });
    const create = () =>
      call(harness.harness, "/api/v1/agent/runs", { key: member.key, body: { prompt: "do it" } });
    const [approved, refused] = [(await create()).body.run_id, (await create()).body.run_id];

    for (const [id, approve] of [
      [approved, true],
      [refused, false],
    ] as const) {
      const { inputs_hash } = (await ask("GET", `/runs/${id}`)).body.approval;
      await ask("POST", `/runs/${id}/approval`, { approve, inputs_hash });
    }
    await ask("DELETE", `/policies/${policy.id}`);

    const decisions = await Promise.all(
      [approved, refused].map((id) => entriesOf(admin, `target_type=run&target_id=${id}`)),
    );
    expect(decisions.map((entries) => entries.map(({ action }) => action))).toEqual([
      ["approval.approved"],
      ["approval.refused"],
    ]);
    expect(decisions[0]?.[0]).toMatchObject({
      actor: { uid: admin.uid, type: "user", key_id: expect.any(String), address: "127.0.0.1" },
      before: { approval: { policy_id: policy.id } },
      after: { approval: { policy_id: policy.id, approved: true, decided_by: admin.uid } },
    });
  });

  test("the first key, the account of a platform and its installation name the part of the server", async () => {
    const { storage } = harness.harness;
    const person = await storage.people.ensure(FIRST_TEAM, "slack:T1:U1", "Ada");
    await storage.people.ensure(FIRST_TEAM, "slack:T1:U1", "Ada L.");
    const installation = await storage.installations.ensure("slack", "T1");

    const [renamed, made] = await entriesOf(harness.operator, `target_id=${person.id}`);
    const [found] = await entriesOf(harness.operator, `target_id=${installation.id}`);
    const ofStart = await entriesOf(harness.operator, "actor=start&limit=500");
    expect([made, renamed, found].map((entry) => [entry?.action, entry?.actor])).toEqual([
      ["principal.created", { uid: "adapter:slack", type: "system" }],
      ["principal.updated", { uid: "adapter:slack", type: "system" }],
      ["installation.created", { uid: "adapter:slack", type: "system" }],
    ]);
    expect(ofStart.map(({ action }) => action)).toEqual([
      ...["key.created", "principal.updated", "identity_link.created", "principal.created"],
    ]);
  });

  test("what the server changes without a caller names the server", async () => {
    const { storage } = harness.harness;
    const { body: made } = await ask("POST", "/webhooks", { url: "https://203.0.114.7/hook" });
    const endpoint = await storage.webhooks.endpoints.find(harness.admin.team.id, made.id);

    await storage.atomically(async ({ webhooks }) => {
      const failing = { ...(endpoint as WebhookEndpoint), failingSince: new Date() };
      await webhooks.endpoints.replace(failing);
      await webhooks.endpoints.replace({ ...failing, enabled: false, disabledReason: "It is gone." });
    });

    const [disabled, created, ...others] = await entriesOf(harness.admin, `target_id=${made.id}`);
    expect(disabled).toMatchObject({
      actor: { uid: "server", type: "system" },
      action: "webhook.updated",
      after: { enabled: false, disabled_reason: "It is gone." },
      request_id: expect.stringMatching(/^transaction-\d+$/),
    });
    expect([created?.action, others]).toEqual(["webhook.created", []]);
  });

  test("what a run does by itself has no entry", async () => {
    const before = await entriesOf(harness.admin);
    const { body: run } = await ask("POST", "/runs", { prompt: "do it" });
    await harness.harness.edit(run.run_id, (edit) => edit.moveTo("CANCELLED", { status: { message: "x" } }));

    expect(await entriesOf(harness.admin)).toEqual(before);
  });
});

describe("the list of entries", () => {
  test("the pages of the list contain every entry once, newest first", async () => {
    const all = await entriesOf(harness.admin);

    const walked = (await pagesOf("limit=7")).flat().map(({ id }) => id);

    expect(walked).toEqual(all.map(({ id }) => id));
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(walked).size).toBe(walked.length);
  });

  test("a cursor of other filters is refused", async () => {
    const { body } = await ask("GET", "/audit?limit=1");

    const cursor = encodeURIComponent(body.page_info.next_cursor);
    const { status } = await ask("GET", `/audit?limit=1&action=key.created&cursor=${cursor}`);

    expect(status).toBe(400);
  });

  test("filters select by actor, action, target and time", async () => {
    const all = await entriesOf(harness.admin);
    const [newest] = all;
    const middle = all[Math.floor(all.length / 2)]?.at ?? "";
    const matching = (isMatch: (entry: Entry) => boolean) => all.filter(isMatch).map(({ id }) => id);
    const ids = async (filter: string) =>
      (await entriesOf(harness.admin, `limit=500&${filter}`)).map(({ id }) => id);

    expect(await ids(`actor=${harness.operator.uid}`)).toEqual(
      matching(({ actor }) => actor.uid === harness.operator.uid),
    );
    expect(await ids("action=key.created")).toEqual(matching(({ action }) => action === "key.created"));
    expect(await ids("target_type=policy")).toEqual(matching(({ target }) => target.type === "policy"));
    expect(await ids(`target_id=${newest?.target.id}`)).toEqual(
      matching(({ target }) => target.id === newest?.target.id),
    );
    expect(await ids(`created_after=${middle}`)).toEqual(matching(({ at }) => at > middle));
    expect(await ids(`created_before=${middle}`)).toEqual(matching(({ at }) => at < middle));
    expect(await ids("actor=nobody")).toEqual([]);
  });

  test("a team sees its own entries only, and an operator also what they did in it", async () => {
    const { admin, operator, stranger } = harness;
    const [ours, theirs] = [await entriesOf(admin), await entriesOf(stranger)];
    const shared = ours.filter(({ id }) => theirs.some((entry) => entry.id === id));
    const { body: changed } = await call(harness.harness, `/api/v1/agent/teams/${admin.team.id}`, {
      ...{ method: "PATCH", body: { name: randomUUID() }, key: operator.key },
    });

    const seen = await Promise.all(
      [admin, operator, stranger].map((one) => entriesOf(one, `target_id=${changed.uid}&limit=1`)),
    );

    expect(shared).toEqual([]);
    expect(seen.map(([entry]) => entry?.actor.uid)).toEqual([operator.uid, operator.uid, undefined]);
  });

  test("deleting a run leaves its entries", async () => {
    const { body: run } = await ask("POST", "/runs", { prompt: "do it" });
    const { body: link } = await ask("POST", `/runs/${run.run_id}/share-links`, {});
    await ask("POST", `/runs/${run.run_id}/cancel`, {});

    const removed = await ask("DELETE", `/runs/${run.run_id}`);

    const entries = await entriesOf(harness.admin, `target_id=${link.id}`);
    expect([removed.status, entries.map(({ action }) => action)]).toEqual([
      204,
      ["share_link.deleted", "share_link.created"],
    ]);
  });

  test("the database refuses to change an entry", async () => {
    await expect(query("UPDATE audit_entries SET action = 'nothing'")).rejects.toThrow(/never changes/);
  });

  test("a page ends with the entry that reaches 4 MiB, and the next page follows it", async () => {
    const prompt = "x".repeat(AUDIT_LENGTH_MAX / 4);
    const ids = Array.from({ length: 6 }, () => randomUUID());
    for (const id of ids) {
      await harness.harness.storage.schedules.add(aSchedule({ id, teamId: harness.admin.team.id, prompt }));
    }
    ids.reverse();

    const pages = await pagesOf("limit=500&action=schedule.created");

    const targets = pages.map((page) => page.map(({ target }) => target.id));
    expect(targets[0]).toEqual(ids.slice(0, 4));
    expect(targets.flat().slice(0, 6)).toEqual(ids);
    expect(pages).toHaveLength(2);
  });
});

function aRemoteServer(secret: string) {
  return { url: "https://wiki.example.com/mcp", headers: { authorization: `Bearer ${secret}` } };
}

function tokenOf(url: string): string {
  return url.split(/[#?=/]/).at(-1) ?? "";
}

function ask(method: string, path: string, body?: object): Promise<Answer> {
  const { key } = harness.admin;
  return call(harness.harness, `/api/v1/agent${path}`, { method, key, ...(body && { body }) });
}

async function allRows(): Promise<string> {
  const rows = await query<{ readonly entry: string }>(
    "SELECT row_to_json(e)::text AS entry FROM audit_entries e",
  );
  return rows.map(({ entry }) => entry).join("\n");
}

async function query<Row extends object = object>(sql: string): Promise<readonly Row[]> {
  const options = { applicationName: "errand tests", queryLimitMs: 30_000 };
  const { rows } = await withConnection(harness.harness.databaseUrl, options, (client) =>
    client.query<Row>(sql),
  );
  return rows;
}

function callerOf(name: string): Caller {
  const rule = ROUTES[name];
  return typeof rule === "object" && rule.needs === "operator" ? harness.operator : harness.admin;
}

async function write(name: string, path: string, { key, uid }: Caller, requestId: string): Promise<void> {
  const rule = ROUTES[name];
  const [method = ""] = name.split(" ");
  const body = BODIES[name] ?? (typeof rule === "object" ? (rule.body?.(uid) ?? {}) : {});
  await harness.harness.server.inject({
    method: method as "POST",
    url: path.startsWith("/agent") ? `/api/v1${path}` : path,
    headers: { authorization: `Bearer ${key}`, "x-request-id": requestId },
    ...(method === "DELETE" ? {} : { payload: body }),
  });
}

async function pagesOf(query: string): Promise<readonly (readonly Entry[])[]> {
  const pages: (readonly Entry[])[] = [];
  for (let place: string | undefined = ""; place !== undefined; ) {
    const { body }: Answer = await ask("GET", `/audit?${query}${place}`);
    pages.push(body.entries);
    const { next_cursor: cursor } = body.page_info;
    place = cursor === undefined ? undefined : `&cursor=${encodeURIComponent(cursor)}`;
  }
  return pages;
}

async function entriesOf({ key }: Pick<Caller, "key">, query = "limit=500"): Promise<readonly Entry[]> {
  const { body } = await call(harness.harness, `/api/v1/agent/audit?${query}`, { key });
  return body.entries;
}
