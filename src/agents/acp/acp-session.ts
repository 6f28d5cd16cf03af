import {
  type ClientConnection,
  type ContentBlock,
  type PromptResponse,
  RequestError,
  type Usage,
} from "@agentclientprotocol/sdk/unstable";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import {
  STOP_REASONS,
  type StopReason,
  type TokenUsage,
  type TurnEnd,
} from "../../core/model/runs/agent-update.ts";
import type { AgentPhases } from "../../core/model/runs/events.ts";
import type { AgentSession, PromptExtras, PromptImage } from "../../core/ports/agent-runner.ts";
import type { Gateway } from "../../core/ports/gateway.ts";
import type { AgentDefinition } from "../agent-definition.ts";
import { bounded, toAppError } from "./agent-error.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import { ModelWatch } from "./model-failure.ts";
import type { OpenedSession } from "./open-session.ts";
import type { PermissionAnswers } from "./permission-answers.ts";

export interface SessionDeps {
  readonly opened: OpenedSession;
  readonly phases: AgentPhases;
  readonly isWarm: boolean;
  readonly connection: ClientConnection;
  readonly process: AgentProcess;
  readonly permissions: PermissionAnswers;
  readonly tasks: BackgroundTasks;
  readonly gateway: Gateway;
  readonly countsUsage: AgentDefinition["countsUsage"];
}

export class AcpSession implements AgentSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent: AgentSession["agent"];
  readonly phases: AgentPhases;
  readonly isWarm: boolean;
  readonly #deps: SessionDeps;
  #preamble: string;
  #turn: Turn | undefined;
  /** The usage of all turns so far, as the agent reported it. */
  #reportedUsage: TokenUsage = NONE;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.sessionId = deps.opened.sessionId;
    this.resumed = deps.opened.resumed;
    this.agent = deps.opened.agent;
    this.phases = deps.phases;
    this.isWarm = deps.isWarm;
    this.#preamble = deps.opened.preamble ?? "";
  }

  async prompt(text: string, extras: PromptExtras = {}): Promise<TurnEnd> {
    if (this.#turn !== undefined) {
      throw new Error("prompt was called while another turn is running");
    }
    const models = new ModelWatch(this.#deps.gateway);
    const turn: Turn = { cancelled: false, isAnswered: false, models, repeated: undefined };
    this.#turn = turn;
    try {
      const instruction = await this.#enter(extras.mode);
      await this.#deps.tasks.begin();
      // An agent forgets a cancel that arrived before its turn.
      if (turn.cancelled) {
        return { stopReason: "cancelled" };
      }
      const end = this.#ended(await this.#answer(instruction + text, extras.images, turn), turn);
      turn.isAnswered = true;
      const stoppedTasks = await this.#deps.tasks.finish(() => turn.cancelled);
      return stoppedTasks.length === 0 ? end : { ...end, stoppedTasks };
    } catch (error) {
      return await this.#failed(error, turn);
    } finally {
      turn.models.end();
      clearInterval(turn.repeated);
      this.#turn = undefined;
    }
  }

  async steer(text: string): Promise<boolean> {
    const takesText = this.#turn !== undefined && !this.#turn.cancelled && !this.#turn.isAnswered;
    if (!takesText || !this.#deps.opened.canSteer) {
      return false;
    }
    const { agent } = this.#deps.connection;
    const prompt: ContentBlock[] = [{ type: "text", text }];
    try {
      const answer = await agent.request("_session/steering", { sessionId: this.sessionId, prompt });
      return injected.safeParse(answer).success;
    } catch {
      // The agent refused, or it is gone; the running prompt reports the latter.
      return false;
    }
  }

  async cancel(): Promise<void> {
    if (this.#turn === undefined) {
      return;
    }
    this.#turn.cancelled = true;
    const notified = this.#notifyCancel();
    // Copilot ignores a cancel that arrives before its turn has called the model.
    this.#turn.repeated ??= setInterval(
      () => void this.#notifyCancel().catch(() => undefined),
      CANCEL_AGAIN_MS,
    );
    this.#deps.permissions.cancelPending();
    await notified;
  }

  async close(): Promise<void> {
    this.#deps.permissions.cancelPending();
    await this.#deps.process.close();
    this.#deps.connection.close();
  }

  /** Returns text for the prompt when the agent has no mode of this name. */
  async #enter(mode: PromptExtras["mode"]): Promise<string> {
    if (mode === undefined) {
      return "";
    }
    return (await this.#deps.opened.mode.enter(mode.name)) ? "" : `${mode.instruction}\n\n`;
  }

  #request(text: string, images: PromptExtras["images"] = []): Promise<PromptResponse> {
    const prompt: ContentBlock[] = [{ type: "text", text: this.#preamble + text }];
    if (this.#deps.opened.seesImages) {
      prompt.push(...images.map(imageBlock));
    }
    this.#preamble = "";
    return this.#deps.connection.agent.request("session/prompt", { sessionId: this.sessionId, prompt });
  }

  /** Ends when the agent ends its turn, or when its model has failed too often. */
  async #answer(text: string, images: PromptExtras["images"], turn: Turn): Promise<PromptResponse> {
    const answered = this.#request(text, images);
    const first = await Promise.race([answered, turn.models.gaveUp]);
    if (!(first instanceof AppError)) {
      return first;
    }
    answered.catch(() => undefined);
    await this.#notifyCancel();
    throw first;
  }

  #ended(response: PromptResponse, turn: Turn): TurnEnd {
    const stopReason = stopReasonOf(response);
    const usage = turn.models.usage() ?? this.#usageOf(response);
    const failure = stopReason === "cancelled" ? undefined : turn.models.failure();
    // Copilot and Codex report success whatever the model answered, and mention the failure only in prose.
    if (failure !== undefined) {
      throw failure;
    }
    return defined({ stopReason, usage });
  }

  /** The usage of this turn only, even if the agent counts the whole session. */
  #usageOf({ usage }: PromptResponse): TokenUsage | undefined {
    if (!usage) {
      return undefined;
    }
    const before = this.#deps.countsUsage === "by session" ? this.#reportedUsage : NONE;
    this.#reportedUsage = toUsage(usage);
    return minus(this.#reportedUsage, before);
  }

  async #notifyCancel(): Promise<void> {
    const { agent, signal } = this.#deps.connection;
    try {
      await agent.notify("session/cancel", { sessionId: this.sessionId });
    } catch (error) {
      // The agent is gone; the running prompt reports that.
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  async #failed(error: unknown, turn: Turn): Promise<TurnEnd> {
    if (error instanceof AppError) {
      throw error;
    }
    if (!(error instanceof RequestError)) {
      throw await this.#deps.process.failure(error);
    }
    // Some agents answer a cancelled turn with an error. The turn has still ended as requested.
    if (turn.cancelled) {
      return { stopReason: "cancelled" };
    }
    // What the gateway saw is more reliable than the agent's error.
    throw turn.models.failure() ?? toAppError(error);
  }
}

const CANCEL_AGAIN_MS = 1_000;

interface Turn {
  cancelled: boolean;
  /** The agent has ended its turn. What it left running may still work. */
  isAnswered: boolean;
  readonly models: ModelWatch;
  /** Repeats the cancel until the turn ends. */
  repeated: NodeJS.Timeout | undefined;
}

const NONE: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

const injected = z.object({ outcome: z.literal("injected") });

function imageBlock({ bytes, mimeType }: PromptImage): ContentBlock {
  return { type: "image", mimeType, data: Buffer.from(bytes).toString("base64") };
}

function stopReasonOf({ stopReason }: PromptResponse): StopReason {
  if (isStopReason(stopReason)) {
    return stopReason;
  }
  const message = `The agent ended its turn for a reason that is not known: ${stopReason}`;
  throw new AppError("internal_error", bounded(message), { reason: "agent_error" });
}

function toUsage({ inputTokens, outputTokens, totalTokens }: Usage): TokenUsage {
  return { inputTokens, outputTokens, totalTokens };
}

/** A restarted agent may count from zero. */
function minus(now: TokenUsage, before: TokenUsage): TokenUsage {
  if (now.totalTokens < before.totalTokens) {
    return now;
  }
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    totalTokens: now.totalTokens - before.totalTokens,
  };
}

function isStopReason(reason: string): reason is StopReason {
  return STOP_REASONS.some((known) => known === reason);
}
