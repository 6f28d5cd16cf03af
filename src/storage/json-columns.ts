import { z } from "zod";
import { ERROR_CODES } from "../core/basics/errors.ts";
import type { PrincipalId } from "../core/basics/ids.ts";
import type { RoutingMatch } from "../core/model/defaults/request-defaults.ts";
import { PRINCIPAL_TYPES } from "../core/model/people/principal.ts";
import { SHARE_ACCESSES } from "../core/model/people/share-link.ts";
import {
  POLICY_ACTIONS,
  type PolicyMatch,
  RELATIONS,
  REQUEST_KINDS,
  ROLES,
} from "../core/model/policies/policy.ts";
import { PULL_REQUEST_SETTINGS } from "../core/model/repositories/pull-request-setting.ts";
import {
  CHECK_STATES,
  PULL_REQUEST_STATES,
  type PullRequestCheck,
  type PullRequestStatus,
} from "../core/model/repositories/pull-request-status.ts";
import { PERMISSION_KINDS, type PermissionRequest } from "../core/model/runs/agent-update.ts";
import type { ExecutedConfig, ExecutedMcpServer } from "../core/model/runs/executed-config.ts";
import { LINE_SIDES, type LineComment } from "../core/model/runs/line-comment.ts";
import { RUN_PRIORITIES } from "../core/model/runs/queue-class.ts";
import {
  type Approval,
  type ApprovalInput,
  type Budget,
  CONFIG_LAYERS,
  type McpServerConfig,
  type PendingPermission,
  type PlanStep,
  type Provenance,
  type RunActivity,
  type RunConfig,
  type RunPause,
  type StatusMessage,
  type WaitingFollowUp,
} from "../core/model/runs/run.ts";
import { RUN_SOURCES } from "../core/model/runs/sources.ts";
import {
  type ChangeCounts,
  REFUSED_PARTS,
  type RefusedWork,
  type StoredOutcome,
} from "../core/model/runs/stored-outcome.ts";
import type { Skill } from "../core/model/skills/skill.ts";
import { ARTIFACT_TYPES, type ArtifactBody } from "../core/model/workspaces/artifact.ts";
import { type EnvironmentConfig, NETWORK_ACCESSES } from "../core/model/workspaces/environment.ts";
import { type FollowUpFile, INPUT_KINDS } from "../core/model/workspaces/input-file.ts";
import { type ChangedFile, FILE_STATUSES } from "../core/model/workspaces/repository-changes.ts";

/**
 * The schemas of the JSON columns. All objects are loose: members that this version does not know are kept, because
 * another version may have written them, and because callers get back what they sent.
 */

export const text = z.exactOptional(z.string());
export const texts = z.array(z.string());
const textByName = recordOf(z.string());
export const count = z.exactOptional(z.number());
const principalId = z.custom<PrincipalId>(isText);

/** The members of `T`: `satisfies` reports one that a schema lacks, which an index signature would hide. */
export type MembersOf<T> = {
  readonly [Member in keyof T as string extends Member ? never : Member]-?: z.ZodType<T[Member]>;
};

/** Any names with values of this schema. zod checks an object with a catchall in half the time of `z.record`. */
function recordOf<Value extends z.ZodType>(value: Value) {
  return z.object({}).catchall(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

export const MCP_SERVER: z.ZodType<McpServerConfig> = z.looseObject({
  command: text,
  args: z.exactOptional(texts),
  env: z.exactOptional(textByName),
  url: text,
  headers: z.exactOptional(textByName),
  warp_id: text,
} satisfies MembersOf<McpServerConfig>);

const HARNESS = z.looseObject({
  type: text,
  model_id: text,
  reasoning_level: text,
} satisfies MembersOf<RunConfig["harness"] & object>);

const BUDGET = z.looseObject({
  max_turns: count,
  max_minutes: count,
  max_tokens: count,
  max_cost_usd: count,
} satisfies MembersOf<Budget>);

export const RUN_CONFIG: z.ZodType<RunConfig> = z.looseObject({
  name: text,
  model_id: text,
  base_prompt: text,
  environment_id: text,
  skill_spec: text,
  skills: z.exactOptional(texts),
  worker_host: text,
  secrets: z.exactOptional(z.array(z.looseObject({ name: z.string() }))),
  idle_timeout_minutes: count,
  harness: z.exactOptional(HARNESS),
  mcp_servers: z.exactOptional(recordOf(MCP_SERVER)),
  budget: z.exactOptional(BUDGET),
  permission_policy: z.exactOptional(z.enum(["allow", "ask"])),
  // Older releases stored any value without using it.
  priority: z.exactOptional(z.enum(RUN_PRIORITIES).catch("normal")),
  session_sharing: z.exactOptional(z.looseObject({ public_access: z.exactOptional(z.enum(SHARE_ACCESSES)) })),
  repository: text,
  repository_guessed: z.exactOptional(z.boolean()),
  ref: text,
  pull_request: z.exactOptional(z.enum(PULL_REQUEST_SETTINGS)),
  output_schema: z.exactOptional(recordOf(z.unknown())),
} satisfies MembersOf<RunConfig>);

/** Members that have no effect and are given back. */
export const OTHER_MEMBERS: z.ZodType<Readonly<Record<string, unknown>>> = recordOf(z.unknown());

export const METADATA: z.ZodType<Readonly<Record<string, string>>> = textByName;

export const PROVENANCE: z.ZodType<Provenance> = z.looseObject({
  integration: text,
  actor: z.exactOptional(OTHER_MEMBERS),
  config_layers: z.exactOptional(recordOf(z.enum(CONFIG_LAYERS))),
  routing: z.exactOptional(z.looseObject({ rule: z.exactOptional(z.string().nullable()) })),
  has_environments: z.exactOptional(z.literal(false)),
  may_open_pull_request: z.exactOptional(z.literal(false)),
  settings_mistakes: z.exactOptional(texts),
  environment: z.exactOptional(z.looseObject({ name: z.string(), repositories: texts })),
} satisfies MembersOf<Provenance>);

const REPOSITORY = z.looseObject({ owner: z.string(), name: z.string() });

export const SKILL: z.ZodType<Skill> = z.looseObject({
  name: z.string(),
  description: z.string(),
  repository: REPOSITORY,
  path: z.string(),
  commit: z.string(),
  basePrompt: z.string(),
} satisfies MembersOf<Skill>);

export const SKILLS: z.ZodType<readonly Skill[]> = z.array(SKILL);

export const STATUS_MESSAGE: z.ZodType<StatusMessage> = z.looseObject({
  message: z.string(),
  errorCode: z.exactOptional(z.enum(ERROR_CODES)),
  retryable: z.exactOptional(z.boolean()),
  reason: text,
  remedy: text,
} satisfies MembersOf<StatusMessage>);

export const PERMISSION_OPTIONS: z.ZodType<PermissionRequest["options"]> = z.array(
  z.looseObject({ optionId: z.string(), name: z.string(), kind: z.enum(PERMISSION_KINDS) }),
);

/** Times are texts in JSON. */
export const time = z.iso.datetime().transform((text) => new Date(text));

export const OUTCOME: z.ZodType<StoredOutcome> = z.looseObject({
  changes: z.exactOptional(
    z.looseObject({
      files: z.number(),
      additions: z.number(),
      deletions: z.number(),
    } satisfies MembersOf<ChangeCounts>),
  ),
  refused: z.exactOptional(
    z.array(
      z.looseObject({
        what: z.enum(REFUSED_PARTS),
        by: z.string(),
        message: z.string(),
        remedy: text,
      } satisfies MembersOf<RefusedWork>),
    ),
  ),
} satisfies MembersOf<StoredOutcome>);

const permissionRequest = {
  permissionId: z.string(),
  toolCallId: text,
  title: z.string(),
  options: PERMISSION_OPTIONS,
  command: text,
  paths: z.exactOptional(texts),
  diff: text,
  input: text,
  reason: text,
  truncated: z.exactOptional(z.boolean()),
} satisfies MembersOf<PermissionRequest>;

export const PENDING_PERMISSION: z.ZodType<PendingPermission> = z.looseObject({
  ...permissionRequest,
  askedAt: time,
  answer: z.exactOptional(z.string().nullable()),
  answeredBy: z.exactOptional(principalId),
} satisfies MembersOf<PendingPermission>);

export const PAUSE: z.ZodType<RunPause> = z.looseObject({
  by: principalId,
  name: text,
} satisfies MembersOf<RunPause>);

const APPROVAL_INPUT: z.ZodType<ApprovalInput> = z.looseObject({
  followUpId: text,
  text: z.string(),
  attachments: z.array(z.looseObject({ name: z.string(), sha256: z.string() })),
} satisfies MembersOf<ApprovalInput>);

const EXECUTED_MCP_SERVER = z.looseObject({
  command: text,
  args: z.exactOptional(texts),
  url: text,
  env: z.exactOptional(texts),
  headers: z.exactOptional(texts),
  warpId: text,
} satisfies MembersOf<ExecutedMcpServer>);

export const EXECUTED_CONFIG: z.ZodType<ExecutedConfig> = z.looseObject({
  agent: z.string(),
  modelId: text,
  reasoningLevel: text,
  permissionPolicy: z.enum(["allow", "ask"]),
  repositories: z.array(z.looseObject({ repository: z.string(), ref: text })),
  pullRequest: text,
  environmentId: text,
  image: text,
  sparse: z.exactOptional(texts),
  setupCommands: texts,
  network: z.enum(NETWORK_ACCESSES),
  mcpServers: recordOf(EXECUTED_MCP_SERVER),
  secretNames: texts,
  skills: texts,
  budget: z.exactOptional(OTHER_MEMBERS),
  workerHost: text,
} satisfies MembersOf<ExecutedConfig>);

export const APPROVAL: z.ZodType<Approval> = z.looseObject({
  id: z.string(),
  policyId: z.string(),
  reason: z.string(),
  inputsHash: z.string(),
  inputs: z.array(APPROVAL_INPUT),
  executes: z.exactOptional(EXECUTED_CONFIG),
  authorIds: z.array(principalId),
  approved: z.exactOptional(z.boolean()),
  decidedBy: z.exactOptional(principalId),
  decidedAs: z.exactOptional(z.string()),
  decidedAt: z.exactOptional(time),
} satisfies MembersOf<Approval>);

export const FOLLOW_UP_FILES: z.ZodType<readonly FollowUpFile[]> = z.array(
  z.looseObject({
    kind: z.enum(INPUT_KINDS),
    fileName: z.string(),
    mimeType: z.string(),
    sizeBytes: z.number(),
    blobId: z.string(),
    path: z.string(),
    sha256: z.string(),
  } satisfies MembersOf<FollowUpFile>),
);

export const LINE_COMMENT: z.ZodType<LineComment> = z.looseObject({
  repository: z.exactOptional(z.string()),
  path: z.string(),
  side: z.enum(LINE_SIDES),
  line: z.number(),
  startLine: z.exactOptional(z.number()),
  hunk: z.string(),
  commitId: z.exactOptional(z.string()),
  body: z.string(),
} satisfies MembersOf<LineComment>);
export const LINE_COMMENTS: z.ZodType<readonly LineComment[]> = z.array(LINE_COMMENT);

export const WAITING_FOLLOW_UP: z.ZodType<WaitingFollowUp> = z.looseObject({
  followUpId: z.string(),
  reason: z.string(),
  authorIds: z.array(principalId),
  since: time,
} satisfies MembersOf<WaitingFollowUp>);

export const PULL_REQUEST_STATUS: z.ZodType<PullRequestStatus> = z.looseObject({
  url: z.string(),
  state: z.enum(PULL_REQUEST_STATES),
  checks: z.array(
    z.looseObject({
      name: z.string(),
      state: z.enum(CHECK_STATES),
      url: text,
    } satisfies MembersOf<PullRequestCheck>),
  ),
  awaitsChecks: z.exactOptional(z.literal(true)),
} satisfies MembersOf<PullRequestStatus>);

export const PLAN_STEPS: z.ZodType<readonly PlanStep[]> = z.array(
  z.looseObject({ text: z.string(), status: z.string() } satisfies MembersOf<PlanStep>),
);

export const RUN_ACTIVITY: z.ZodType<RunActivity> = z.looseObject({
  since: z.exactOptional(time),
  plan: z.exactOptional(PLAN_STEPS),
  step: text,
} satisfies MembersOf<RunActivity>);

export const ENVIRONMENT_CONFIG: z.ZodType<EnvironmentConfig> = z.looseObject({
  name: z.string(),
  description: text,
  image: text,
  repositories: z.array(REPOSITORY),
  sparse: z.exactOptional(texts),
  setupCommands: texts,
  network: z.enum(NETWORK_ACCESSES),
  pullRequest: z.exactOptional(z.enum(PULL_REQUEST_SETTINGS)),
  secretNames: z.exactOptional(texts),
  debugMinutes: z.exactOptional(z.number()),
} satisfies MembersOf<EnvironmentConfig>);

const someTexts = z.exactOptional(texts);
const someSources = z.exactOptional(z.array(z.enum(RUN_SOURCES)));

export const POLICY_MATCH: z.ZodType<PolicyMatch> = z.looseObject({
  actions: z.exactOptional(z.array(z.enum(POLICY_ACTIONS))),
  sources: someSources,
  integrations: someTexts,
  installations: someTexts,
  places: someTexts,
  requestKinds: z.exactOptional(z.array(z.enum(REQUEST_KINDS))),
  principals: z.exactOptional(z.array(principalId)),
  principalTypes: z.exactOptional(z.array(z.enum(PRINCIPAL_TYPES))),
  environments: someTexts,
  agents: someTexts,
  roles: z.exactOptional(z.array(z.enum(ROLES))),
  bots: someTexts,
  groups: someTexts,
  models: someTexts,
  priorities: z.exactOptional(z.array(z.enum(RUN_PRIORITIES))),
  repositories: someTexts,
  relation: z.exactOptional(z.enum(RELATIONS)),
  workflow: z.exactOptional(
    z.looseObject({ issuer: z.string(), audience: text, repositoryIds: texts, refs: texts, events: texts }),
  ),
} satisfies MembersOf<PolicyMatch>);

export const ROUTING_MATCH: z.ZodType<RoutingMatch> = z.looseObject({
  integrations: someTexts,
  installations: someTexts,
  places: someTexts,
  text: someTexts,
  sources: someSources,
} satisfies MembersOf<RoutingMatch>);

const [PULL_REQUEST, PLAN, FILE, SCREENSHOT, EXTERNAL_REFERENCE] = ARTIFACT_TYPES;

export const ARTIFACT_BODY: z.ZodType<ArtifactBody> = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal(PULL_REQUEST), url: z.string(), branch: z.string() }),
  z.looseObject({ type: z.literal(PLAN), documentUid: z.string(), title: text }),
  z.looseObject({
    type: z.literal(FILE),
    filePath: z.string(),
    fileName: z.string(),
    mimeType: z.string(),
  }),
  z.looseObject({ type: z.literal(SCREENSHOT), mimeType: z.string(), description: text }),
  z.looseObject({
    type: z.literal(EXTERNAL_REFERENCE),
    referenceType: z.string(),
    url: z.string(),
    title: text,
  }),
]);

export const CHANGED_FILES: z.ZodType<readonly ChangedFile[]> = z.array(
  z.looseObject({
    path: z.string(),
    oldPath: text,
    status: z.enum(FILE_STATUSES),
    additions: z.number().nullable(),
    deletions: z.number().nullable(),
  } satisfies MembersOf<ChangedFile>),
);
