import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "./api-caller.ts";
import {
  type AuthorizationHarness,
  addressOf,
  type Caller,
  startAuthorizationHarness,
} from "./authorization-harness.ts";
import { ROUTES } from "./authorization-table.ts";

const A_RUN = "It changes a run, and the run's own log has an event of it.";
const A_DELIVERY = "It only sends again what was stored already.";
const NOTHING = "It changes nothing.";

/**
 * Every operation that is not a GET, with the actions of its audit entries, or the reason why it has none. A new
 * operation without a line fails the test.
 */
const WRITES: Readonly<Record<string, readonly string[] | string>> = {
  "POST /signin": "It opens a session of the pages, and changes no setting.",
  "POST /signout": "It ends a session of the pages, and changes no setting.",

  "POST /agent/runs": A_RUN,
  "POST /agent/run": A_RUN,
  "POST /agent/runs/:runId/followups": A_RUN,
  "PATCH /agent/runs/:runId/followups/:followupId": A_RUN,
  "DELETE /agent/runs/:runId/followups/:followupId": A_RUN,
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
  "POST /agent/principals": ["principal.created"],
  "PATCH /agent/principals/:uid": ["principal.updated"],
  "DELETE /agent/principals/:uid": ["principal.updated"],
  "POST /agent/teams": ["team.created"],
  "PATCH /agent/teams/:uid": ["team.updated"],
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
  readonly actor: Readonly<Record<string, string>>;
  readonly action: string;
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

async function entriesOf({ key }: Pick<Caller, "key">, query = "limit=500"): Promise<readonly Entry[]> {
  const { body } = await call(harness.harness, `/api/v1/agent/audit?${query}`, { key });
  return body.entries;
}
