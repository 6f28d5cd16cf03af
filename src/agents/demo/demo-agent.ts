import {
  type AgentApp,
  type AgentContext,
  agent,
  type ImageContent,
  type LoadSessionRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SetSessionModeRequest,
  type StopReason,
} from "@agentclientprotocol/sdk/unstable";
import { sampleOf, splitOutputRequest } from "./sample-value.ts";
import { parseScript, requestIn } from "./script.ts";
import { MODES, SessionModes } from "./session-modes.ts";
import { SessionStore, type StoredSession } from "./session-store.ts";
import { doSteps } from "./steps.ts";
import { Turn } from "./turn.ts";

const CONTEXT_SIZE = 200_000;
const CHARS_PER_TOKEN = 4;

const INTRODUCTION =
  "I am Errand's built-in demo agent. I have no model: I look at the files and write a report. " +
  "For a real agent, set one of OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_BASE_URL where this " +
  "server is started.";

/** An ACP agent that needs no model. It stores its sessions below `home`. */
export function createDemoAgent(home: string): AgentApp {
  const sessions = new DemoSessions(new SessionStore(home));
  return agent({ name: "errand-demo" })
    .onRequest("initialize", () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "demo", title: "Demo agent", version: "1" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true },
        sessionCapabilities: { systemPrompt: {} },
      },
    }))
    .onRequest("session/new", ({ params }) => sessions.create(params))
    .onRequest("session/load", ({ params, client }) => sessions.load(params, client))
    .onRequest("session/set_mode", ({ params }) => sessions.setMode(params))
    .onRequest("session/prompt", ({ params, client }) => sessions.prompt(params, client))
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId));
}

class DemoSessions {
  readonly #store: SessionStore;
  readonly #open = new Map<string, StoredSession>();
  readonly #running = new Map<string, AbortController>();
  readonly #modes = new SessionModes();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  async create({ cwd, systemPrompt }: NewSessionRequest): Promise<NewSessionResponse> {
    const session = await this.#store.create(cwd, basePromptOf(systemPrompt));
    this.#open.set(session.sessionId, session);
    return { sessionId: session.sessionId, modes: MODES };
  }

  setMode({ sessionId, modeId }: SetSessionModeRequest): object {
    this.#modes.set(sessionId, modeId);
    return {};
  }

  async load({ sessionId, cwd }: LoadSessionRequest, client: AgentContext): Promise<object> {
    const session = await this.#store.find(sessionId);
    if (session === undefined) {
      throw RequestError.sessionNotFound(sessionId);
    }
    this.#open.set(sessionId, { ...session, cwd });
    await replay(session, client);
    return { modes: MODES };
  }

  async prompt({ sessionId, prompt }: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const session = this.#open.get(sessionId);
    if (session === undefined) {
      throw RequestError.sessionNotFound(sessionId);
    }
    if (this.#running.has(sessionId)) {
      throw RequestError.invalidRequest(undefined, "a turn is running");
    }
    const controller = new AbortController();
    this.#running.set(sessionId, controller);
    const text = requestIn(prompt.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"));
    const images = prompt.flatMap((block) => (block.type === "image" ? [imageOf(block)] : []));
    const isPlanning = this.#modes.isPlanning(sessionId);
    try {
      const turn = new Turn(session, client, { signal: controller.signal, isPlanning });
      return await this.#turn(turn, text, images);
    } finally {
      this.#running.delete(sessionId);
    }
  }

  cancel(sessionId: string): void {
    this.#running.get(sessionId)?.abort();
  }

  async #turn(turn: Turn, prompt: string, images: readonly string[]): Promise<PromptResponse> {
    try {
      if (turn.number === 1) {
        await turn.say(INTRODUCTION);
      }
      if (images.length > 0) {
        await turn.say(`I was given ${images.length} to look at: ${images.join(", ")}.`);
      }
      const stopReason = await stepsOrCancelled(turn, prompt);
      return { stopReason, usage: await reportUsage(turn, prompt) };
    } finally {
      await this.#remember(turn, prompt);
    }
  }

  async #remember({ session, answer }: Turn, prompt: string): Promise<void> {
    const turns = [...session.turns, { prompt, answer }];
    this.#open.set(session.sessionId, { ...session, turns });
    await this.#store.save({ ...session, turns });
  }
}

async function stepsOrCancelled(turn: Turn, prompt: string): Promise<StopReason> {
  try {
    const { schema, text } = splitOutputRequest(prompt);
    const steps = parseScript(text);
    const stopReason = await doSteps(turn, steps);
    // A script says itself what it answers.
    if (schema !== undefined && steps.every(({ kind }) => kind === "request")) {
      await turn.say(`\`\`\`json\n${JSON.stringify(sampleOf(schema), null, 2)}\n\`\`\``);
    }
    return stopReason;
  } catch (error) {
    if (turn.signal.aborted) {
      return "cancelled";
    }
    throw error;
  }
}

/** A rough count, so that every display of usage has something to show. */
async function reportUsage(turn: Turn, prompt: string) {
  const inputTokens = tokens(prompt);
  const outputTokens = tokens(turn.answer);
  const earlier = turn.session.turns.map((past) => past.prompt + past.answer).join("");
  const used = tokens(earlier) + inputTokens + outputTokens;
  await turn.send({ sessionUpdate: "usage_update", used, size: CONTEXT_SIZE });
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

function imageOf({ data, mimeType }: ImageContent): string {
  return `${mimeType} of ${Buffer.from(data, "base64").length} bytes`;
}

function tokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Repeats a loaded session from its beginning, as real agents do. */
async function replay({ sessionId, turns }: StoredSession, client: AgentContext): Promise<void> {
  for (const { prompt, answer } of turns) {
    await client.notify("session/update", {
      sessionId,
      update: { sessionUpdate: "user_message_chunk", content: { type: "text", text: prompt } },
    });
    await client.notify("session/update", {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } },
    });
  }
}

function basePromptOf(systemPrompt: NewSessionRequest["systemPrompt"]): string | undefined {
  return systemPrompt?.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
