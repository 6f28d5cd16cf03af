import type { RunId } from "../ids.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import type { Gateway } from "./gateway.ts";

/** How the core has work done by an agent. One session is one agent process working for one attempt of a run. */
export interface AgentRunner {
  /**
   * Starts the agent in its sandbox and opens its session, or takes up `previousSession`.
   * Fails with an AppError: its code decides how the run ends (`endStateOf`), `retryable` whether another try may help.
   */
  start(request: AgentStart, observer: AgentObserver): Promise<AgentSession>;
}

export interface AgentStart {
  readonly runId: RunId;
  /** A name of the agent catalogue. */
  readonly agent: string;
  readonly modelId?: string;
  readonly basePrompt?: string;
  readonly reasoningLevel?: string;
  readonly workspace: Workspace;
  readonly gateway: Gateway;
  /** The container image that the agent runs in. */
  readonly image?: string;
  /** By name. Their secrets are filled in; remote ones are reached through the gateway alone. */
  readonly mcpServers: Readonly<Record<string, LocalMcpServer | "remote">>;
  /** Of the agent's environment, besides the platform's own: the run's secrets. Never in an argument. */
  readonly variables: Readonly<Record<string, string>>;
  /** The agent's own id of the session to take up again; only a hint, our event log is the truth. */
  readonly previousSession?: string;
  /** `ask`: permission requests go to the observer. `allow`: they are granted, and reported as an update. */
  readonly permissionPolicy: "allow" | "ask";
  /** Nobody wants the agent any more: what has been started of it is ended, and `start` rejects. */
  readonly signal: AbortSignal;
}

/** A program in the sandbox that speaks MCP on its standard streams. */
export interface LocalMcpServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** An agent at work, until it is closed or dies. What it does is told to the observer. */
export interface AgentSession {
  /** The agent's own session id. */
  readonly sessionId: string;
  /** Whether `previousSession` was really taken up; if not, the agent knows nothing of earlier turns. */
  readonly resumed: boolean;
  readonly agent: { readonly name: string; readonly version?: string };
  /** One turn. Never called while another is running. Rejects with an AppError when the agent fails or dies. */
  prompt(text: string, extras?: PromptExtras): Promise<TurnEnd>;
  /** Words for the turn that is running. False: the agent does not take any, and they wait for the next turn. */
  steer(text: string): Promise<boolean>;
  /** Asks the agent to stop its turn; `prompt` then resolves as `cancelled`, or the caller closes the session. */
  cancel(): Promise<void>;
  /** Ends the agent and everything it started, and resolves when they are gone. Repeatable. */
  close(): Promise<void>;
}

export interface PromptExtras {
  /** For an agent that looks at images; they are files of the workspace as well. */
  readonly images?: readonly PromptImage[];
  readonly mode?: PromptMode;
}

export interface PromptImage {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface PromptMode {
  /** Entered where the agent has a mode of that name; `normal`: the one it begins in. */
  readonly name: string;
  /** Said ahead of the prompt where it has none. */
  readonly words: string;
}

export const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface TurnEnd {
  readonly stopReason: StopReason;
  /** Of this turn alone. */
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
  };
}

/** What an agent tells while it works, in the order told. */
export interface AgentObserver {
  update(update: AgentUpdate): void;
  /**
   * Undefined where more can be told. Else what was told waits to be stored: nothing more is read of the agent before
   * this resolves, so that it has to wait as well. Never rejects.
   */
  room(): Promise<void> | undefined;
  /** The chosen option's id, or undefined when nobody will answer (the turn is being cancelled). */
  permission(request: PermissionRequest): Promise<string | undefined>;
}

export interface PermissionRequest {
  readonly permissionId: string;
  /** The tool call it is about. */
  readonly toolCallId?: string;
  readonly title: string;
  readonly options: readonly PermissionOption[];
}

export const PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;

export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: (typeof PERMISSION_KINDS)[number];
}

export const TOOL_STATUSES = ["pending", "in_progress", "completed", "failed"] as const;

/** A tool call as far as it is known; later updates of the same id replace the members they name. */
export interface ToolCallUpdate {
  readonly kind: "agent.tool_call";
  readonly toolCallId: string;
  readonly title?: string;
  /** ACP's kind of tool: read, edit, delete, move, search, execute, think, fetch, other. */
  readonly toolKind?: string;
  readonly status?: (typeof TOOL_STATUSES)[number];
  readonly content?: readonly ToolContent[];
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
  | { readonly type: "terminal"; readonly terminalId: string; readonly output?: string }
  | { readonly type: "other"; readonly data: unknown };

/** One kind a member; the kinds are the run event kinds of the same name. Unknown updates arrive as `agent.other`. */
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
