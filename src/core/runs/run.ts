import type { PermissionRequest } from "../agents/agent-runner.ts";
import type { ArtifactType } from "../artifacts/artifact.ts";
import type { ErrorCode } from "../errors.ts";
import type { LeaseToken, PrincipalId, RunId, TeamId } from "../ids.ts";
import type { Skill } from "../skills/skill.ts";
import type { RunSource } from "./sources.ts";
import type { RunState } from "./states.ts";

export const RUN_MODES = ["normal", "plan", "orchestrate"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/**
 * The caller's configuration. Members the core acts on are named; all others are kept and given back.
 * The member names are those of `AmbientAgentConfig` in the API, because the value crosses the core unchanged.
 */
export interface RunConfig {
  readonly name?: string;
  readonly model_id?: string;
  readonly base_prompt?: string;
  readonly environment_id?: string;
  readonly skill_spec?: string;
  readonly worker_host?: string;
  readonly idle_timeout_minutes?: number;
  readonly harness?: {
    readonly type?: string;
    readonly model_id?: string;
    readonly reasoning_level?: string;
  };
  readonly mcp_servers?: Record<string, McpServerConfig>;
  readonly budget?: Budget;
  readonly permission_policy?: "allow" | "ask";
  readonly [member: string]: unknown;
}

/** A tool server as the caller names it: a program, or an address. */
export interface McpServerConfig {
  readonly command?: string;
  readonly args?: string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly warp_id?: string;
  readonly [member: string]: unknown;
}

/** Which layer gave a value of a run's configuration, the strongest first. */
export type ConfigLayer = "request" | "conversation" | "routing_rule" | "skill" | "default";

/** Where a run came from, and why it is configured as it is. Members the core adds to are named; all others are kept. */
export interface Provenance {
  readonly config_layers?: Readonly<Record<string, ConfigLayer>>;
  readonly [member: string]: unknown;
}

/** What a run may take in all, over all its turns. */
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
}

/** One attempt's right to write to the run. It holds until it is given up or taken away, even past its time. */
export interface Lease {
  readonly token: LeaseToken;
  readonly worker: string;
}

/** What a run was started with; never changed afterwards. */
export interface RunOrigin {
  readonly id: RunId;
  readonly teamId: TeamId;
  readonly title: string;
  readonly prompt: string;
  /** Text around the request, written by anybody: given to the agent fenced, as data. */
  readonly context?: string;
  readonly mode?: RunMode;
  readonly source: RunSource;
  readonly creatorId: PrincipalId;
  readonly teamOwned: boolean;
  readonly config: RunConfig;
  readonly agent: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The id of the skill that it was started from, and what that said then. */
  readonly skill?: string;
  readonly skillSnapshot?: Skill;
  readonly scheduleId?: string;
  readonly triggerUrl?: string;
  /** Nearest first. */
  readonly ancestorIds: readonly RunId[];
  readonly conversationId: string;
  /** The run whose conversation this one goes on with: the newest of it when this one was created. */
  readonly continuesId?: RunId;
  readonly sessionId: string;
  readonly provenance: Provenance;
  readonly createdAt: Date;
}

/** What changes while a run lives; only `RunEdit` makes new values of it. */
export interface RunProgress {
  readonly state: RunState;
  readonly statusMessage?: StatusMessage;
  readonly startedAt?: Date;
  readonly endedAt?: Date;
  /** The number of the current or last turn; 0 before the first. */
  readonly turn: number;
  /** Whether that turn was begun and has not ended: a lost attempt leaves it so. */
  readonly turnOpen: boolean;
  /** Claims so far. */
  readonly attempt: number;
  /** Claims since the last turn that ended; too many in a row end the run. */
  readonly lostAttempts: number;
  readonly agentSession?: string;
  readonly checkpoint?: string;
  readonly permission?: PendingPermission;
  /** The last write of an attempt: one whose answer was lost on the way is recognised and not done again. */
  readonly lastWrite?: string;
  /** Whose yes the run needs before it begins, and what became of it. */
  readonly approval?: Approval;
  /** Of all turns so far; of what agent and gateway tell, the larger. */
  readonly totalTokens: number;
  readonly costUsd?: number;
  /** Of what it has made so far; absent when that is nothing. */
  readonly artifactTypes?: readonly ArtifactType[];
  /** The agent's closing words of the last turn that ended, for threads: those of a private one are in the log alone. */
  readonly answer?: string;
}

export interface PendingPermission extends PermissionRequest {
  /** What somebody has chosen: an option's id, or null for a no to which the agent offers no option. */
  readonly answer?: string | null;
  readonly answeredBy?: PrincipalId;
}

export interface Run extends RunOrigin, RunProgress {
  readonly lease?: Lease;
  readonly updatedAt: Date;
  /** Sequence number of the newest event. */
  readonly lastSeq: number;
}

/** A policy asks somebody who may approve before the run begins. */
export interface Approval {
  readonly policyId: string;
  readonly reason: string;
  readonly decidedBy?: PrincipalId;
  readonly approved?: boolean;
}

export interface FollowUp {
  readonly id: string;
  readonly runId: RunId;
  readonly seq: number;
  readonly message: string;
  readonly mode?: RunMode;
  readonly delivery: FollowUpDelivery;
  /** Neither it nor the answer to it is told in the run's threads. */
  readonly private: boolean;
  readonly authorId: PrincipalId;
  readonly createdAt: Date;
  /** The turn that takes it; undefined while it waits. */
  readonly turn?: number;
}

export const FOLLOW_UP_DELIVERIES = ["queue", "interrupt", "steer"] as const;
export type FollowUpDelivery = (typeof FOLLOW_UP_DELIVERIES)[number];
