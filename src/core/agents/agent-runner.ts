import type { RunId } from "../ids.ts";
import type { Workspace } from "../workspaces/workspace.ts";
import type { Gateway } from "./gateway.ts";

/** Runs agents for the core. One session is one agent process that works for one attempt of a run. */
export interface AgentRunner {
  /**
   * Starts the agent in its sandbox and opens its session, or resumes `previousSession`. Fails with an AppError,
   * whose code decides how the run ends, and `retryable`.
   */
  start(request: AgentStart, observer: AgentObserver): Promise<AgentSession>;
  /** The folder in its home where the agent looks for skills. Undefined: it does not look for any. */
  skillFolder?(agent: string): string | undefined;
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
  /** The container image of the sandbox. */
  readonly image?: string;
  /** MCP servers by name, with secrets filled in. Remote servers are reached only through the gateway. */
  readonly mcpServers: Readonly<Record<string, LocalMcpServer | "remote">>;
  /** The run's secrets. They become environment variables of the agent, never arguments. */
  readonly variables: Readonly<Record<string, string>>;
  /** The agent's own id of the session to resume. It is only a hint, because the event log is the truth. */
  readonly previousSession?: string;
  /** `ask`: permission requests go to the observer. `allow`: they are granted and reported as an update. */
  readonly permissionPolicy: "allow" | "ask";
  /** Aborted when the agent is no longer needed. What has been started is ended, and `start` rejects. */
  readonly signal: AbortSignal;
}

/** A program in the sandbox that speaks MCP on its standard streams. */
export interface LocalMcpServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A running agent, until it is closed or dies. It reports what it does to the observer. */
export interface AgentSession {
  /** The agent's own session id. */
  readonly sessionId: string;
  /** Whether `previousSession` was resumed. If not, the agent knows nothing of earlier turns. */
  readonly resumed: boolean;
  readonly agent: { readonly name: string; readonly version?: string };
  /**
   * Runs one turn. It is never called while another turn is running. Rejects with an AppError when the agent fails or
   * dies.
   */
  prompt(text: string, extras?: PromptExtras): Promise<TurnEnd>;
  /** Gives text to the running turn. False: the agent does not accept it, so the text waits for the next turn. */
  steer(text: string): Promise<boolean>;
  /** Asks the agent to stop its turn. `prompt` then resolves as `cancelled`, or the caller closes the session. */
  cancel(): Promise<void>;
  /** Ends the agent and all its processes. Resolves when they are gone. Can be repeated. */
  close(): Promise<void>;
}

export interface PromptExtras {
  /** For an agent that accepts images. The images are also files of the workspace. */
  readonly images?: readonly PromptImage[];
  readonly mode?: PromptMode;
}

export interface PromptImage {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface PromptMode {
  /** The agent switches to its mode of this name, if it has one. `normal` is the mode in which it starts. */
  readonly name: string;
  /** Text before the prompt, for an agent without such a mode. */
  readonly words: string;
}

export const STOP_REASONS = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface TurnEnd {
  readonly stopReason: StopReason;
  /** The usage of this turn only. */
  readonly usage?: TokenUsage;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** Receives what an agent reports while it works, in order. */
export interface AgentObserver {
  update(update: AgentUpdate): void;
  /**
   * Undefined while there is room for more updates. Otherwise updates wait to be stored: nothing more is read from
   * the agent until this resolves, so that the agent waits too. Never rejects.
   */
  room(): Promise<void> | undefined;
  /**
   * Returns the id of the chosen option, or undefined when nobody will answer because the turn is being cancelled.
   */
  permission(request: PermissionRequest): Promise<string | undefined>;
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
