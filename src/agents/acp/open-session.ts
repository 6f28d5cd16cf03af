import {
  type ClientContext,
  type InitializeResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk/unstable";
import { z } from "zod";
import type { AgentStart } from "../../core/agents/agent-runner.ts";
import { AppError } from "../../core/errors.ts";
import type { AgentLaunch } from "../agent-definition.ts";
import { supportedMcpServers } from "./mcp-servers.ts";
import { type OpenedModes, SessionMode } from "./session-mode.ts";
import { SessionOptions } from "./session-options.ts";

export interface OpenedSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent: { readonly name: string; readonly version?: string };
  /** Put ahead of the first prompt, where the agent has no channel of its own for a base prompt. */
  readonly preamble?: string;
  /** What was asked for and cannot be had, each as a sentence for people. */
  readonly shortcomings: readonly string[];
  /** Whether it takes words in the middle of a turn. */
  readonly canSteer: boolean;
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

/** What of the launch matters once the agent runs. */
export interface SessionTerms
  extends Pick<AgentLaunch, "authenticate" | "instructions" | "setsModel" | "tellsBasePrompt"> {
  readonly takesToolServers: boolean;
}

/** Speaks with a fresh agent until it can be prompted. Rejects with what the agent answered. */
export async function openSession(
  agent: ClientContext,
  start: AgentStart,
  terms: SessionTerms,
  replay: Replay,
): Promise<OpenedSession> {
  const initialized = await initialize(agent);
  if (terms.authenticate !== undefined) await agent.request("authenticate", { methodId: terms.authenticate });
  const basePrompt = toldOnOpening(start, terms);
  const { previousSession } = start;
  const hasChannel = Boolean(initialized.agentCapabilities?.sessionCapabilities?.systemPrompt);
  const offered = supportedMcpServers(start, initialized, terms.takesToolServers);
  const session: NewSessionRequest = {
    cwd: start.workspace.workingDirectory,
    mcpServers: offered.servers,
    ...(basePrompt && hasChannel ? { systemPrompt: appended(basePrompt) } : {}),
  };
  const loaded =
    previousSession !== undefined && initialized.agentCapabilities?.loadSession === true
      ? await load(agent, { ...session, sessionId: previousSession }, replay)
      : undefined;
  const opened = loaded ?? (await agent.request("session/new", session));
  const options = new SessionOptions(agent, opened);
  const { name, version } = nameOf(initialized, start.agent);
  return {
    sessionId: opened.sessionId,
    resumed: loaded !== undefined,
    agent: { name, ...(version === undefined ? {} : { version }) },
    mode: new SessionMode(agent, opened.sessionId, opened),
    seesImages: initialized.agentCapabilities?.promptCapabilities?.image === true,
    canSteer: takesSteering(initialized),
    // An agent that was resumed has been told in the session's first prompt.
    ...(basePrompt && !hasChannel && !loaded ? { preamble: fence(basePrompt) } : {}),
    shortcomings: [
      ...offered.leftOut.map((server) => `${name} does not take the tool server ${server}.`),
      ...(await options.choose("model", terms.setsModel ? undefined : start.modelId)).map(
        (model) => `${name} does not offer the model ${model} and works with its own choice.`,
      ),
      ...(await options.choose("thought_level", start.reasoningLevel)).map(
        (level) => `${name} does not offer the reasoning level ${level} and works with its own choice.`,
      ),
    ],
  };
}

function toldOnOpening({ basePrompt }: AgentStart, { instructions, tellsBasePrompt }: SessionTerms): string {
  const told = tellsBasePrompt ? [instructions] : [basePrompt, instructions];
  return told.filter(Boolean).join("\n\n");
}

const steering = z.object({ steering: z.object({ supported: z.literal(true) }) });

function takesSteering({ _meta }: InitializeResponse): boolean {
  return steering.safeParse(_meta).success;
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

function appended(basePrompt: string): NonNullable<NewSessionRequest["systemPrompt"]> {
  return { mode: "append", content: [{ type: "text", text: basePrompt }] };
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

function nameOf({ agentInfo }: InitializeResponse, fallback: string): OpenedSession["agent"] {
  return agentInfo ? { name: agentInfo.name, version: agentInfo.version } : { name: fallback };
}

function fence(basePrompt: string): string {
  return `<instructions>\n${basePrompt}\n</instructions>\n\nThe instructions above hold for the whole session. The request:\n\n`;
}
