import {
  type ClientContext,
  type InitializeResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk/unstable";
import { AppError } from "../../core/errors.ts";
import type { AgentStart } from "../../core/ports/agent-runner.ts";
import { type OpenedModes, SessionMode } from "./session-mode.ts";

export interface OpenedSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent: { readonly name: string; readonly version?: string };
  /** Put ahead of the first prompt, where the agent has no channel of its own for a base prompt. */
  readonly preamble?: string;
  /** Undefined when no model was asked for, or the agent took it. */
  readonly refusedModel?: string;
  readonly mode: SessionMode;
  /** Whether it looks at images in a prompt. */
  readonly seesImages: boolean;
}

interface SessionAnswer extends OpenedModes {
  readonly sessionId: string;
}

/** While `session/load` runs the agent tells the whole history again, which our log holds already. */
export interface Replay {
  begin(): void;
}

/** Speaks with a fresh agent until it can be prompted. Rejects with what the agent answered. */
export async function openSession(
  agent: ClientContext,
  start: AgentStart,
  replay: Replay,
): Promise<OpenedSession> {
  const initialized = await initialize(agent);
  const { basePrompt, previousSession } = start;
  const hasChannel = Boolean(initialized.agentCapabilities?.sessionCapabilities?.systemPrompt);
  const session = sessionRequest(start, hasChannel);
  const loaded =
    previousSession !== undefined && initialized.agentCapabilities?.loadSession === true
      ? await load(agent, { ...session, sessionId: previousSession }, replay)
      : undefined;
  const opened = loaded ?? (await agent.request("session/new", session));
  const refusedModel = await chooseModel(agent, opened, start.modelId);
  return {
    sessionId: opened.sessionId,
    resumed: loaded !== undefined,
    agent: nameOf(initialized, start.agent),
    mode: new SessionMode(agent, opened.sessionId, opened),
    seesImages: initialized.agentCapabilities?.promptCapabilities?.image === true,
    // An agent that was resumed has been told in the session's first prompt.
    ...(basePrompt && !hasChannel && !loaded ? { preamble: fence(basePrompt) } : {}),
    ...(refusedModel === undefined ? {} : { refusedModel }),
  };
}

async function initialize(agent: ClientContext): Promise<InitializeResponse> {
  const initialized = await agent.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "errand", version: "1" },
    // Without `notices` codex puts its warnings into the answer's text.
    clientCapabilities: { session: { notices: {}, compaction: {} } },
  });
  if (initialized.protocolVersion !== PROTOCOL_VERSION) {
    const spoken = `The agent speaks version ${initialized.protocolVersion} of ACP, not ${PROTOCOL_VERSION}.`;
    throw new AppError("agent_process_failed", spoken, {
      remedy: "Install the version named in the catalogue.",
    });
  }
  return initialized;
}

function sessionRequest({ basePrompt, workspace }: AgentStart, hasChannel: boolean): NewSessionRequest {
  const base = { cwd: workspace.directory, mcpServers: [] };
  if (!basePrompt || !hasChannel) {
    return base;
  }
  return { ...base, systemPrompt: { mode: "append", content: [{ type: "text", text: basePrompt }] } };
}

/** Undefined when the agent could not; a session that is gone is not worth failing a run for. */
async function load(
  agent: ClientContext,
  session: LoadSessionRequest,
  replay: Replay,
): Promise<SessionAnswer | undefined> {
  replay.begin();
  try {
    return { ...(await agent.request("session/load", session)), sessionId: session.sessionId };
  } catch (error) {
    // Anything but the agent's own answer means that it can answer no more.
    if (error instanceof RequestError) {
      return undefined;
    }
    throw error;
  }
}

/** ACP has no request for it: a model is a configuration option of category `model`. */
async function chooseModel(
  agent: ClientContext,
  { sessionId, configOptions }: SessionAnswer,
  modelId: string | undefined,
): Promise<string | undefined> {
  if (modelId === undefined) {
    return undefined;
  }
  const option = configOptions?.find(({ category, type }) => category === "model" && type === "select");
  if (option === undefined || !JSON.stringify(option).includes(JSON.stringify(modelId))) {
    return modelId;
  }
  await agent.request("session/set_config_option", { sessionId, configId: option.id, value: modelId });
  return undefined;
}

function nameOf({ agentInfo }: InitializeResponse, fallback: string): OpenedSession["agent"] {
  return agentInfo ? { name: agentInfo.name, version: agentInfo.version } : { name: fallback };
}

function fence(basePrompt: string): string {
  return `<instructions>\n${basePrompt}\n</instructions>\n\nThe instructions above hold for the whole session. The request:\n\n`;
}
