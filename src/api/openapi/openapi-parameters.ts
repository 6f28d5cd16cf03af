const UUID = "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d6e";
const TIME = "2026-03-01T09:00:00Z";

/** Examples of parameters that are not an enumeration. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  owner: "acme",
  "If-Match": '"3q2-7wABCDEF0123.9mXk4Zt1cVb7Qe2RwYs8aA"',
  "If-None-Match": '"3q2-7wABCDEF0123.9mXk4Zt1cVb7Qe2RwYs8aA"',
  "Idempotency-Key": "deploy-2026-03-01",
  "Last-Event-ID": "42",
  Prefer: "wait=30",
  "X-Request-Id": "build-4711",
  "X-Run-Source": "CLI",
  action: "key.revoked",
  actor: UUID,
  adapter: "chat",
  after: "NzQxLi4u",
  ancestor_run_id: UUID,
  artifact_type: "PULL_REQUEST",
  automation_id: "nightly",
  config_name: "nightly-tidy",
  conversationId: UUID,
  conversation_id: UUID,
  created_after: TIME,
  created_before: TIME,
  creator: UUID,
  executor: UUID,
  cursor: "WyIyMDI2LTAzLTAxIl0.c2lnbmF0dXJl",
  deliveryId: UUID,
  draftId: UUID,
  environment_id: "4fX9kQ2mZ7rT1wB8cJ3vLp",
  eventId: UUID,
  followupId: UUID,
  expires: "1772355900",
  factory_uid: ["f1"],
  fields: "run_id,state",
  from: "2026-03-01",
  group_by: ["day"],
  id: UUID,
  installationId: UUID,
  integration: "issues",
  keyId: UUID,
  limit: 50,
  linkId: UUID,
  signInId: UUID,
  metadata: { ticket: "OPS-17" },
  model_id: "demo",
  name: "nightly-tidy",
  noticeId: UUID,
  parent_run_id: UUID,
  permissionId: "p1",
  policyId: UUID,
  principal: UUID,
  q: "red build",
  repo: "acme/web",
  repository: "acme/web",
  ruleId: UUID,
  run: UUID,
  runId: UUID,
  run_id: UUID,
  scheduleId: UUID,
  schedule_id: UUID,
  signature: "c2lnbmF0dXJl",
  skill: "acme/web:tidy",
  skill_spec: "acme/web:tidy",
  source: "API",
  state: ["FAILED", "ERROR"],
  wait: 30,
  target_id: UUID,
  target_type: "key",
  task_status: ["running"],
  team: UUID,
  threadId: UUID,
  thread_id: UUID,
  to: "2026-03-31",
  uid: UUID,
  updated_after: TIME,
  updated_before: TIME,
  url: "https://git.example.com/acme/web/issues/7",
  webhookId: UUID,
};

/** Examples for names that have another meaning at these paths. */
const OTHERS: Readonly<Record<string, unknown>> = {
  "/api/v1/agent/secrets/{name} name": "NPM_TOKEN",
  "/api/v1/agent/catalogue/{name}/test name": "demo",
  "/api/v1/agent/environments/{uid} uid": EXAMPLES.environment_id,
  "/api/v1/agent/runs/{runId}/conversation before": `${UUID}:3`,
  "/api/v1/agent/runs/{runId}/conversation limit": 20,
  "/api/v1/agent/conversations/{conversationId} before": `${UUID}:3`,
  "/api/v1/agent/conversations/{conversationId} limit": 20,
  "/api/v1/agent/runs/{runId}/events after": 42,
  "/api/v1/agent/runs/{runId}/events before": 42,
  "/api/v1/agent/runs/{runId}/events tail": 50,
  "/api/v1/agent/webhooks/{webhookId}/deliveries state": "dead",
  "/api/v1/agent/runs/{runId}/webhook-deliveries state": "dead",
  "/api/v1/agent/notices state": "dead",
};

export interface Parameter {
  readonly name: string;
  readonly schema?: { readonly default?: unknown; readonly enum?: readonly unknown[] };
}

/** Adds an example to a parameter of an operation at `path`. */
export function withExample<T extends Parameter>(
  parameter: T,
  path: string,
): T & { readonly example: unknown } {
  const { name, schema } = parameter;
  const example = OTHERS[`${path} ${name}`] ?? schema?.default ?? schema?.enum?.[0] ?? EXAMPLES[name];
  return { ...parameter, example };
}
