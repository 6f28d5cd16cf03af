import { randomUUID } from "node:crypto";
import { PAGE_NAMES } from "../../../src/api/pages/forms.ts";
import { ERROR_CODES } from "../../../src/core/basics/errors.ts";
import type { Scope } from "../../../src/core/model/people/api-key.ts";

/**
 * Who may call a route according to the documentation. The table is not derived from the routes, but compared with
 * them.
 */
export interface Rule {
  /** `any`: every valid key. `operator`: an administrator of the first team. */
  readonly needs: Scope | "any" | "operator";
  /** The address to request, if it is not the route's own address with an object of the team for each parameter. */
  readonly address?: string;
  /** Returns a valid body for a caller with this uid. */
  readonly body?: (uid: string) => object;
  /** The status for a permitted caller and an object of the own team. Default: any below 400. */
  readonly answers?: number;
  /** The status for a member and an object of a colleague. */
  readonly memberAnswers?: number;
  /** The guests of the run's share links who may use it. An editor may do what a viewer may. Default: none. */
  readonly guest?: "viewer" | "editor";
  /** True when operators see the objects of all teams. */
  readonly operatorSeesAll?: boolean;
}

/** `open`: the route needs no authentication. `page`: visitors who are not signed in are redirected to sign in. */
export type Entry = Rule | "open" | "page";

const runs = { read: { needs: "runs:read" }, write: { needs: "runs:write" } } as const;
const settings = { read: { needs: "settings:read" }, write: { needs: "settings:write" } } as const;
const administration = { needs: "admin" } as const;

const aName = () => ({ name: randomUUID() });
const aComment = () => ({ path: "a.md", side: "right", line: 1, hunk: "+one", body: "Why?" });
const aPrompt = () => ({ prompt: "do it" });
const aRule = () => ({ ...aName(), effect: "allow", enabled: false });
const anEnvironment = () => ({ config: { ...aName(), github_repos: [{ owner: "acme", repo: "api" }] } });
const aSchedule = () => ({ ...aName(), cron_schedule: "0 3 * * *", prompt: "tidy", enabled: false });
const anMcpServer = () => ({ ...aName(), config: { command: "wiki-mcp" } });
/** Never reached. */
const aQuota = () => ({
  quotas: [{ name: "runs_per_day", limit: 1_000_000 + Math.floor(Math.random() * 1e6) }],
});
const aWebhook = () => ({ url: "https://203.0.114.7/hook" });

/**
 * Every route of the server. A route without an entry fails the test. A caller without permission is answered 401 (no
 * key) or 403. A request for another team's object is answered 404, as if it did not exist.
 */
export const ROUTES: Readonly<Record<string, Entry>> = {
  "GET /healthz": "open",
  "GET /readyz": "open",
  "GET /server-proof": "open",
  "GET /api/v1/openapi.json": "open",
  "GET /docs": "open",
  "GET /docs/": "open",
  "GET /docs/scalar.js": "open",
  ...Object.fromEntries(ERROR_CODES.map((code) => [`GET /problems/${code}`, "open"] as const)),
  "GET /signin": "open",
  "POST /signin": "open",
  "POST /signout": "open",
  "GET /signin/link": "open",
  "POST /signin/link": "open",
  "POST /signin/link/join": "open",
  "GET /device": "page",
  "POST /device": "open",
  "POST /device/decision": "open",
  "GET /assets/*": "open",
  "GET /app/*": "open",
  "GET /": "page",
  ...Object.fromEntries(PAGE_NAMES.map((name) => [`GET /${name}`, "page"] as const)),
  "GET /runs/:id": "page",
  "GET /sessions/:id": "page",

  "POST /agent/runs": { ...runs.write, body: aPrompt },
  "POST /agent/run": { ...runs.write, body: aPrompt },
  "POST /agent/runs/batch": { ...runs.write, body: () => ({ runs: [aPrompt()] }) },
  "GET /agent/runs": runs.read,
  "GET /agent/tasks": runs.read,
  "GET /agent/runs/:runId": { ...runs.read, guest: "viewer" },
  "GET /agent/tasks/:runId": runs.read,
  "POST /agent/runs/:runId/followups": {
    ...runs.write,
    body: () => ({ message: "more" }),
    guest: "editor",
  },
  "GET /agent/runs/:runId/followups": runs.read,
  "GET /agent/runs/:runId/followups/:followupId": runs.read,
  "PATCH /agent/runs/:runId/followups/:followupId": {
    ...runs.write,
    body: () => ({ message: "less" }),
    memberAnswers: 403,
  },
  "DELETE /agent/runs/:runId/followups/:followupId": { ...runs.write, memberAnswers: 403 },
  "GET /agent/runs/:runId/draft-comments": runs.read,
  "PUT /agent/runs/:runId/draft-comments/:draftId": { ...runs.write, body: aComment, memberAnswers: 404 },
  // Only the author of a draft sees it.
  "DELETE /agent/runs/:runId/draft-comments/:draftId": { ...runs.write, memberAnswers: 404 },
  "POST /agent/runs/:runId/cancel": runs.write,
  "POST /agent/tasks/:runId/cancel": runs.write,
  "POST /agent/runs/cancel": { ...runs.write, body: () => ({ run_ids: [randomUUID()] }) },
  "PATCH /agent/runs/:runId": { ...runs.write, body: () => ({ title: "New" }) },
  // The run has not ended.
  "DELETE /agent/runs/:runId": { ...runs.write, answers: 409 },
  "POST /agent/runs/:runId/retry": runs.write,
  "GET /agent/runs/:runId/webhook-deliveries": runs.read,
  "POST /agent/runs/:runId/webhook-deliveries/:deliveryId/replay": runs.write,
  "GET /agent/events": runs.read,
  "GET /agent/runs/:runId/events": { ...runs.read, guest: "viewer" },
  "GET /agent/runs/:runId/conversation": { ...runs.read, guest: "viewer" },
  "GET /agent/runs/:runId/timeline": { ...runs.read, guest: "viewer" },
  "GET /agent/runs/:runId/transcript": runs.read,
  "GET /agent/runs/:runId/changes": { ...runs.read, guest: "viewer" },
  "GET /agent/runs/:runId/handoff/attachments": runs.read,
  "GET /agent/conversations/:conversationId": runs.read,
  "GET /agent/conversations/:conversationId/transcript": { ...runs.read, answers: 302 },
  "GET /agent/conversations/:conversationId/screenshots/:uid/download": { ...runs.read, answers: 302 },
  "POST /agent/conversations/:conversationId/followups": {
    ...runs.write,
    body: () => ({ message: "more" }),
  },
  "POST /agent/runs/:runId/interrupt": { ...runs.write, answers: 409 },
  "POST /agent/conversations/:conversationId/interrupt": { ...runs.write, answers: 409 },
  "GET /agent/run-by-external-reference": {
    ...runs.read,
    address: "/agent/run-by-external-reference?url=https://example.com",
    answers: 404,
  },
  "GET /agent/runs/:runId/harness-usage": runs.read,
  "GET /api/v1/networking/egress-ranges": runs.read,
  // These routes return the session of a conversation and the reverse, and nothing else.
  "GET /agent/sessions/:id/redirect": "open",
  "GET /agent/conversations/:id/redirect": "open",
  "POST /agent/device-codes": "open",
  "POST /agent/device-codes/token": "open",
  // Authorized by the token of the workflow.
  "POST /agent/keys/exchange": "open",
  // These routes are authorized by their signature only.
  "GET /agent/transcript-files": "open",
  "GET /agent/artifacts/:uid/file": "open",
  "GET /agent/change-files/:owner/:name": "open",
  "GET /agent/artifacts/:uid": runs.read,
  "GET /agent/artifacts/:uid/download": { ...runs.read, answers: 302 },
  "GET /agent/runs/:runId/artifacts/:uid/download": { ...runs.read, answers: 302, guest: "viewer" },
  "GET /agent/runs/:runId/share-links": runs.write,
  "POST /agent/runs/:runId/share-links": runs.write,
  "DELETE /agent/runs/:runId/share-links/:linkId": runs.write,
  "POST /agent/runs/:runId/permissions/:permissionId": {
    ...runs.write,
    body: () => ({ option_id: "allow" }),
    // The run has no question.
    answers: 409,
  },
  "POST /agent/runs/:runId/approval": {
    ...runs.write,
    body: () => ({ approve: true, inputs_hash: "none" }),
    answers: 409,
    memberAnswers: 403,
  },
  "GET /agent/threads": { ...runs.read, address: "/agent/threads?run_id=:runId" },
  "GET /agent/threads/:threadId": runs.read,
  "PATCH /agent/threads/:threadId": { ...runs.write, body: () => ({ verbosity: "quiet" }) },
  "GET /agent/audit": administration,
  "GET /agent/usage": runs.read,
  "GET /agent": runs.read,
  "GET /agent/models": runs.read,
  "GET /agent/catalogue": runs.read,
  "POST /agent/catalogue/:name/test": { ...runs.write, address: "/agent/catalogue/demo/test" },
  "GET /agent/connected-self-hosted-workers": runs.read,

  "GET /agent/environments": runs.read,
  "POST /agent/environments": { ...settings.write, body: anEnvironment },
  "GET /agent/environments/:uid": runs.read,
  "PUT /agent/environments/:uid": { ...settings.write, body: anEnvironment },
  "DELETE /agent/environments/:uid": settings.write,
  "POST /agent/environments/:uid/test": runs.write,
  "GET /agent/secrets": settings.read,
  "GET /agent/secrets/:name": settings.read,
  // Creates the secret if it does not exist.
  "PUT /agent/secrets/:name": {
    ...settings.write,
    address: "/agent/secrets/PUT_BY_THE_TEST",
    body: () => ({ value: "a value" }),
  },
  "DELETE /agent/secrets/:name": settings.write,
  "GET /agent/mcp-servers": settings.read,
  "POST /agent/mcp-servers": { ...settings.write, body: anMcpServer },
  "GET /agent/mcp-servers/:uid": settings.read,
  "PUT /agent/mcp-servers/:uid": { ...settings.write, body: anMcpServer },
  "DELETE /agent/mcp-servers/:uid": settings.write,
  "GET /agent/schedules": runs.read,
  "POST /agent/schedules": { ...runs.write, body: aSchedule },
  "GET /agent/schedules/:scheduleId": runs.read,
  "PUT /agent/schedules/:scheduleId": { ...runs.write, body: aSchedule, memberAnswers: 403 },
  "DELETE /agent/schedules/:scheduleId": { ...runs.write, memberAnswers: 403 },
  "POST /agent/schedules/:scheduleId/pause": { ...runs.write, memberAnswers: 403 },
  "POST /agent/schedules/:scheduleId/resume": { ...runs.write, memberAnswers: 403 },

  "GET /agent/policies": administration,
  "POST /agent/policies": { ...administration, body: aRule },
  "GET /agent/policies/:policyId": administration,
  "PUT /agent/policies/:policyId": { ...administration, body: aRule },
  "DELETE /agent/policies/:policyId": administration,
  "POST /agent/policies/evaluate": { ...administration, body: () => ({ action: "create" }) },
  "GET /agent/routing-rules": administration,
  "POST /agent/routing-rules": { ...administration, body: aRule },
  "GET /agent/routing-rules/:ruleId": administration,
  "PUT /agent/routing-rules/:ruleId": { ...administration, body: aRule },
  "DELETE /agent/routing-rules/:ruleId": administration,
  "POST /agent/routing-rules/evaluate": { ...administration, body: () => ({ text: "fix it" }) },
  "GET /agent/inbox": administration,
  "POST /agent/inbox/:eventId/retry": administration,
  "GET /agent/notices": administration,
  "POST /agent/notices/:noticeId/retry": administration,
  "GET /agent/doctor": { needs: "operator" },
  "GET /metrics": { needs: "operator" },

  "GET /agent/webhooks": settings.read,
  "POST /agent/webhooks": { ...settings.write, body: aWebhook },
  "GET /agent/webhooks/:webhookId": settings.read,
  "PATCH /agent/webhooks/:webhookId": { ...settings.write, body: () => ({ description: "x" }) },
  "DELETE /agent/webhooks/:webhookId": settings.write,
  "POST /agent/webhooks/:webhookId/rotate-secret": settings.write,
  "POST /agent/webhooks/:webhookId/test": settings.write,
  "GET /agent/webhooks/:webhookId/deliveries": settings.read,
  "GET /agent/webhooks/:webhookId/deliveries/:deliveryId": settings.read,
  "POST /agent/webhooks/:webhookId/deliveries/:deliveryId/replay": settings.write,
  "POST /agent/webhooks/:webhookId/deliveries/replay": {
    ...settings.write,
    body: () => ({ since: new Date().toISOString() }),
  },

  "GET /agent/whoami": { needs: "any" },
  "GET /agent/keys": settings.read,
  "POST /agent/keys": { ...settings.write, body: () => ({ ...aName(), scopes: ["runs:read"] }) },
  "GET /agent/keys/:keyId": settings.read,
  "PATCH /agent/keys/:keyId": { ...settings.write, body: aName },
  "DELETE /agent/keys/:keyId": settings.write,
  "POST /agent/keys/:keyId/rotate": settings.write,
  "GET /agent/sign-ins": { needs: "any" },
  "DELETE /agent/sign-ins/:signInId": { ...runs.write, memberAnswers: 404 },
  "DELETE /agent/principals/:uid/sign-ins": { ...runs.write, memberAnswers: 403 },
  "DELETE /agent/principals/:uid/keys": { ...settings.write, memberAnswers: 403 },
  "GET /agent/principals": settings.read,
  "POST /agent/principals": {
    ...administration,
    body: () => ({ type: "service_account", display_name: "CI" }),
  },
  "GET /agent/principals/:uid": settings.read,
  "PATCH /agent/principals/:uid": { ...administration, body: () => ({ display_name: "Ada" }) },
  "DELETE /agent/principals/:uid": administration,
  "GET /agent/teams": settings.read,
  "POST /agent/teams": { needs: "operator", body: aName },
  "GET /agent/teams/:uid": { ...settings.read, operatorSeesAll: true },
  "PATCH /agent/teams/:uid": { ...administration, body: aName, operatorSeesAll: true },
  "GET /agent/quotas": settings.read,
  "PUT /agent/teams/:uid/quotas": { needs: "operator", body: aQuota, operatorSeesAll: true },
  "GET /agent/identities": settings.read,
  "POST /agent/identities": { ...administration, body: aName },
  "GET /agent/identities/:uid": settings.read,
  "PUT /agent/identities/:uid": { ...administration, body: () => ({ prompt: "Be brief." }) },
  "DELETE /agent/identities/:uid": administration,
  "GET /agent/identity-links": settings.read,
  "POST /agent/identity-links": {
    ...administration,
    body: (uid) => ({ subject: `test:${randomUUID()}`, principal_uid: uid }),
  },
  "DELETE /agent/identity-links/:linkId": administration,
  "GET /agent/installations": settings.read,
  "GET /agent/installations/guides": { needs: "operator" },
  "PUT /agent/installations/guides/:adapter/app": {
    needs: "operator",
    operatorSeesAll: true,
    body: () => ({}),
  },
  "DELETE /agent/installations/guides/:adapter/settings": { needs: "operator", operatorSeesAll: true },
  "GET /agent/installations/:installationId": { ...settings.read, operatorSeesAll: true },
  "PATCH /agent/installations/:installationId": {
    ...administration,
    body: () => ({ enabled: false }),
    operatorSeesAll: true,
  },
};
