import { defined } from "../../basics/defined.ts";
import type { ErrorCode } from "../../basics/errors.ts";
import type { LeaseToken, PrincipalId, RunId, TeamId } from "../../basics/ids.ts";
import type { ShareAccess } from "../people/share-link.ts";
import type { PullRequestSetting } from "../repositories/pull-request-setting.ts";
import type { PullRequestStatus } from "../repositories/pull-request-status.ts";
import type { Skill } from "../skills/skill.ts";
import type { ArtifactType } from "../workspaces/artifact.ts";
import type { PermissionRequest } from "./agent-update.ts";
import type { ExecutedConfig } from "./executed-config.ts";
import type { OutputSchema } from "./output-schema.ts";
import type { RunPriority } from "./queue-class.ts";
import type { RunSource } from "./sources.ts";
import type { RunState } from "./states.ts";
import type { StoredOutcome } from "./stored-outcome.ts";

export const RUN_MODES = ["normal", "plan", "orchestrate"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/**
 * The caller's configuration. The core acts on the named members, and keeps and returns all others. The names are
 * those of the HTTP API, because the value crosses the core unchanged.
 */
export interface RunConfig {
  readonly name?: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly skill_spec?: string;
  readonly skills?: string[];
  readonly worker_host?: string;
  /** Absent: `normal`. */
  readonly priority?: RunPriority;
  /** The only team secrets that the run gets. Absent: all of them. */
  readonly secrets?: { readonly name: string }[];
  readonly idle_timeout_minutes?: number;
  readonly harness?: {
    readonly type?: string;
    readonly model_id?: string;
    readonly reasoning_level?: string;
  };
  readonly mcp_servers?: Record<string, McpServerConfig>;
  readonly budget?: Budget;
  readonly permission_policy?: "allow" | "ask";
  readonly session_sharing?: {
    readonly public_access?: ShareAccess;
    readonly [member: string]: unknown;
  };
  /** `owner/name`: a repository of the workspace, besides those of the environment. */
  readonly repository?: string;
  /** The caller did not name `repository`: the run works without it if it cannot be read. */
  readonly repository_guessed?: boolean;
  /** What of `repository` is checked out: a branch, tag or commit. */
  readonly ref?: string;
  /** Whether Errand opens a pull request in `repository` for changes that the agent did not push. */
  readonly pull_request?: PullRequestSetting;
  /** What the answer of each turn must match. */
  readonly output_schema?: OutputSchema;
  readonly [member: string]: unknown;
}

/** An MCP server as the caller configures it: a program or an address. */
export interface McpServerConfig {
  readonly command?: string;
  readonly args?: string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly warp_id?: string;
  readonly [member: string]: unknown;
}

/** The layer that a configuration value came from, strongest first. */
export const CONFIG_LAYERS = [
  "request",
  "agent",
  "conversation",
  "repository_file",
  "routing_rule",
  "place_default",
  "person_default",
  "choice",
  "only_environment",
  "skill",
  "default",
] as const;
export type ConfigLayer = (typeof CONFIG_LAYERS)[number];

/**
 * Where a run came from, and why it is configured as it is. The core adds to the named members and keeps all others.
 */
export interface Provenance {
  /** The name of the adapter through which the run was asked for, and the account there, as the adapter writes it. */
  readonly integration?: string;
  readonly actor?: Readonly<Record<string, unknown>>;
  readonly config_layers?: Readonly<Record<string, ConfigLayer>>;
  /** The routing rule that decided, if one did. */
  readonly routing?: { readonly rule?: string | null; readonly [member: string]: unknown };
  /** `false`: nothing said where to work, and the team had no environment to choose from. */
  readonly has_environments?: false;
  /** `false`: there would be a pull request if the team had credentials for it. */
  readonly may_open_pull_request?: false;
  /** What is wrong in the settings of the repository in which the run was requested, one sentence each. */
  readonly settings_mistakes?: readonly string[];
  /** The environment as it was when the run was created. */
  readonly environment?: { readonly name: string; readonly repositories: readonly string[] };
  readonly [member: string]: unknown;
}

/** What a run may use in total, over all its turns. */
export interface Budget {
  readonly max_turns?: number;
  readonly max_minutes?: number;
  readonly max_tokens?: number;
  readonly max_cost_usd?: number;
  readonly [member: string]: unknown;
}

export interface StatusMessage {
  readonly message: string;
  readonly errorCode?: ErrorCode;
  readonly retryable?: boolean;
  /** A finer cause than the code: a `FailureReason`, or one of a later version. */
  readonly reason?: string;
  /** What a person can do about it, in one sentence. */
  readonly remedy?: string;
}

/**
 * One attempt's right to write to the run. It lasts until it is given up or taken away, even after it has expired.
 */
export interface Lease {
  readonly token: LeaseToken;
  readonly worker: string;
}

/** How callers label a run. It has no effect on the work. */
export interface RunDetails {
  readonly title: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What a change can give a run besides its progress. */
export type ChangedDetails = Partial<RunDetails & Pick<RunDefinition, "prompt">>;

/** What a run was started with. Later only its details change, and its prompt as long as nothing works on it. */
export interface RunDefinition extends RunDetails {
  readonly id: RunId;
  readonly teamId: TeamId;
  readonly prompt: string;
  /** Text around the request by any author. The agent receives it fenced, as data. */
  readonly context?: string;
  readonly mode?: RunMode;
  readonly source: RunSource;
  readonly creatorId: PrincipalId;
  /** The principal that executes the run, if that is not its creator: a named agent, or the requester. */
  readonly executorId?: PrincipalId;
  /** The principal that requested the run in the name of its creator. */
  readonly requesterId?: PrincipalId;
  /** The only team secrets that the run gets. Absent: all of them. */
  readonly secretNames?: readonly string[];
  readonly teamOwned: boolean;
  readonly config: RunConfig;
  readonly agent: string;
  /** The id of the skill that the run was started from, and the skill's text at that time. */
  readonly skill?: string;
  readonly skillSnapshot?: Skill;
  /** The skills of the configuration at that time. Absent when there are none. */
  readonly skillSnapshots?: readonly Skill[];
  readonly scheduleId?: string;
  readonly triggerUrl?: string;
  /** Nearest first. */
  readonly ancestorIds: readonly RunId[];
  readonly conversationId: string;
  /** The run that was the newest of the conversation when this one was created. */
  readonly continuesId?: RunId;
  readonly sessionId: string;
  readonly provenance: Provenance;
  /** The run only prepares its workspace, to test its environment. No agent works on it. */
  readonly preparesOnly?: boolean;
  /** One of `QUEUE_CLASSES`. Absent: that of a request over the API. */
  readonly queueClass?: number;
  readonly createdAt: Date;
}

export interface PlanStep {
  readonly text: string;
  /** As the agent reports it: `pending`, `in_progress`, `completed`. */
  readonly status: string;
}

/** What the agent does in its turn, as threads show it. */
export interface RunActivity {
  /** When the turn began. Absent while the first turn is prepared. */
  readonly since?: Date;
  readonly plan?: readonly PlanStep[];
  /** What happens now: the title of the newest tool call, or of a step of the preparation. */
  readonly step?: string;
}

/** The part of a run that changes. Only `RunEdit` creates new values of it. */
export interface RunProgress {
  readonly state: RunState;
  readonly stateSince: Date;
  readonly statusMessage?: StatusMessage | undefined;
  readonly startedAt?: Date;
  readonly endedAt?: Date | undefined;
  /** The number of the current or last turn; 0 before the first. */
  readonly turn: number;
  /** Whether the current turn has started and not ended. A lost attempt leaves a turn open. */
  readonly turnOpen: boolean;
  /** The number of claims so far. */
  readonly attempt: number;
  /** The number of claims since the last turn that ended. Too many in a row end the run. */
  readonly lostAttempts: number;
  /** The session to resume. Undefined: there is none, or the next turn could only fail in it. */
  readonly agentSession?: string | undefined;
  /** The id of the data directory where the workspace was last ready. It has the newest files. */
  readonly disk?: string | undefined;
  /** The path of the workspace in the agent's session. Undefined: a path on the disk of its worker. */
  readonly agentWorkspace?: string | undefined;
  /** The version that the agent reported when it last started. */
  readonly agentVersion?: string | undefined;
  readonly checkpoint?: string;
  /**
   * The work of the checkpoint alone. Undefined: it was not stored, and the checkpoint is kept as long as the run.
   * Equal to `checkpoint`: only the work is left.
   */
  readonly workCheckpoint?: string | undefined;
  /** What changed after the checkpoint, within the open turn. */
  readonly checkpointDelta?: string | undefined;
  /** When the files were last stored. */
  readonly checkpointAt?: Date;
  /** What the newest checkpoint does not contain, for people. Undefined: nothing. */
  readonly checkpointGaps?: string | undefined;
  readonly permission?: PendingPermission | undefined;
  /** A person interrupted the turn. It is set until the next turn starts. */
  readonly pause?: RunPause | undefined;
  /** The attempt of the failed run keeps its agent and files until then, for a follow-up. */
  readonly debugUntil?: Date | undefined;
  /** The id of an attempt's last write. A write whose confirmation was lost is recognised by it and not repeated. */
  readonly lastWrite?: string;
  /** The approval that the run needs before it starts, and its outcome. */
  readonly approval?: Approval;
  /** The copy that the newest approval covers. Absent: attempts execute the environment and MCP servers of today. */
  readonly executes?: ExecutedConfig;
  /** The first follow-up that waits for an approval of its own, while there is one. */
  readonly waitingFollowUp?: WaitingFollowUp | undefined;
  /** The total of all turns. Of the values that agent and gateway report, the larger counts. */
  readonly totalTokens: number;
  readonly costUsd?: number;
  /** The types of the artifacts so far; absent when there are none. */
  readonly artifactTypes?: readonly ArtifactType[];
  /** The address of the newest pull request. */
  readonly pullRequest?: string;
  /** What the platform last said about it. */
  readonly pullRequestStatus?: PullRequestStatus;
  /** No worker claims the queued run before. Absent: it may be claimed at once. */
  readonly startAfter?: Date;
  /** How long agents with an answer waited for a slot of their worker, while the run was INPROGRESS. */
  readonly slotWaitMs?: number;
  readonly activity?: RunActivity | undefined;
  /** Someone other than the creator wrote something that is given to the agent. */
  readonly othersWrote?: boolean;
  /** Follow-ups came before the agent first had the prompt. */
  readonly earlyFollowUps?: boolean;
  /** The agent's final answer of the last turn, for threads. The answer of a private turn is only in the log. */
  readonly answer?: string | undefined;
  /** What came of the run so far. Absent: nothing is known. */
  readonly outcome?: StoredOutcome | undefined;
  /** What the service noticed and the user of the run should know, the oldest first. Absent when there is nothing. */
  readonly warnings?: readonly string[];
}

export interface RunPause {
  readonly by: PrincipalId;
  readonly name?: string;
}

export interface WaitingFollowUp {
  readonly followUpId: string;
  readonly reason: string;
  /** The principals whose texts they are. */
  readonly authorIds: readonly PrincipalId[];
  readonly since: Date;
}

export interface PendingPermission extends PermissionRequest {
  readonly askedAt: Date;
  /** The id of the chosen option, or null for "no" when the agent offers no such option. */
  readonly answer?: string | null;
  readonly answeredBy?: PrincipalId;
}

export interface Run extends RunDefinition, RunProgress {
  readonly lease?: Lease | undefined;
  readonly updatedAt: Date;
  /** The sequence number of the newest event. */
  readonly lastSeq: number;
}

/** What lists of runs leave out: long texts, and what only the attempts of a run need. */
export const UNLISTED_MEMBERS = [
  "agentSession",
  "agentWorkspace",
  "answer",
  "attempt",
  "checkpoint",
  "checkpointAt",
  "checkpointDelta",
  "checkpointGaps",
  "context",
  "continuesId",
  "disk",
  "lastWrite",
  "lostAttempts",
  "preparesOnly",
  "queueClass",
  "skillSnapshots",
  "slotWaitMs",
  "startAfter",
  "workCheckpoint",
] as const satisfies readonly (keyof Run)[];

type UnlistedMember = (typeof UNLISTED_MEMBERS)[number];

/** A run as lists have it. The compiler refuses it where one of the other members is read, even an optional one. */
export type ListedRun = Omit<Run, UnlistedMember> & { readonly [Member in UnlistedMember]?: unknown };

/**
 * A policy requires approval of what an agent would get. `inputsHash` identifies the inputs: a decision names it, so
 * that nobody approves a text that they have not seen.
 */
export interface Approval {
  readonly id: string;
  readonly policyId: string;
  readonly reason: string;
  readonly inputsHash: string;
  readonly inputs: readonly ApprovalInput[];
  /** What the run executes if it is approved. Absent: what is configured when the run starts. */
  readonly executes?: ExecutedConfig;
  /** The principals who wrote follow-ups among the inputs, or invited the guest who did. */
  readonly authorIds: readonly PrincipalId[];
  readonly approved?: boolean;
  readonly decidedBy?: PrincipalId;
  /** Why a person may decide on the page who may not approve there otherwise, such as `write in acme/widgets`. */
  readonly decidedAs?: string;
  readonly decidedAt?: Date;
}

export interface ApprovalInput {
  /** Absent: a part of the request of the run. */
  readonly followUpId?: string;
  readonly text: string;
  readonly attachments: readonly { readonly name: string; readonly sha256: string }[];
}

/** The given details that differ from those of the run. */
export function changedDetails(
  run: RunDetails,
  { metadata, title }: Partial<RunDetails>,
): Partial<RunDetails> {
  const isSameMetadata = metadata === undefined || isSame(metadata, run.metadata);
  return defined({
    title: title === undefined || title === run.title ? undefined : title,
    metadata: isSameMetadata ? undefined : metadata,
  });
}

function isSame(some: RunDetails["metadata"], other: RunDetails["metadata"]): boolean {
  const names = Object.keys(some);
  return names.length === Object.keys(other).length && names.every((name) => some[name] === other[name]);
}
