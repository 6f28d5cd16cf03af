import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import type { ConfigLayer, ListedRun, RunConfig } from "../../core/model/runs/run.ts";
import { RUN_SOURCES } from "../../core/model/runs/sources.ts";
import { withRedactedValues } from "../../core/model/secrets/sealed-values.ts";
import type { Skill } from "../../core/model/skills/skill.ts";
import type { Artifact } from "../../core/model/workspaces/artifact.ts";
import type { Deciders } from "../../core/requests/deciders.ts";
import type { RunResult } from "../../core/requests/run-result.ts";
import type { WaitingFor } from "../../core/upkeep/waiting-for.ts";
import { approvalMember, RunApproval } from "./approval.ts";
import { ArtifactItem, artifactItemOf } from "./artifact.ts";
import { PageInfo } from "./page-info.ts";
import { permissionMember, RunPermission } from "./permission.ts";
import { pullRequestStatusOf, RunPullRequestStatus } from "./pull-request-status.ts";
import { AmbientAgentConfig } from "./run-config.ts";
import { creatorInfo, RunCreatorInfo } from "./run-creator.ts";
import { PAGE_INFO_EXAMPLE, RUN_ITEM_EXAMPLE } from "./run-examples.ts";
import { RunOutcome, runOutcomeItem } from "./run-outcome.ts";
import { RunState } from "./run-requests.ts";
import { isSetupKept, RunStatusMessage, statusOf } from "./status-message.ts";
import { Timestamp } from "./text.ts";
import { RunWaitingFor, waitingForItem } from "./waiting-for.ts";

export const RunSourceType = z.enum(RUN_SOURCES).meta({
  id: "RunSourceType",
  description: "The source of a run. `API` if nothing more specific is known.",
  examples: ["API"],
});

export const Scope = z
  .object({
    type: z
      .enum(["User", "Team"])
      .describe("`Team`: all members of the team. `User`: the creator and administrators."),
    uid: z.string().optional().describe("The uid of the creator, if the type is `User`."),
  })
  .meta({ id: "Scope", description: "Who can see something.", examples: [{ type: "Team" }] });

const RequestUsage = z.object({
  total_tokens: z
    .int()
    .optional()
    .describe(
      "Input and output tokens of all turns, as reported by the agent or counted by the gateway, whichever is " +
        "higher.",
    ),
  inference_cost_usd: z
    .number()
    .optional()
    .describe(
      "The cost reported by the agent or computed from the price list, whichever is higher. Absent if both are " +
        "unknown.",
    ),
});

const RunSkill = z.object({
  name: z.string().describe("The name in SKILL.md, otherwise the name of the folder."),
  description: z.string().describe("The purpose of the skill, from its SKILL.md."),
  full_path: z.string().describe("The path of SKILL.md in the repository that `skill_spec` names."),
});

const RunSchedule = z.object({
  schedule_id: z.uuid().describe("The schedule's id."),
  schedule_name: z.string().describe("The name of the schedule at that time."),
  cron_schedule: z.string().describe("The cron expression at that time."),
});

const RunAgent = z
  .object({
    name: z.string().describe("A name of the agent catalogue."),
    version: z.string().optional().describe("The version that the agent reported when it last started."),
    model_id: z
      .string()
      .optional()
      .describe("The model of the configuration. Absent: the agent's default model."),
  })
  .meta({
    id: "RunAgent",
    description: "The agent that does the work of the run.",
    examples: [{ name: "demo", version: "1.0.0" }],
  });

const RunResultItem = z
  .object({
    text: z.string().describe("The answer, at most 64 KiB of UTF-8."),
    turn: z.int().describe("The number of the turn."),
    truncated: z.boolean().optional().describe("true: the answer is longer. The transcript has more of it."),
    data: z
      .unknown()
      .optional()
      .describe("The JSON value in the answer. Present if the run has an `output_schema`, which it matches."),
  })
  .meta({
    id: "RunResult",
    description: "What the agent answered in the last turn that it finished.",
    examples: [{ text: "The build is green again.", turn: 1 }],
  });

export const RunItem = z
  .object({
    run_id: z.uuid().describe("The run's id."),
    task_id: z.uuid().describe("The same as `run_id`."),
    root_run_id: z
      .uuid()
      .describe("The run at the top of its ancestors. The run itself if it has no parent."),
    title: z.string().describe("The title of the request, or the beginning of the prompt."),
    prompt: z.string().describe("The prompt of the request."),
    state: RunState,
    created_at: Timestamp.describe("When the run was accepted."),
    updated_at: Timestamp.describe("When the run last changed. A new event counts as a change."),
    is_sandbox_running: z
      .boolean()
      .describe("Whether a worker holds the run. It is true until the processes of the run have ended."),
    source: RunSourceType,
    creator: RunCreatorInfo,
    executor: RunCreatorInfo.optional().describe(
      "The principal that executes the run: a named agent, the principal that requested the run in the name of its " +
        "creator, or the creator itself.",
    ),
    agent: RunAgent.optional(),
    started_at: Timestamp.nullable()
      .optional()
      .describe("When the agent first received the prompt. null before that."),
    finished_at: Timestamp.nullable().optional().describe("When the run ended. null while it has not ended."),
    submitted_prompt: z
      .string()
      .optional()
      .describe(
        "The prompt and the follow-ups that came before the run started, with blank lines between. Absent in lists.",
      ),
    run_time: z
      .string()
      .optional()
      .describe("The ISO 8601 duration from the start to the end, or until now."),
    status_message: RunStatusMessage.optional(),
    debug_agent_available: z
      .boolean()
      .optional()
      .describe(
        "true: the setup of the workspace failed, and a follow-up starts an agent in the workspace as it was then. " +
          "Absent otherwise, and after `session_debug_until`.",
      ),
    trigger_url: z.string().optional().describe("The message, comment or schedule that started the run."),
    session_id: z.uuid().optional().describe("The id of the run's page."),
    session_link: z.string().optional().describe("The URL of the page that shows the run live."),
    conversation_id: z.uuid().optional().describe("The conversation that contains all turns of the run."),
    agent_config: AmbientAgentConfig.optional().describe(
      "The resolved configuration. `harness` is what a caller asked for, and absent if no caller did; `agent` tells " +
        "which agent does the work.",
    ),
    agent_skill: RunSkill.optional().describe("The skill that started the run, as it was at that time."),
    artifacts: z.array(ArtifactItem).optional().describe("The artifacts of the run, the oldest first."),
    pull_request_status: RunPullRequestStatus.optional(),
    schedule: RunSchedule.optional().describe("The schedule that started the run, as it was at that time."),
    approval: RunApproval.optional().describe(
      "The approval that the run needs or needed before it starts. A later follow-up has one of its own.",
    ),
    permission: RunPermission.optional().describe(
      "The question that the run waits for. To answer, use `POST …/permissions/{permissionId}` or send a follow-up.",
    ),
    waiting_for: RunWaitingFor.optional(),
    result: RunResultItem.optional().describe(
      "What the agent answered in the last turn that it finished. Absent in lists and before the end of the first turn.",
    ),
    outcome: RunOutcome.optional(),
    warnings: z
      .array(z.string())
      .optional()
      .describe(
        "Problems that did not end the run, the oldest first: files that were not kept, a missing secret or tool. At " +
          "most 20.",
      ),
    parent_run_id: z.uuid().optional().describe("The parent of the run."),
    metadata: z.record(z.string(), z.string()).optional().describe("The metadata of the request."),
    request_usage: RequestUsage.optional().describe("The usage of the model, as far as it is known."),
    scope: Scope.optional().describe("Who can see the run."),
    execution_location: z
      .enum(["LOCAL", "REMOTE"])
      .optional()
      .describe(
        "Where the run is executed. Always `REMOTE`, because workers execute all runs, even if `source` is `LOCAL`.",
      ),
    provenance: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        "The verified origin of the run. `config_layers` names the source of each member of `agent_config`: " +
          "`request` (also for a skill that `skill` names), `agent` (the named agent), `conversation` (taken from the run that this run " +
          "continues), `repository_file` (a file in the repository of the request), `routing_rule`, `skill` (a name that the skill defines), or `default`. A retry keeps `routing` " +
          "and `config_layers` of the run that it repeats.",
      ),
  })
  .meta({ id: "RunItem", description: "The current state of a run.", examples: [RUN_ITEM_EXAMPLE] });
export type RunItem = z.output<typeof RunItem>;

export const ListRunsResponse = z
  .object({ runs: z.array(RunItem).describe("In the order of `sort_by`."), page_info: PageInfo })
  .meta({
    id: "ListRunsResponse",
    description: "A page of runs.",
    examples: [{ runs: [RUN_ITEM_EXAMPLE], page_info: PAGE_INFO_EXAMPLE }],
  });
export type ListRunsResponse = z.output<typeof ListRunsResponse>;

export interface RunItemContext {
  readonly creator: Principal | undefined;
  readonly executor: Principal | undefined;
  readonly waitingFor: WaitingFor | undefined;
  readonly deciders?: Deciders | undefined;
  /** A list has no results, which are long, and no single checks. */
  readonly isList?: boolean;
  readonly result?: RunResult | undefined;
  readonly sessionLink: string;
  readonly submittedPrompt?: string;
  readonly artifacts: readonly Artifact[];
  readonly now: Date;
}

/** Converts a run to the format of the API. Absent optional members are left out; only `started_at` and `finished_at` may be null. */
export function runItemOf(run: ListedRun, context: RunItemContext): RunItem {
  const {
    artifacts,
    creator,
    deciders,
    executor,
    isList = false,
    now,
    result,
    sessionLink,
    submittedPrompt,
    waitingFor,
  } = context;
  return {
    run_id: run.id,
    task_id: run.id,
    root_run_id: run.ancestorIds.at(-1) ?? run.id,
    title: run.title,
    prompt: run.prompt,
    state: run.state,
    created_at: run.createdAt.toISOString(),
    updated_at: run.updatedAt.toISOString(),
    is_sandbox_running: run.lease !== undefined,
    source: run.source,
    creator: creatorInfo(run.creatorId, creator),
    executor: creatorInfo(run.executorId ?? run.creatorId, executor),
    agent: agentOf(run),
    started_at: run.startedAt?.toISOString() ?? null,
    finished_at: run.endedAt?.toISOString() ?? null,
    session_id: run.sessionId,
    session_link: sessionLink,
    conversation_id: run.conversationId,
    agent_config: requestedConfig(run),
    scope: run.teamOwned ? { type: "Team" } : { type: "User", uid: run.creatorId },
    // Workers execute all runs, wherever the request came from.
    execution_location: "REMOTE",
    ...defined({
      submitted_prompt: submittedPrompt,
      artifacts:
        artifacts.length === 0
          ? undefined
          : artifacts.map((artifact) => artifactItemOf(artifact, run.pullRequestStatus)),
      waiting_for: waitingFor === undefined ? undefined : waitingForItem(waitingFor, deciders),
    }),
    ...pullRequestStatusOf(run, isList),
    ...defined({ result: result === undefined ? undefined : resultItem(result) }),
    ...outcomeMember(run, sessionLink),
    ...optionalMembers(run, now),
  };
}

/**
 * A harness that no caller asked for is left out, although a named agent or a routing rule may have chosen it: strict
 * clients refuse the names of agents that they do not know.
 */
function requestedConfig({ config: stored, provenance }: ListedRun): RunConfig {
  const config = withRedactedValues(stored);
  const { harness, ...others } = config;
  const { config_layers: layers = {} } = provenance;
  if (harness === undefined || isRequested(layers.harness)) {
    return config;
  }
  const requested = Object.entries(harness).filter(([member]) => {
    const layer = layers[`harness.${member}`];
    return layer !== undefined && isRequested(layer);
  });
  return requested.length === 0 ? others : { ...others, harness: Object.fromEntries(requested) };
}

function isRequested(layer: ConfigLayer | undefined): boolean {
  return layer === undefined || layer === "request" || layer === "conversation";
}

function agentOf({ agent, agentVersion, config }: ListedRun): RunItem["agent"] {
  const modelId = config.harness?.model_id ?? config.model_id;
  return defined({ name: agent, version: agentVersion, model_id: modelId });
}

function resultItem({ data, isTruncated, text, turn }: RunResult): RunItem["result"] {
  return defined({ text, turn, truncated: isTruncated ? true : undefined, data });
}

function optionalMembers(run: ListedRun, now: Date): Partial<RunItem> {
  const [parentId] = run.ancestorIds;
  const { skillSnapshot: skill, startedAt, triggerUrl, metadata, provenance, warnings } = run;
  return {
    ...defined({
      run_time: startedAt === undefined ? undefined : durationOf(startedAt, run.endedAt ?? now),
      status_message: statusOf(run, now),
      debug_agent_available: isSetupKept(run, now) ? true : undefined,
      agent_skill: skill === undefined ? undefined : skillOf(skill),
      trigger_url: triggerUrl,
    }),
    ...scheduleOf(run),
    ...approvalMember(run.approval),
    ...permissionMember(run),
    ...defined({
      warnings: warnings === undefined ? undefined : [...warnings],
      parent_run_id: parentId,
      metadata: isEmpty(metadata) ? undefined : metadata,
    }),
    ...usageOf(run),
    ...defined({ provenance: isEmpty(provenance) ? undefined : provenance }),
  };
}

function outcomeMember(run: ListedRun, sessionLink: string): Pick<RunItem, "outcome"> {
  const outcome = runOutcomeItem(run, sessionLink);
  return outcome === undefined ? {} : { outcome };
}

function usageOf({ totalTokens, costUsd }: ListedRun): Pick<RunItem, "request_usage"> {
  if (totalTokens === 0 && costUsd === undefined) {
    return {};
  }
  return {
    request_usage: defined({ total_tokens: totalTokens, inference_cost_usd: costUsd }),
  };
}

function skillOf({ description, name, path }: Skill): RunItem["agent_skill"] {
  return { name, description, full_path: path };
}

function scheduleOf({ scheduleId, provenance }: ListedRun): Pick<RunItem, "schedule"> {
  if (scheduleId === undefined) {
    return {};
  }
  const { data } = RunSchedule.safeParse(provenance.schedule);
  return data === undefined ? {} : { schedule: data };
}

function durationOf(from: Date, to: Date): string {
  return `PT${Math.max(0, to.getTime() - from.getTime()) / 1_000}S`;
}

function isEmpty(members: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(members).length === 0;
}
