import { z } from "zod";
import { PERMISSION_KINDS } from "../../core/agents/agent-runner.ts";
import type { Artifact } from "../../core/artifacts/artifact.ts";
import { ERROR_CODES } from "../../core/errors.ts";
import type { PrincipalId } from "../../core/ids.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import { RUN_SOURCES } from "../../core/runs/sources.ts";
import type { Skill } from "../../core/skills/skill.ts";
import { ArtifactItem, artifactItemOf } from "./artifact.ts";
import { AmbientAgentConfig } from "./run-config.ts";
import { PAGE_INFO_EXAMPLE, RUN_ITEM_EXAMPLE } from "./run-examples.ts";
import { RunState } from "./run-requests.ts";
import { Timestamp } from "./text.ts";

export const RunSourceType = z.enum(RUN_SOURCES).meta({
  id: "RunSourceType",
  description: "Where a run came from. `API` unless something more is known.",
  examples: ["API"],
});

const RunStatusMessage = z
  .object({
    message: z.string().describe("For people."),
    error_code: z.enum(ERROR_CODES).optional().describe("For programs: one of the codes of `Error`."),
    retryable: z.boolean().optional().describe("Whether the same run, done again, may end better."),
  })
  .meta({
    id: "RunStatusMessage",
    description: "Why the run ended as it did, or what it waits for.",
    examples: [
      { message: "The agent's process died.", error_code: "agent_process_failed", retryable: false },
    ],
  });

export const RunCreatorInfo = z
  .object({
    uid: z.string().describe("The principal's id."),
    type: z.enum(["user", "service_account"]).describe("A person, or a program."),
    display_name: z.string().optional().describe("As the principal is called on the pages."),
    email: z.string().optional().describe("Where it is known."),
    photo_url: z.string().optional().describe("Where it is known."),
  })
  .meta({
    id: "RunCreatorInfo",
    description: "Who started a run.",
    examples: [RUN_ITEM_EXAMPLE.creator],
  });

export const Scope = z.object({
  type: z.enum(["User", "Team"]).describe("`Team`: all of the team. `User`: the creator and administrators."),
  uid: z.string().optional().describe("With `User`: the creator."),
});

const RequestUsage = z.object({
  total_tokens: z
    .int()
    .optional()
    .describe("In and out, of all turns, as the agent told or the gateway counted, whichever is more."),
  inference_cost_usd: z
    .number()
    .optional()
    .describe("As the agent or the price list reckons it, whichever is more; absent where neither does."),
});

const RunSkill = z.object({
  name: z.string().describe("What it calls itself; else the name of its folder."),
  description: z.string().describe("What it is for, in its own words."),
  full_path: z.string().describe("The path of its SKILL.md in the repository that `skill_spec` names."),
});

const RunSchedule = z.object({
  schedule_id: z.uuid().describe("The schedule's id."),
  schedule_name: z.string().describe("What it was called."),
  cron_schedule: z.string().describe("When it came due."),
});

const RunApproval = z.object({
  policy_id: z.uuid().describe("The policy that asked for it."),
  reason: z.string().describe("Why it is needed."),
  approved: z.boolean().optional().describe("What was decided; absent as long as it waits."),
  decided_by: z.uuid().optional().describe("The principal who decided."),
});

const RunPermission = z.object({
  permission_id: z.string().describe("What the answer is posted to."),
  title: z.string().describe("What the agent asks."),
  options: z
    .array(
      z.object({
        option_id: z.string().describe("What the answer names."),
        name: z.string().describe("For people."),
        kind: z.enum(PERMISSION_KINDS).describe("Whether it allows or rejects, and for how long."),
      }),
    )
    .describe("The answers that the agent offers."),
});

export const RunItem = z
  .object({
    run_id: z.uuid().describe("The run's id."),
    task_id: z.uuid().describe("The same as `run_id`."),
    title: z.string().describe("As given, or the beginning of the prompt."),
    prompt: z.string().describe("What was asked for at the start."),
    state: RunState,
    created_at: Timestamp.describe("When the run was accepted."),
    updated_at: Timestamp.describe("When it changed last, by a new event too."),
    is_sandbox_running: z
      .boolean()
      .describe("Whether a worker holds the run; true until its processes are gone."),
    source: RunSourceType,
    creator: RunCreatorInfo,
    started_at: Timestamp.nullable()
      .optional()
      .describe("When its agent first took the prompt; null before that."),
    run_time: z.string().optional().describe("ISO 8601 duration from the start to the end, or to now."),
    status_message: RunStatusMessage.optional(),
    trigger_url: z.string().optional().describe("Where it was asked for: a message, a comment, a schedule."),
    session_id: z.uuid().optional().describe("The id of its page."),
    session_link: z.string().optional().describe("The page that shows it live."),
    conversation_id: z.uuid().optional().describe("All turns of the run as one talk."),
    agent_config: AmbientAgentConfig.optional(),
    agent_skill: RunSkill.optional().describe("The skill it was started from, as it was then."),
    artifacts: z.array(ArtifactItem).optional().describe("What the run made, the oldest first."),
    schedule: RunSchedule.optional().describe("The schedule that started it, as it was then."),
    approval: RunApproval.optional().describe("Whose approval it needs before it begins, or needed."),
    permission: RunPermission.optional().describe(
      "What its agent asks, while the run waits for the answer: `POST …/permissions/{permissionId}`, or words in a follow-up.",
    ),
    parent_run_id: z.uuid().optional().describe("The run that this one belongs to."),
    metadata: z.record(z.string(), z.string()).optional().describe("As it was given at the start."),
    request_usage: RequestUsage.optional().describe("What the run took of a model, once any of it is known."),
    scope: Scope.optional().describe("Who sees the run."),
    execution_location: z
      .enum(["LOCAL", "REMOTE"])
      .optional()
      .describe("Where the run is done: by a worker, so `REMOTE`, also where its `source` is `LOCAL`."),
    provenance: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "Where the run came from, as proven then. `config_layers` tells for each member of `agent_config` who gave it: " +
          "`request`, also for the skill that `skill` names; `conversation`, for what was taken over from the run that this " +
          "one goes on with; `routing_rule`; `skill` for a name that is the skill's own; " +
          "`default`. A run started by a retry keeps the `routing` and `config_layers` of the one that it repeats.",
      ),
  })
  .meta({ id: "RunItem", description: "A run, as it stands now.", examples: [RUN_ITEM_EXAMPLE] });
export type RunItem = z.output<typeof RunItem>;

export const PageInfo = z
  .object({
    has_next_page: z.boolean().describe("Whether there is more."),
    next_cursor: z.string().optional().describe("`cursor` of the next page, with the same sort and filters."),
  })
  .meta({ id: "PageInfo", description: "How to go on.", examples: [PAGE_INFO_EXAMPLE] });

export const ListRunsResponse = z
  .object({ runs: z.array(RunItem).describe("In the order asked for."), page_info: PageInfo })
  .meta({
    id: "ListRunsResponse",
    description: "A page of runs.",
    examples: [{ runs: [RUN_ITEM_EXAMPLE], page_info: PAGE_INFO_EXAMPLE }],
  });
export type ListRunsResponse = z.output<typeof ListRunsResponse>;

export interface RunItemContext {
  readonly creator: Principal | undefined;
  readonly sessionLink: string;
  readonly artifacts: readonly Artifact[];
  readonly now: Date;
}

/** A run in the API's format. Absent optional members are left out; only `started_at` may be null. */
export function runItemOf(run: Run, { creator, sessionLink, artifacts, now }: RunItemContext): RunItem {
  return {
    run_id: run.id,
    task_id: run.id,
    title: run.title,
    prompt: run.prompt,
    state: run.state,
    created_at: run.createdAt.toISOString(),
    updated_at: run.updatedAt.toISOString(),
    is_sandbox_running: run.lease !== undefined,
    source: run.source,
    creator: creatorInfo(run.creatorId, creator),
    started_at: run.startedAt?.toISOString() ?? null,
    session_id: run.sessionId,
    session_link: sessionLink,
    conversation_id: run.conversationId,
    agent_config: { ...run.config, harness: { ...run.config.harness, type: run.agent } },
    scope: run.teamOwned ? { type: "Team" } : { type: "User", uid: run.creatorId },
    // What is queued here is done by a worker, whoever asked for it.
    execution_location: "REMOTE",
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts.map(artifactItemOf) }),
    ...optionalMembers(run, now),
  };
}

function optionalMembers(run: Run, now: Date): Partial<RunItem> {
  const [parentId] = run.ancestorIds;
  const { skillSnapshot: skill, startedAt, statusMessage, triggerUrl, metadata, provenance } = run;
  return {
    ...(startedAt === undefined ? {} : { run_time: durationOf(startedAt, run.endedAt ?? now) }),
    ...(statusMessage === undefined ? {} : { status_message: statusOf(statusMessage) }),
    ...(skill === undefined ? {} : { agent_skill: skillOf(skill) }),
    ...(triggerUrl === undefined ? {} : { trigger_url: triggerUrl }),
    ...scheduleOf(run),
    ...approvalOf(run),
    ...permissionOf(run),
    ...(parentId === undefined ? {} : { parent_run_id: parentId }),
    ...(isEmpty(metadata) ? {} : { metadata }),
    ...usageOf(run),
    ...(isEmpty(provenance) ? {} : { provenance }),
  };
}

function permissionOf({ permission, state }: Run): Pick<RunItem, "permission"> {
  if (state !== "BLOCKED" || permission === undefined) return {};
  const { options, permissionId, title } = permission;
  const offered = options.map(({ kind, name, optionId }) => ({ option_id: optionId, name, kind }));
  return { permission: { permission_id: permissionId, title, options: offered } };
}

function usageOf({ totalTokens, costUsd }: Run): Pick<RunItem, "request_usage"> {
  if (totalTokens === 0 && costUsd === undefined) return {};
  return {
    request_usage: {
      total_tokens: totalTokens,
      ...(costUsd === undefined ? {} : { inference_cost_usd: costUsd }),
    },
  };
}

function skillOf({ description, name, path }: Skill): RunItem["agent_skill"] {
  return { name, description, full_path: path };
}

function scheduleOf({ scheduleId, provenance }: Run): Pick<RunItem, "schedule"> {
  const { data } = RunSchedule.safeParse(provenance.schedule);
  return scheduleId === undefined || data === undefined ? {} : { schedule: data };
}

function approvalOf({ approval }: Run): Pick<RunItem, "approval"> {
  if (approval === undefined) return {};
  const { policyId, reason, approved, decidedBy } = approval;
  const decision = {
    ...(approved === undefined ? {} : { approved }),
    ...(decidedBy && { decided_by: decidedBy }),
  };
  return { approval: { policy_id: policyId, reason, ...decision } };
}

function statusOf({
  message,
  errorCode,
  retryable,
}: NonNullable<Run["statusMessage"]>): RunItem["status_message"] {
  return {
    message,
    ...(errorCode === undefined ? {} : { error_code: errorCode }),
    ...(retryable === undefined ? {} : { retryable }),
  };
}

/** A principal that is gone leaves its id: the member is always there. */
export function creatorInfo(uid: PrincipalId, creator: Principal | undefined): RunItem["creator"] {
  const { type = "user", displayName, email, photoUrl } = creator ?? {};
  return {
    uid,
    type,
    ...(displayName === undefined ? {} : { display_name: displayName }),
    ...(email === undefined ? {} : { email }),
    ...(photoUrl === undefined ? {} : { photo_url: photoUrl }),
  };
}

function durationOf(from: Date, to: Date): string {
  return `PT${Math.max(0, to.getTime() - from.getTime()) / 1_000}S`;
}

function isEmpty(members: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(members).length === 0;
}
