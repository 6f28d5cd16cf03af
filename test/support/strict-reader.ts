import { z } from "zod";

interface ReceivedAnswer {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

/**
 * Reads answers like a client that was compiled against version 1 of the API: it refuses unknown values of closed sets,
 * missing required members, wrong types, and names that are not snake_case. Unknown members are allowed, because
 * version 1 may get more. All lists are written down here again, so that a change in `src` cannot change them.
 */
export function strictProblem({ method, path, status, body }: ReceivedAnswer): string | undefined {
  const [address = ""] = path.split("?", 1);
  if (!address.startsWith(API) || address === `${API}/openapi.json`) {
    return undefined;
  }
  const schema = status >= 400 ? Problem : answerTo(method === "HEAD" ? "GET" : method, address, status);
  const { error } = (schema ?? z.unknown()).safeParse(body);
  const problems = (error?.issues ?? []).map(({ message, path: place }) => `${place.join(".")}: ${message}`);
  // The public client names the members of this answer itself.
  const unusual = (address.endsWith("/harness-usage") ? [] : unusualNames(body)).map(
    (name) => `${name}: is not snake_case`,
  );
  const all = [...problems, ...unusual];
  return all.length === 0 ? undefined : `A strict client refuses ${all.join("; ")}`;
}

/** Reads one event of a stream or of a transcript. */
export function strictEventProblem(event: unknown): string | undefined {
  const { error } = RunEvent.safeParse(event);
  const unusual = unusualNames(event);
  return error === undefined && unusual.length === 0
    ? undefined
    : `A strict client refuses the event: ${error?.message ?? ""} ${unusual.join(", ")}`;
}

const API = "/api/v1";

const text = z.string();
const flag = z.boolean();
const whole = z.int();
const uuid = z.uuid();
const time = z.iso.datetime();
const maybe = <T extends z.ZodType>(schema: T) => z.exactOptional(schema);
const object = z.looseObject;

const State = z.enum([
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "BLOCKED",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "CANCELLED",
]);
const Source = z.enum([
  "API",
  "SLACK",
  "LINEAR",
  "LOCAL",
  "SCHEDULED_AGENT",
  "WEB_APP",
  "GITHUB_ACTION",
  "CLOUD_MODE",
  "CLI",
  "JIRA",
  "GITHUB_WEBHOOK",
  "GITLAB_WEBHOOK",
]);
const Code = z.enum([
  "invalid_request",
  "authentication_required",
  "external_authentication_required",
  "not_authorized",
  "insufficient_credits",
  "budget_exceeded",
  "feature_not_available",
  "integration_disabled",
  "content_policy_violation",
  "integration_not_configured",
  "resource_not_found",
  "conflict",
  "operation_not_supported",
  "resource_unavailable",
  "internal_error",
  "environment_setup_failed",
]);
const Mode = z.enum(["normal", "plan", "orchestrate"]);

const Problem = object({
  type: text.refine((uri) => Code.safeParse(uri.split("/").at(-1)).success, "does not end in a known code"),
  title: text,
  status: whole,
  error: text.min(1),
  detail: maybe(text),
  instance: maybe(text),
  retryable: maybe(flag),
  trace_id: maybe(text),
  code: maybe(Code),
  remedy: maybe(text),
  reason: maybe(text),
  issues: maybe(z.array(object({ path: text, message: text }))),
  auth_url: maybe(text),
  provider: maybe(text),
  integration_name: maybe(text),
  setup_url: maybe(text),
});

const PageInfo = object({ has_next_page: flag, next_cursor: maybe(text) });
const WaitingFor = object({
  reason: z.enum(["approval", "question", "instructions", "worker_host", "capacity", "quota", "disk"]),
  message: text,
  position: maybe(whole),
  since: time,
});

const RunAgentResponse = object({
  run_id: uuid,
  task_id: uuid,
  state: State,
  at_capacity: maybe(flag),
  ignored: maybe(z.array(text)),
  waiting_for: maybe(WaitingFor),
  share_url: maybe(text),
}).refine(({ run_id, task_id }) => run_id === task_id, "run_id and task_id differ");

const Person = object({
  uid: text,
  type: z.enum(["user", "service_account"]),
  display_name: maybe(text),
  email: maybe(text),
  photo_url: maybe(text),
});
const Scope = object({ type: z.enum(["User", "Team"]), uid: maybe(text) });

const McpServer = object({
  command: maybe(text),
  args: maybe(z.array(text)),
  env: maybe(z.record(text, text)),
  url: maybe(text),
  headers: maybe(z.record(text, text)),
  warp_id: maybe(text),
}).refine(
  ({ command, url, warp_id }) => [command, url, warp_id].filter((kind) => kind !== undefined).length === 1,
  "is not exactly one kind of MCP server",
);
const Config = object({
  name: maybe(text),
  model_id: maybe(text),
  base_prompt: maybe(text),
  environment_id: maybe(text),
  skill_spec: maybe(text),
  skills: maybe(z.array(text)),
  mcp_servers: maybe(z.record(text, McpServer)),
  computer_use_enabled: maybe(flag),
  computer_use_model_id: maybe(text),
  worker_host: maybe(text),
  idle_timeout_minutes: maybe(whole.max(60)),
  harness: maybe(object({ type: maybe(text), model_id: maybe(text), reasoning_level: maybe(text) })),
  session_sharing: maybe(object({ public_access: maybe(z.enum(["VIEWER", "EDITOR"])) })),
  budget: maybe(z.record(text, z.number())),
  permission_policy: maybe(z.enum(["allow", "ask"])),
  repository: maybe(text),
  ref: maybe(text),
  pull_request: maybe(z.enum(["off", "draft", "ready"])),
});

const Artifact = z.discriminatedUnion("artifact_type", [
  object({
    artifact_type: z.literal("PULL_REQUEST"),
    created_at: time,
    data: object({
      url: text,
      branch: text,
      status: z.enum(["open", "draft", "merged", "closed", "unknown"]),
    }),
  }),
  object({
    artifact_type: z.literal("PLAN"),
    created_at: time,
    data: object({ document_uid: text, title: maybe(text) }),
  }),
  object({
    artifact_type: z.literal("FILE"),
    created_at: time,
    data: object({
      ...{ artifact_uid: text, filepath: text, filename: text, mime_type: text },
      size_bytes: maybe(whole),
    }),
  }),
  object({
    artifact_type: z.literal("SCREENSHOT"),
    created_at: time,
    data: object({ artifact_uid: text, mime_type: text }),
  }),
  object({
    artifact_type: z.literal("EXTERNAL_REFERENCE"),
    created_at: time,
    data: object({ reference_type: text, url: text, title: maybe(text) }),
  }),
]);

const StatusMessage = object({
  message: text,
  error_code: maybe(Code),
  retryable: maybe(flag),
  reason: maybe(text),
  remedy: maybe(text),
  session_debug_until: maybe(time),
});

const Approval = object({
  ...{ id: text, policy_id: text, reason: text, inputs_hash: text },
  inputs: z.array(
    object({
      followup_id: maybe(text),
      text,
      attachments: z.array(object({ name: text, sha256: text })),
    }),
  ),
  decided: maybe(z.enum(["approved", "refused"])),
  decided_by: maybe(text),
  decided_at: maybe(time),
});

const Provider = z.enum(["OPENAI", "ANTHROPIC", "GOOGLE", "UNKNOWN"]);
const TimelineEvent = z.enum([
  "oz_run_created",
  "oz_run_claimed",
  "worker_container_ready",
  "shared_session_started",
  "agent_started",
  "oz_run_done",
  "oz_run_blocked",
  "oz_run_cancelled",
  "oz_run_failed",
  "oz_run_errored",
  "vm_shutdown",
]);

const FollowUpAnswer = object({
  outcome: z.enum(["live_session", "queued_prompt", "handoff_execution", "queue_pending"]),
  state: State,
  followup_id: maybe(text.nullable()),
  answered: maybe(text),
  question_open: maybe(z.literal(true)),
});

const RunItem = object({
  run_id: uuid,
  task_id: uuid,
  root_run_id: uuid,
  title: text,
  prompt: text,
  state: State,
  created_at: time,
  updated_at: time,
  is_sandbox_running: flag,
  source: Source,
  creator: Person,
  executor: maybe(Person),
  started_at: maybe(time.nullable()),
  finished_at: maybe(time.nullable()),
  submitted_prompt: maybe(text),
  run_time: maybe(z.iso.duration()),
  status_message: maybe(StatusMessage),
  debug_agent_available: maybe(z.literal(true)),
  trigger_url: maybe(text),
  session_id: maybe(uuid),
  session_link: maybe(z.url()),
  conversation_id: maybe(uuid),
  agent_config: maybe(Config),
  agent_skill: maybe(object({ name: text, description: text, full_path: text })),
  schedule: maybe(object({ schedule_id: text, schedule_name: text, cron_schedule: text })),
  parent_run_id: maybe(uuid),
  metadata: maybe(z.record(text, text)),
  scope: maybe(Scope),
  execution_location: maybe(z.enum(["LOCAL", "REMOTE"])),
  artifacts: maybe(z.array(Artifact)),
  request_usage: maybe(
    object({
      inference_cost: maybe(z.number()),
      compute_cost: maybe(z.number()),
      total_tokens: maybe(whole),
      inference_cost_usd: maybe(z.number()),
    }),
  ),
  is_run_type_cancellable: maybe(flag),
  agent: maybe(object({ name: text, version: maybe(text), model_id: maybe(text) })),
  approval: maybe(Approval),
  permission: maybe(
    object({
      permission_id: text,
      title: text,
      options: z.array(object({ option_id: text, name: text, kind: text })),
    }),
  ),
  waiting_for: maybe(WaitingFor),
  warnings: maybe(z.array(z.unknown())),
  result: maybe(object({ text, turn: whole, truncated: maybe(flag) })),
  provenance: maybe(z.record(text, z.unknown())),
}).refine(({ run_id, task_id }) => run_id === task_id, "run_id and task_id differ");

const RunEvent = object({ seq: whole.min(1), turn: whole.min(0), at: time, kind: text, run_id: maybe(uuid) });

const Category = z.enum([
  "command",
  "files",
  "search",
  "integration",
  "documents",
  "computer",
  "review",
  "skill",
]);
const Block = z.discriminatedUnion("type", [
  object({ type: z.literal("text"), text }),
  object({ type: z.literal("action"), id: text, category: Category, name: text, input: z.unknown() }),
  object({
    ...{ type: z.literal("action_result"), action_id: text, category: Category, name: text },
    state: z.enum(["running", "completed", "failed", "denied"]),
    output: z.record(text, z.unknown()),
  }),
  object({ type: z.literal("event"), name: text, data: z.unknown() }),
]);
const Message = object({
  role: z.enum(["user", "assistant", "tool", "system"]),
  content: z.array(Block),
  timestamp: maybe(time),
});
const Step = object({
  id: text,
  description: maybe(text),
  summary: maybe(text),
  started_at: maybe(time),
  completed_at: maybe(time),
  messages: z.array(Message),
  get steps(): z.ZodArray<z.ZodType> {
    return z.array(Step);
  },
});

const LINE_COMMENT = {
  ...{ repository: maybe(text), path: text, side: z.enum(["left", "right"]), line: whole },
  ...{ start_line: maybe(whole), hunk: text, commit_id: maybe(text), body: text },
};
const DraftComment = object({ draft_id: uuid, ...LINE_COMMENT, created_at: time, updated_at: time });

const FollowUp = object({
  followup_id: text,
  message: text,
  author: z.unknown(),
  source: Source,
  created_at: time,
  delivery: z.enum(["queue", "interrupt", "steer"]),
  visibility: z.enum(["thread", "private"]),
  status: z.enum(["held", "waiting_approval", "given", "withdrawn", "refused"]),
  mode: maybe(Mode),
  turn: maybe(whole),
  comments: maybe(z.array(object(LINE_COMMENT))),
  approval: maybe(Approval),
  edited_at: maybe(time),
});

const Schedule = object({
  ...{ id: text, name: text, cron_schedule: text, enabled: flag, prompt: text },
  ...{ created_at: time, updated_at: time },
  agent_config: maybe(Config),
  environment: maybe(z.unknown()),
  created_by: maybe(Person),
  updated_by: maybe(Person),
  history: maybe(object({ last_ran: maybe(time.nullable()), next_run: maybe(time.nullable()) })),
  last_spawn_error: maybe(text.nullable()),
  scope: maybe(Scope),
});

const Environment = object({
  uid: text.regex(/^[A-Za-z0-9]{22}$/),
  config: object({
    name: text,
    description: maybe(text),
    docker_image: maybe(text),
    github_repos: maybe(z.array(object({ owner: text, repo: text }))),
    setup_commands: maybe(z.array(text)),
  }),
  last_updated: time,
  setup_failed: flag,
  last_task_run_timestamp: maybe(time),
  last_task_created: maybe(
    object({ id: uuid, title: text, prompt: text, state: State, created_at: time, updated_at: time }),
  ),
  scope: maybe(Scope),
  creator: maybe(Person),
  last_editor: maybe(Person),
});

const Skill = object({
  name: text,
  variants: z.array(
    object({
      ...{ id: text, base_prompt: text, description: text, last_run_timestamp: maybe(time) },
      environments: z.array(object({ uid: text, name: text })),
      source: object({ owner: text, name: text, skill_path: text }),
    }),
  ),
});

const NamedAgent = object({
  ...{ uid: text, name: text, available: flag, created_at: time, updated_at: time, default_runner_uid: text },
  memory: object({
    attached_stores: z.array(z.unknown()),
    auto_memory: object({ enabled: flag }),
  }),
  secrets: z.array(object({ name: text })),
  skills: z.array(text),
});
const McpServerRecord = object({
  ...{ uid: text, name: text, description: maybe(text), config: McpServer },
  ...{ created_at: time, updated_at: time, created_by: z.unknown() },
});
const ShareLink = object({
  ...{ id: text, access: z.enum(["VIEWER", "EDITOR"]), created_by: z.unknown() },
  ...{ created_at: time, expires_at: time },
});

const Download = { content_type: text, download_url: text, expires_at: time, description: maybe(text) };
const artifactAnswer = <Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) =>
  object({ artifact_uid: text, artifact_type: z.literal(type), created_at: time, data: object(data) });
const ArtifactAnswer = z.discriminatedUnion("artifact_type", [
  artifactAnswer("FILE", { ...Download, filename: text, filepath: text, size_bytes: maybe(whole) }),
  artifactAnswer("SCREENSHOT", Download),
  artifactAnswer("PLAN", {
    ...{ content: text, content_type: text, document_uid: text, notebook_uid: text },
    ...{ title: maybe(text), url: maybe(text) },
  }),
  // Other kinds are shown only on the run.
  artifactAnswer("PULL_REQUEST", {}),
  artifactAnswer("EXTERNAL_REFERENCE", {}),
]);
const Changes = object({
  turn: whole,
  repositories: z.array(
    object({
      ...{ repository: text, branch: maybe(text), base: text, head: text.nullable(), diff_url: text },
      files: z.array(
        object({
          ...{
            path: text,
            old_path: maybe(text),
            status: z.enum(["added", "modified", "deleted", "renamed"]),
          },
          ...{ additions: whole.nullable(), deletions: whole.nullable() },
        }),
      ),
      truncated: maybe(flag),
    }),
  ),
});
const Cancelled = object({
  results: z.array(
    object({
      run_id: text,
      status: z.enum(["cancelled", "already_cancelled", "ended", "not_found", "not_authorized"]),
    }),
  ),
});
const Notice = object({
  ...{ id: text, run_id: maybe(uuid), thread_id: text, attempts: whole, created_at: time },
  kind: z.enum(["card", "answer", "question", "other"]),
  state: z.enum(["pending", "delivered", "replaced", "dead"]),
  ...{ delivered_at: maybe(time), error: maybe(text), permalink: maybe(text) },
});

const Quota = object({ name: text, limit: z.number(), used: z.number(), scope: z.enum(["team", "key"]) });

const list = (name: string, schema: z.ZodType = object({})) => object({ [name]: z.array(schema) });
const paged = (name: string, schema: z.ZodType) => list(name, schema).extend({ page_info: PageInfo });
const Runs = paged("runs", RunItem);
const CancelledRun = uuid;
const Events = object({ events: z.array(RunEvent), next_after: maybe(z.union([whole, text])) });

/** The type of each successful answer. An answer that is not listed may have any members with snake_case names. */
const ANSWERS: Readonly<Record<string, z.ZodType>> = {
  "POST /agent/run": RunAgentResponse,
  "POST /agent/runs": RunAgentResponse,
  "POST /agent/runs/batch": object({
    results: z.array(z.union([RunAgentResponse, object({ error: Problem })])),
  }),
  "POST /agent/runs/*/retry": RunAgentResponse,
  "POST /agent/catalogue/*/test": RunAgentResponse,
  "POST /agent/environments/*/test": RunAgentResponse,
  "GET /agent/runs": Runs,
  "GET /agent/tasks": Runs,
  "GET /agent/runs/*": RunItem,
  "PATCH /agent/runs/*": RunItem,
  "GET /agent/tasks/*": RunItem,
  "POST /agent/runs/cancel": Cancelled,
  "POST /agent/runs/*/cancel": CancelledRun,
  "POST /agent/tasks/*/cancel": CancelledRun,
  "POST /agent/runs/*/followups": FollowUpAnswer,
  "POST /agent/conversations/*/followups": FollowUpAnswer.extend({ run_id: uuid }),
  "POST /agent/runs/*/interrupt": object({}),
  "POST /agent/conversations/*/interrupt": object({ run_id: uuid }),
  "GET /agent/run-by-external-reference": object({ run_id: uuid }),
  "GET /agent/runs/*/harness-usage": object({
    ...{ available: flag, conversation_id: text, run_id: text, age_seconds: maybe(whole) },
    usage: maybe(z.record(text, z.unknown())),
  }),
  "GET /networking/egress-ranges": object({ cidrs: z.array(text) }),
  "GET /agent/runs/*/draft-comments": paged("draft_comments", DraftComment),
  "PUT /agent/runs/*/draft-comments/*": DraftComment,
  "GET /agent/runs/*/followups/*": FollowUp,
  "GET /agent/runs/*/followups": paged("followups", FollowUp),
  "GET /agent/runs/*/conversation": object({ conversation_id: uuid, steps: z.array(Step) }),
  "GET /agent/conversations/*": object({ conversation_id: uuid, steps: z.array(Step) }),
  "GET /agent/conversations/*/redirect": object({ session_id: maybe(uuid) }),
  "GET /agent/sessions/*/redirect": object({ conversation_id: maybe(uuid) }),
  "GET /agent/runs/*/timeline": list(
    "events",
    object({
      ...{
        event_uuid: uuid,
        run_id: uuid,
        execution_id: maybe(z.int()),
        event_type: TimelineEvent,
        occurred_at: time,
      },
      payload: maybe(object({})),
    }),
  ),
  "GET /agent/runs/*/events": Events,
  "GET /agent/events": object({
    events: z.array(RunEvent.extend({ run_id: uuid, cursor: text })),
    next_after: maybe(text),
  }),
  "GET /agent/runs/*/changes": Changes,
  "GET /agent/runs/*/handoff/attachments": list(
    "attachments",
    object({ attachment_id: text, filename: text, mime_type: text, download_url: text }),
  ),
  "GET /agent/artifacts/*": ArtifactAnswer,
  "GET /agent/runs/*/share-links": list("share_links", ShareLink),
  "POST /agent/runs/*/share-links": ShareLink.extend({ url: z.url() }),
  "GET /agent/schedules": list("schedules", Schedule),
  "POST /agent/schedules": Schedule,
  "GET /agent/schedules/*": Schedule,
  "PUT /agent/schedules/*": Schedule,
  "POST /agent/schedules/*/pause": Schedule,
  "POST /agent/schedules/*/resume": Schedule,
  "DELETE /agent/schedules/*": object({ success: flag }),
  "GET /agent/environments": list("environments", Environment),
  "POST /agent/environments": Environment,
  "GET /agent/environments/*": Environment,
  "PUT /agent/environments/*": Environment,
  "GET /agent": list("agents", Skill),
  "GET /agent/models": object({
    default_model_id: text,
    models: z.array(
      object({
        ...{
          id: text,
          display_name: text,
          provider: Provider,
          vision_supported: flag,
          description: maybe(text),
        },
      }),
    ),
  }),
  "GET /agent/connected-self-hosted-workers": list(
    "workers",
    object({ worker_host: text, connection_count: whole, connected_at: time, last_seen_at: time }),
  ),
  "GET /agent/identities": list("agents", NamedAgent),
  "POST /agent/identities": NamedAgent,
  "GET /agent/identities/*": NamedAgent,
  "PUT /agent/identities/*": NamedAgent,
  "GET /agent/mcp-servers": list("mcp_servers", McpServerRecord),
  "POST /agent/mcp-servers": McpServerRecord,
  "GET /agent/mcp-servers/*": McpServerRecord,
  "PUT /agent/mcp-servers/*": McpServerRecord,
  "GET /agent/notices": paged("notices", Notice),
  "GET /agent/inbox": paged("events", object({ id: text })),
  "GET /agent/identity-links": list("links"),
  "GET /agent/audit": paged(
    "entries",
    object({
      ...{ id: text, at: time, action: text, request_id: text },
      actor: object({ uid: text, type: text, key_id: maybe(text), address: maybe(text) }),
      target: object({ type: text, id: text }),
    }),
  ),
  "GET /agent/sign-ins": list(
    "sign_ins",
    object({
      ...{
        id: text,
        principal_uid: text,
        created_at: time,
        last_seen_at: time,
        expires_at: time,
        current: flag,
      },
      method: z.enum(["api_key", "slack", "github", "oidc", "link"]),
    }),
  ),
  "GET /agent/quotas": list("quotas", Quota),
  "PUT /agent/teams/*/quotas": list("quotas", Quota),
};

const CREATED = new Set([
  ...["schedules", "environments", "mcp-servers"].map((name) => `POST /agent/${name}`),
  "POST /agent/runs/*/share-links",
]);
const PATTERNS = Object.entries(ANSWERS).map(([name, schema]) => ({
  name,
  schema,
  pattern: new RegExp(`^${name.replaceAll("*", "[^/]+")}$`),
}));

function answerTo(method: string, address: string, status: number): z.ZodType | undefined {
  const called = `${method} ${address.slice(API.length)}`;
  // A name is more exact than a placeholder.
  const match = PATTERNS.filter(({ pattern }) => pattern.test(called)).toSorted(
    (left, right) => left.name.split("*").length - right.name.split("*").length,
  )[0];
  if (match === undefined || status >= 300) {
    return undefined;
  }
  const usual = CREATED.has(match.name) ? 201 : 200;
  const expected = match.name.endsWith("/interrupt") ? 202 : usual;
  return match.schema.refine(() => status === expected, `has the status ${status} instead of ${expected}`);
}

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
/** Members in which callers, agents or operators choose the names. */
const CHOSEN = new Set([
  ...["metadata", "agent_config", "env", "headers", "mcp_servers", "config"],
  ...["raw_input", "raw_output", "input", "output", "provenance"],
]);

/** The paths of members whose names are not in snake_case. */
function unusualNames(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, member]) => {
    const place = path === "" ? name : `${path}.${name}`;
    const isUsual = Array.isArray(value) || SNAKE_CASE.test(name);
    return [
      ...(isUsual ? [] : [place]),
      ...(CHOSEN.has(name) || isOfAgent(value, name) ? [] : unusualNames(member, place)),
    ];
  });
}

/** `data` of these is what the agent sent: in events, in messages, and in the result of a run. */
function isOfAgent(holder: object, name: string): boolean {
  const { kind, type } = holder as { readonly kind?: unknown; readonly type?: unknown };
  const isSent = [kind, type].some((of) =>
    ["agent.other", "event", "other", "turn.ended"].includes(String(of)),
  );
  return name === "data" && (isSent || ("text" in holder && "turn" in holder));
}
