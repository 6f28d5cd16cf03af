import type { RunId } from "../../basics/ids.ts";
import type { ArtifactBody } from "../workspaces/artifact.ts";
import type { FileInWorkspace } from "../workspaces/input-file.ts";
import type { WorkspaceStep } from "../workspaces/workspace.ts";
import type { AgentUpdate, PermissionRequest, TokenUsage } from "./agent-update.ts";
import type { ChangedDetails, RunMode, StatusMessage } from "./run.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { RunState } from "./states.ts";

/** Every kind of event in the log of a run. The log is the truth: replaying `run.state` gives the run's state. */
export type RunEventBody =
  | {
      readonly kind: "run.created";
      readonly state: RunState;
      /** The files of the request, as the workspace has them. */
      readonly files?: readonly FileInWorkspace[];
    }
  | {
      readonly kind: "run.state";
      readonly from: RunState;
      readonly to: RunState;
      readonly reason?: string;
      readonly status?: StatusMessage;
      /** What came of a run that ended. */
      readonly outcome?: RunOutcome;
    }
  /** The title, the metadata or the request changed. The new values are those of the run. */
  | { readonly kind: "run.updated"; readonly members: readonly (keyof ChangedDetails)[] }
  | { readonly kind: "attempt.started"; readonly attempt: number; readonly worker: string }
  | { readonly kind: "attempt.ended"; readonly attempt: number; readonly reason: string }
  | {
      readonly kind: "workspace.ready";
      readonly restored: boolean;
      /** What the run has lost, for people. Absent: nothing. */
      readonly missing?: string;
    }
  | {
      readonly kind: "workspace.stored";
      readonly checkpoint: string;
      /** Files that the checkpoint does not contain. */
      readonly leftOut?: readonly { readonly path: string; readonly reason: string }[];
    }
  | { readonly kind: "workspace.not_stored"; readonly reason: string }
  /** The run's changes or its pull request could not be stored. */
  | { readonly kind: "changes.not_kept"; readonly reason: string }
  | {
      readonly kind: "agent.started";
      readonly agent: string;
      readonly version?: string;
      readonly session: string;
      readonly resumed: boolean;
      /** Absent in events of earlier versions. */
      readonly phases?: AgentPhases;
      /** The agent was started and initialized before there was the run. */
      readonly warm?: true;
    }
  | {
      readonly kind: "turn.started";
      readonly followUpIds: readonly string[];
      readonly again: boolean;
      readonly mode?: RunMode;
    }
  | {
      readonly kind: "turn.ended";
      readonly stopReason: string;
      readonly answer: string;
      /** The part of the answer that the output schema of the run asks for. */
      readonly data?: unknown;
      readonly usage?: TokenUsage;
    }
  /** A person said what they think of the answer of a turn. The last rating of a person counts. */
  | ({ readonly kind: "turn.rated"; readonly ratedBy: string } & TurnRating)
  | {
      readonly kind: "followup.received";
      readonly followUpId: string;
      readonly message: string;
      readonly authorId: string;
      /** The author is the guest of a share link, which `authorId` names. Absent for a principal. */
      readonly authorType?: "guest";
      readonly delivery: string;
      /** Its files, as the workspace gets them. */
      readonly files?: readonly FileInWorkspace[];
    }
  /** A waiting follow-up was rewritten. */
  | {
      readonly kind: "followup.edited";
      readonly followUpId: string;
      readonly message: string;
      readonly editedBy: string;
    }
  | { readonly kind: "followup.withdrawn"; readonly followUpId: string; readonly withdrawnBy: string }
  /** The agent received the follow-up during its turn. */
  | { readonly kind: "followup.steered"; readonly followUpId: string }
  /** The agent takes nothing during this turn, so a follow-up that was sent to steer it waits for the next turn. */
  | { readonly kind: "followup.queued"; readonly followUpId: string }
  | { readonly kind: "permission.requested"; readonly request: PermissionRequest }
  | { readonly kind: "permission.answered"; readonly permissionId: string; readonly optionId: string | null }
  /** A policy requires approval, or the inputs of an open approval have changed: then the id is the same. */
  | ({
      readonly kind: "approval.requested";
      readonly policyId: string;
      readonly reason: string;
    } & ApprovalSubject)
  | ({
      readonly kind: "approval.decided";
      readonly approved: boolean;
      readonly decidedBy: string;
      readonly comment?: string;
    } & ApprovalSubject)
  /** A message to a thread of the run was given up. */
  | {
      readonly kind: "notice.dead";
      readonly adapter: string;
      readonly threadId: string;
      readonly noticeId: string;
      readonly reason: string;
    }
  | { readonly kind: "thread.bound"; readonly adapter: string; readonly threadId: string }
  | {
      readonly kind: "artifact.added";
      readonly artifactId: string;
      readonly version: number;
      readonly artifact: ArtifactBody;
    }
  | {
      readonly kind: "artifact.left_out";
      readonly files: readonly { readonly path: string; readonly reason: string }[];
    }
  | WorkspaceStep
  | AgentUpdate;

/** How long the parts of an agent's start took. */
export interface AgentPhases {
  /** Until its process could be given a message, with the installation of the agent and the check of its MCP servers. */
  readonly processMs: number;
  /** Until it had answered the first message, so with the start of its program. */
  readonly initializeMs: number;
  /** Until its session was open. */
  readonly sessionMs: number;
}

export const RATINGS = ["good", "bad"] as const;

export interface TurnRating {
  /** The turn of the answer. The run may have had others since. */
  readonly ratedTurn: number;
  readonly rating: (typeof RATINGS)[number];
}

/** What an approval is about. */
interface ApprovalSubject {
  readonly approvalId?: string;
  readonly inputsHash?: string;
  /** Absent: the run as a whole. */
  readonly followUpId?: string;
}

export type RunEventKind = RunEventBody["kind"];

export interface RunEvent {
  readonly runId: RunId;
  /** 1, 2, 3 … without holes, in the order of commit. */
  readonly seq: number;
  readonly turn: number;
  readonly at: Date;
  readonly body: RunEventBody;
}
