import type {
  AgentPlanEventEntry,
  PermissionRequestedEvent,
  PermissionRequestedEventRequestOption,
  RunCreatedEventFile,
  RunEventArtifact,
  RunState,
  RunStateEventStatus,
  ToolContent,
} from "@errand/client";

/** What all entries of a conversation have. */
interface Place {
  /** The same for all events of one entry. Links to an entry contain it. */
  readonly key: string;
  readonly turn: number;
  /** The first and the last event of the entry. */
  readonly seq: number;
  readonly lastSeq: number;
  readonly at: string;
  readonly lastAt: string;
}

/** The request of the run. Its text is a member of the run. */
export interface PromptEntry extends Place {
  readonly kind: "prompt";
  readonly files: readonly RunCreatedEventFile[];
}

/** A message or a thought of the agent, put together from its pieces. */
export interface SpeechEntry extends Place {
  readonly kind: "message" | "thought";
  readonly messageId: string | undefined;
  readonly text: string;
}

export interface PlanEntry extends Place {
  readonly kind: "plan";
  readonly tasks: readonly AgentPlanEventEntry[];
}

export interface ToolEntry extends Place {
  readonly kind: "tool";
  readonly callId: string;
  readonly title?: string;
  readonly toolKind?: string;
  readonly status?: "pending" | "in_progress" | "completed" | "failed";
  /** Replaces the content and the output before it. */
  readonly content?: readonly ToolContent[];
  /** Follows the content. */
  readonly output?: string;
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly input?: unknown;
  readonly result?: unknown;
  /** What became of the question about it. */
  readonly permission?: "asked" | "allowed" | "denied";
  /** The turn ended before the agent reported the end of the call. */
  readonly isOver?: boolean;
}

export type CallFacts = Pick<
  PermissionRequestedEvent["request"],
  "command" | "diff" | "input" | "paths" | "reason" | "truncated"
>;

export interface QuestionEntry extends Place {
  readonly kind: "question";
  readonly permissionId: string;
  readonly callId?: string;
  readonly title?: string;
  readonly options?: readonly PermissionRequestedEventRequestOption[];
  /** What the call would do. Empty in events of earlier versions. */
  readonly facts?: CallFacts;
  /** null: a rejection that the agent does not offer. Absent while the question is open. */
  readonly answer?: string | null;
}

export interface ApprovalEntry extends Place {
  readonly kind: "approval";
  readonly approvalId?: string;
  readonly inputsHash?: string;
  readonly followUpId?: string;
  readonly reason?: string;
  readonly decision?: { readonly isApproved: boolean; readonly by: string; readonly comment?: string };
}

/** A message of a person after the start. It stands where the agent received it. */
export interface FollowUpEntry extends Place {
  readonly kind: "followup";
  readonly followUpId: string;
  readonly text?: string;
  readonly authorId?: string;
  readonly isGuest?: boolean;
  readonly delivery?: string;
  readonly files?: readonly RunCreatedEventFile[];
  readonly receivedAt?: string;
  readonly isEdited?: boolean;
  /** `held`: the agent has not received it. */
  readonly state: "held" | "given" | "steered" | "withdrawn" | "refused";
}

/** A step that prepares the workspace. */
export interface StepEntry extends Place {
  readonly kind: "step";
  readonly stepId: string;
  readonly title: string;
  readonly status: "running" | "completed" | "failed";
  readonly output: string;
}

export interface ProblemEntry extends Place {
  readonly kind: "problem";
  /** FAILED or ERROR: the run ended. Absent: the run continues. */
  readonly state?: RunState;
  readonly severity: "warning" | "error";
  readonly text: string;
  readonly status?: RunStateEventStatus;
}

/** A line of the system. */
export interface LineEntry extends Place {
  readonly kind: "line";
  readonly name:
    | "attempt"
    | "attemptEnd"
    | "agent"
    | "ready"
    | "stored"
    | "queued"
    | "thread"
    | "notice"
    | "rating"
    | "turn"
    | "ended"
    | "other";
  readonly text: string;
  readonly state?: RunState;
  readonly followUpIds?: readonly string[];
}

/** The policy of the run allowed a tool call. */
export interface GrantedEntry extends Place {
  readonly kind: "granted";
  readonly title: string;
  readonly optionId: string;
}

export interface ArtifactEntry extends Place {
  readonly kind: "artifact";
  readonly artifactId: string;
  readonly version: number;
  readonly artifact: RunEventArtifact;
}

/** Something that this page has no view for. */
export interface OtherEntry extends Place {
  readonly kind: "other";
  readonly name: string;
  readonly data: unknown;
}

export type Entry =
  | PromptEntry
  | SpeechEntry
  | PlanEntry
  | ToolEntry
  | QuestionEntry
  | ApprovalEntry
  | FollowUpEntry
  | StepEntry
  | ProblemEntry
  | LineEntry
  | GrantedEntry
  | ArtifactEntry
  | OtherEntry;

/**
 * Joins two parts of one entry. Each part may consist of one event or of many, so that a log can be folded from its
 * end: an earlier page is joined to what is known of the later ones.
 */
export function joined(before: Entry, after: Entry): Entry {
  const place = { key: before.key, turn: before.turn, seq: before.seq, at: before.at };
  if (before.kind === "message" || before.kind === "thought") {
    return { ...before, ...place, ...endOf(after), text: before.text + textOf(after) };
  }
  if (before.kind === "tool" && after.kind === "tool") {
    const { output = "", ...known } = before;
    return { ...known, ...after, ...place, ...outputAfter(output, after) };
  }
  if (before.kind === "step" && after.kind === "step") {
    return { ...before, ...after, ...place, output: before.output + after.output };
  }
  if (before.kind === "followup" && after.kind === "followup") {
    // It stands where the agent received it, so the later part has its place.
    return { ...before, ...after, state: after.state === "held" ? before.state : after.state };
  }
  return { ...before, ...after, ...place } as Entry;
}

function outputAfter(before: string, { content, output = "" }: ToolEntry): Pick<ToolEntry, "output"> {
  const whole = content === undefined ? before + output : output;
  return whole === "" ? {} : { output: whole };
}

export function toolKey(turn: number, callId: string): string {
  return `tool-${turn}-${callId}`;
}

/** Whether the text of `after` continues that of `before`. */
export function continues(before: Entry | undefined, after: Entry | undefined): boolean {
  return (
    (before?.kind === "message" || before?.kind === "thought") &&
    after?.kind === before.kind &&
    after.turn === before.turn &&
    after.messageId === before.messageId
  );
}

function endOf({ lastAt, lastSeq }: Entry) {
  return { lastAt, lastSeq };
}

function textOf(entry: Entry): string {
  return entry.kind === "message" || entry.kind === "thought" ? entry.text : "";
}
