export const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;

export type StopReason = (typeof STOP_REASONS)[number];

export interface TurnEnd {
  readonly stopReason: StopReason;
  /** The usage of this turn only. */
  readonly usage?: TokenUsage;
  /** The command lines of what the agent left running, and what was stopped. */
  readonly stoppedTasks?: readonly string[];
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

export interface PermissionRequest extends CallFacts {
  readonly permissionId: string;
  /** The tool call that needs the permission. */
  readonly toolCallId?: string;
  /** The agent's own name of the call. A model may have written it. */
  readonly title: string;
  readonly options: readonly PermissionOption[];
}

/** What a tool call would do, read from the call itself. A member is absent where the call says nothing of it. */
export interface CallFacts {
  readonly command?: string;
  readonly paths?: readonly string[];
  /** The lines that the call removes and adds, in the form of a unified diff. */
  readonly diff?: string;
  /** The arguments that the other members do not show, as JSON. */
  readonly input?: string;
  /** What the agent says about the call. A model may have written it. */
  readonly reason?: string;
  /** Some of these texts are longer than what is stored. */
  readonly truncated?: boolean;
}

export const PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: (typeof PERMISSION_KINDS)[number];
}

export const TOOL_STATUSES = ["pending", "in_progress", "completed", "failed"] as const;

/**
 * What is known of a tool call. A later update with the same id replaces the members that it names, except `output`,
 * which is added. `content` replaces the output too.
 */
export interface ToolCallUpdate {
  readonly kind: "agent.tool_call";
  readonly toolCallId: string;
  readonly title?: string;
  /** The kind of tool in ACP: read, edit, delete, move, search, execute, think, fetch, other. */
  readonly toolKind?: string;
  readonly status?: (typeof TOOL_STATUSES)[number];
  readonly content?: readonly ToolContent[];
  /** A further part of the output, after the content. */
  readonly output?: string;
  readonly locations?: readonly { readonly path: string; readonly line?: number }[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

export type ToolContent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "diff";
      readonly path: string;
      readonly oldText: string | null;
      readonly newText: string;
    }
  /** `output`: all of it so far. */
  | { readonly type: "terminal"; readonly terminalId: string; readonly output?: string }
  | { readonly type: "other"; readonly data: unknown };

/** Each kind is the run event kind of the same name. Unknown updates become `agent.other`. */
export type AgentUpdate =
  | { readonly kind: "agent.message"; readonly messageId?: string; readonly text: string }
  | { readonly kind: "agent.thought"; readonly messageId?: string; readonly text: string }
  | ToolCallUpdate
  | {
      readonly kind: "agent.plan";
      readonly entries: readonly {
        readonly content: string;
        readonly status: string;
        readonly priority?: string;
      }[];
    }
  | { readonly kind: "agent.usage"; readonly used: number; readonly size: number; readonly costUsd?: number }
  | { readonly kind: "agent.title"; readonly title: string }
  | { readonly kind: "agent.notice"; readonly severity: string; readonly text: string }
  | { readonly kind: "agent.permission_granted"; readonly title: string; readonly optionId: string }
  | { readonly kind: "agent.other"; readonly name: string; readonly data: unknown };
