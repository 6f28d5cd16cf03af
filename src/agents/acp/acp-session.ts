import {
  type ClientConnection,
  type ContentBlock,
  type PromptResponse,
  RequestError,
  type Usage,
} from "@agentclientprotocol/sdk/unstable";
import { AppError } from "../../core/errors.ts";
import {
  type AgentSession,
  type PromptExtras,
  type PromptImage,
  STOP_REASONS,
  type StopReason,
  type TurnEnd,
} from "../../core/ports/agent-runner.ts";
import { toAppError } from "./agent-error.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { OpenedSession } from "./open-session.ts";
import type { PermissionDesk } from "./permission-desk.ts";

export interface SessionParts {
  readonly opened: OpenedSession;
  readonly connection: ClientConnection;
  readonly process: AgentProcess;
  readonly permissions: PermissionDesk;
}

export class AcpSession implements AgentSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent: AgentSession["agent"];
  readonly #parts: SessionParts;
  #preamble: string;
  #turn: { cancelled: boolean } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.sessionId = parts.opened.sessionId;
    this.resumed = parts.opened.resumed;
    this.agent = parts.opened.agent;
    this.#preamble = parts.opened.preamble ?? "";
  }

  async prompt(text: string, extras: PromptExtras = {}): Promise<TurnEnd> {
    if (this.#turn !== undefined) {
      throw new Error("prompt was called while another turn is running");
    }
    const turn = { cancelled: false };
    this.#turn = turn;
    try {
      const words = await this.#enter(extras.mode);
      // An agent forgets a cancel that came before its turn.
      if (turn.cancelled) return { stopReason: "cancelled" };
      return toTurnEnd(await this.#request(words + text, extras.images));
    } catch (error) {
      return await this.#failed(error, turn);
    } finally {
      this.#turn = undefined;
    }
  }

  async cancel(): Promise<void> {
    if (this.#turn === undefined) {
      return;
    }
    this.#turn.cancelled = true;
    const told = this.#notifyCancel();
    this.#parts.permissions.cancelPending();
    await told;
  }

  async close(): Promise<void> {
    this.#parts.permissions.cancelPending();
    await this.#parts.process.close();
    this.#parts.connection.close();
  }

  /** What has to be said in words, as the agent has no such mode. */
  async #enter(mode: PromptExtras["mode"]): Promise<string> {
    if (mode === undefined) {
      return "";
    }
    return (await this.#parts.opened.mode.enter(mode.name)) ? "" : `${mode.words}\n\n`;
  }

  #request(text: string, images: PromptExtras["images"] = []): Promise<PromptResponse> {
    const prompt: ContentBlock[] = [{ type: "text", text: this.#preamble + text }];
    if (this.#parts.opened.seesImages) {
      prompt.push(...images.map(imageBlock));
    }
    this.#preamble = "";
    return this.#parts.connection.agent.request("session/prompt", { sessionId: this.sessionId, prompt });
  }

  async #notifyCancel(): Promise<void> {
    const { agent, signal } = this.#parts.connection;
    try {
      await agent.notify("session/cancel", { sessionId: this.sessionId });
    } catch (error) {
      // The agent is gone, which the running prompt tells.
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  async #failed(error: unknown, turn: { readonly cancelled: boolean }): Promise<TurnEnd> {
    if (error instanceof AppError) {
      throw error;
    }
    if (!(error instanceof RequestError)) {
      throw await this.#parts.process.failure(error);
    }
    // Some agents answer a cancelled turn with an error; it has ended as was wanted.
    if (turn.cancelled) {
      return { stopReason: "cancelled" };
    }
    throw toAppError(error);
  }
}

function imageBlock({ bytes, mimeType }: PromptImage): ContentBlock {
  return { type: "image", mimeType, data: Buffer.from(bytes).toString("base64") };
}

function toTurnEnd({ stopReason, usage }: PromptResponse): TurnEnd {
  if (!isStopReason(stopReason)) {
    throw new AppError(
      "agent_process_failed",
      `The agent ended its turn for a reason that is not known: ${stopReason}`,
    );
  }
  return { stopReason, ...(usage ? { usage: toUsage(usage) } : {}) };
}

function toUsage({ inputTokens, outputTokens, totalTokens }: Usage): NonNullable<TurnEnd["usage"]> {
  return { inputTokens, outputTokens, totalTokens };
}

function isStopReason(reason: string): reason is StopReason {
  return STOP_REASONS.some((known) => known === reason);
}
