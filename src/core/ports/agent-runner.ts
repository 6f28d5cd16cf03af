import type { RunId } from "../basics/ids.ts";
import type { AgentUpdate, PermissionRequest, TurnEnd } from "../model/runs/agent-update.ts";
import type { AgentPhases } from "../model/runs/events.ts";
import type { AgentPicture } from "../model/workspaces/picture.ts";
import type { Workspace } from "../model/workspaces/workspace.ts";
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
  readonly phases: AgentPhases;
  /** Its program was started and initialized before there was the run. */
  readonly isWarm?: boolean;
  /**
   * Runs one turn. It is never called while another turn is running. Waits for a while for commands that the agent left
   * running, and stops them then. Rejects with an AppError when the agent fails or dies.
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
  readonly instruction: string;
}

/** Receives what an agent reports while it works, in order. */
export interface AgentObserver {
  update(update: AgentUpdate): void;
  /** A picture that is also in an update, where it may be cut. Its type is the one that its bytes have. */
  picture(picture: AgentPicture): void;
  /**
   * Undefined while there is room for more updates. Otherwise updates wait to be stored: nothing more is read from
   * the agent until this resolves, so that the agent waits too. Never rejects.
   */
  backpressure(): Promise<void> | undefined;
  /**
   * Returns the id of the chosen option, or undefined when nobody will answer because the turn is being cancelled.
   */
  permission(request: PermissionRequest): Promise<string | undefined>;
}
