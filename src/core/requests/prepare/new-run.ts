import { titleFrom } from "../../basics/clean-text.ts";
import { defined } from "../../basics/defined.ts";
import { newId, type PrincipalId, type RunId } from "../../basics/ids.ts";
import type { NamedAgent } from "../../model/defaults/named-agent.ts";
import type { Viewer } from "../../model/people/principal.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import { queueClassOf } from "../../model/runs/queue-class.ts";
import type {
  Approval,
  ConfigLayer,
  Provenance,
  Run,
  RunConfig,
  RunDefinition,
  RunMode,
} from "../../model/runs/run.ts";
import type { RunSource } from "../../model/runs/sources.ts";
import { secretNamesOf } from "../../model/secrets/secret-names.ts";
import { type Skill, skillId } from "../../model/skills/skill.ts";
import type { InputFile } from "../../model/workspaces/input-file.ts";
import type { RunAggregate } from "../../ports/stores/run-store.ts";
import { approvalMessage } from "../../runs/approval.ts";

/** A configuration below the routing rules. */
export interface ConfigDefault {
  readonly layer: ConfigLayer;
  readonly config: RunConfig;
}

export interface NewRun {
  readonly prompt: string;
  readonly title?: string;
  readonly context?: string;
  readonly mode?: RunMode;
  readonly config?: RunConfig;
  /** The configuration comes from a schedule or a run, where the values of its MCP servers are sealed. */
  readonly hasStoredConfig?: boolean;
  readonly teamOwned?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly parent?: Run;
  /** The newest run of the conversation that the new run continues. */
  readonly continues?: Run;
  /** The skill to start from, once it was found. A retried run brings its own. */
  readonly skill?: Skill;
  /** The skills of the configuration, once they were found. A retried run brings its own. */
  readonly skills?: readonly Skill[];
  /** What the repository in which the run is requested says, above the routing rules. */
  readonly repositoryConfig?: RunConfig;
  /** What the request gets that neither it nor a routing rule says, strongest first. */
  readonly defaults?: readonly ConfigDefault[];
  /** What happens to changes if neither the request, a rule, the environment nor a default says it. */
  readonly changesDefault?: PullRequestSetting;
  /**
   * The request asks for an empty workspace: neither routing rules nor defaults give it an environment or a
   * repository.
   */
  readonly isWithoutEnvironment?: boolean;
  /** The configuration and its provenance are complete, or come from a retried run: no routing rule changes them. */
  readonly isRouted?: boolean;
  /** What the request itself said, once the configuration has more. Absent: it has no more. */
  readonly ownConfig?: RunConfig;
  /** Someone other than the creator wrote the prompt. */
  readonly othersWrote?: boolean;
  /** Their bytes are already stored. */
  readonly inputs?: readonly InputFile[];
  readonly source: RunSource;
  readonly creator: Requester;
  /** The principal that requests the run in the name of `creator`. */
  readonly requester?: Requester;
  /** The id of the named agent that executes the run. Default: the caller, if it is a named agent. */
  readonly agentUid?: PrincipalId;
  /** The named agent that executes the run, once it was found. */
  readonly namedAgent?: NamedAgent;
  /**
   * The agent program of the run that this one continues or repeats. It is used if the configuration names none,
   * because the default may have changed.
   */
  readonly formerAgent?: string;
  /** The run only prepares its workspace, to test its environment. */
  readonly preparesOnly?: boolean;
  /** One of many runs of one request. */
  readonly isOfBatch?: boolean;
  readonly scheduleId?: string;
  readonly triggerUrl?: string;
  readonly provenance?: Provenance;
}

type Requester = Pick<Viewer, "id" | "teamId" | "type"> & Partial<Pick<Viewer, "administrator">>;

/** Chooses agents, as far as creating a run needs it. */
export interface AgentChoice {
  /**
   * The name of the agent. Throws `invalid_request` or `operation_not_supported` for a configuration that is
   * impossible here. `member` is the caller's name for the configuration. Default: config.
   */
  choose(config: RunConfig, member?: string): string;
  /** Whether the agent runs programs of a user's choosing, so that it only runs in a sandbox. */
  needsSandbox(agent: string): boolean;
}

export function originOf(request: NewRun, agents: AgentChoice, now: Date): RunDefinition {
  const config = configOf(request);
  return {
    id: newId<RunId>(now),
    teamId: request.creator.teamId,
    title: request.title ?? (titleFrom(request.prompt) || (request.skill?.name ?? "")),
    prompt: request.prompt,
    source: request.source,
    creatorId: request.creator.id,
    ...executionOf(request),
    teamOwned: request.teamOwned ?? true,
    config,
    agent: agents.choose(withFormerAgent(config, request)),
    metadata: request.metadata ?? {},
    ancestorIds: request.parent === undefined ? [] : [request.parent.id, ...request.parent.ancestorIds],
    conversationId: request.continues?.conversationId ?? newId(now),
    sessionId: newId(now),
    provenance: provenanceOf(request),
    createdAt: now,
    ...defined({ continuesId: request.continues?.id, context: request.context, mode: request.mode }),
    ...(request.skill === undefined ? {} : { skill: skillId(request.skill), skillSnapshot: request.skill }),
    ...defined({
      skillSnapshots:
        request.skills === undefined || request.skills.length === 0 ? undefined : request.skills,
      preparesOnly: request.preparesOnly === true ? true : undefined,
      queueClass: queueClassOf(request.source, request.isOfBatch === true),
      scheduleId: request.scheduleId,
      triggerUrl: request.triggerUrl,
    }),
  };
}

/**
 * The executor is recorded only where it differs from the creator. The requester is recorded for each run in another
 * person's name, also in that of the requester itself, because such a run has fewer rights.
 */
function executionOf(request: NewRun): Pick<RunDefinition, "executorId" | "requesterId" | "secretNames"> {
  const { creator, namedAgent, requester } = request;
  const executorId = namedAgent?.id ?? requester?.id ?? creator.id;
  return defined({
    executorId: executorId === creator.id ? undefined : executorId,
    requesterId: requester?.id,
    secretNames: secretNamesOf(request),
  });
}

/** The stored configuration stays as the caller wrote it. */
function withFormerAgent(config: RunConfig, { formerAgent }: NewRun): RunConfig {
  if (formerAgent === undefined || config.harness?.type !== undefined) {
    return config;
  }
  return { ...config, harness: { ...config.harness, type: formerAgent } };
}

/** The caller's configuration, completed by the skill and with the full ids of all skills. */
function configOf({ config = {}, skill, skills = [] }: NewRun): RunConfig {
  const named = skills.length === 0 ? config : { ...config, skills: skills.map(skillId) };
  if (skill === undefined) {
    return named;
  }
  return { ...named, name: config.name ?? skill.name, skill_spec: skillId(skill) };
}

/** A name that the caller did not give comes from the skill, and a skill that it did not name from `skills`. */
function provenanceOf({ config = {}, provenance = {}, skill }: NewRun): Provenance {
  if (skill === undefined) {
    return provenance;
  }
  const { config_layers: layers = {} } = provenance;
  const config_layers: Record<string, ConfigLayer> = { ...layers };
  if (config.name === undefined) {
    config_layers.name = "skill";
  }
  if (config.skill_spec === undefined && layers.skills !== undefined) {
    config_layers.skill_spec = layers.skills;
  }
  return { ...provenance, config_layers };
}

/** The aggregate of a run that does not exist yet, with the approval that it must wait for. */
export function newRunAggregate(
  origin: RunDefinition,
  {
    approval,
    othersWrote,
  }: { readonly approval?: Approval | undefined; readonly othersWrote?: boolean } = {},
): RunAggregate {
  const progress = {
    ...(approval === undefined
      ? ({ state: "QUEUED" } as const)
      : ({ state: "BLOCKED", approval, statusMessage: approvalMessage(approval) } as const)),
    stateSince: origin.createdAt,
    turn: 0,
    turnOpen: false,
    attempt: 0,
    lostAttempts: 0,
    totalTokens: 0,
    ...defined({ othersWrote: othersWrote === true ? othersWrote : undefined }),
  } as const;
  const run: Run = { ...origin, ...progress, updatedAt: origin.createdAt, lastSeq: 0 };
  return { run, waiting: [], taken: [], threads: [], leaseOver: false, version: "" };
}
