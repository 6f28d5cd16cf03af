import type {
  AgentContext,
  PlanEntryStatus,
  SessionUpdate,
  ToolCallContent,
  ToolKind,
} from "@agentclientprotocol/sdk/unstable";
import type { StoredSession } from "./session-store.ts";

export type TurnConditions = Pick<Turn, "signal" | "isPlanning">;

/** One turn of a session as its steps see it: what they may report, and whether to stop. */
export class Turn {
  readonly session: StoredSession;
  readonly client: AgentContext;
  readonly signal: AbortSignal;
  /** Whether the turn only describes what it would do. */
  readonly isPlanning: boolean;
  /** Counted from 1 over the whole session, across restarts of the agent. */
  readonly number: number;
  /** The text of this turn so far. */
  answer = "";
  #messages = 0;
  #toolCalls = 0;

  constructor(session: StoredSession, client: AgentContext, { signal, isPlanning }: TurnConditions) {
    this.session = session;
    this.client = client;
    this.signal = signal;
    this.isPlanning = isPlanning;
    this.number = session.turns.length + 1;
  }

  /** Sends a message of its own. */
  async say(text: string): Promise<void> {
    this.#messages += 1;
    await this.stream(text);
    this.answer += "\n";
  }

  /** Continues the last message. */
  async stream(text: string): Promise<void> {
    this.answer += text;
    const messageId = `${this.number}-${this.#messages}`;
    await this.send({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
  }

  async plan(entries: readonly (readonly [content: string, status: PlanEntryStatus])[]): Promise<void> {
    const plan = entries.map(([content, status]) => ({ content, status, priority: "medium" as const }));
    await this.send({ sessionUpdate: "plan", entries: plan });
  }

  async startTool(title: string, kind: ToolKind, rawInput: unknown, path?: string): Promise<ToolCall> {
    this.#toolCalls += 1;
    const toolCallId = `turn-${this.number}-call-${this.#toolCalls}`;
    const locations = path === undefined ? [] : [{ path }];
    await this.send({
      sessionUpdate: "tool_call",
      toolCallId,
      title,
      kind,
      status: "in_progress",
      rawInput,
      locations,
    });
    return new ToolCall(this, toolCallId);
  }

  async send(update: SessionUpdate): Promise<void> {
    await this.client.notify("session/update", { sessionId: this.session.sessionId, update });
  }
}

export class ToolCall {
  readonly id: string;
  readonly #turn: Turn;

  constructor(turn: Turn, id: string) {
    this.#turn = turn;
    this.id = id;
  }

  async progress(content: ToolCallContent): Promise<void> {
    await this.#turn.send({ sessionUpdate: "tool_call_update", toolCallId: this.id, content: [content] });
  }

  async end(status: "completed" | "failed", content: ToolCallContent): Promise<void> {
    await this.#turn.send({
      sessionUpdate: "tool_call_update",
      toolCallId: this.id,
      status,
      content: [content],
    });
  }
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
