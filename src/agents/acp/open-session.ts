import {
  type ClientContext,
  type InitializeResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk/unstable";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import { pathsInside } from "../../core/model/workspaces/workspace.ts";
import type { AgentStart } from "../../core/ports/agent-runner.ts";
import type { AgentLaunch } from "../agent-definition.ts";
import { supportedMcpServers } from "./mcp-check.ts";
import { type OpenedModes, SessionMode, SessionOptions } from "./session-options.ts";

export interface OpenedSession {
  readonly sessionId: string;
  readonly resumed: boolean;
  readonly agent: { readonly name: string; readonly version?: string };
  /** Added before the first prompt, for an agent without a channel for a base prompt. */
  readonly preamble?: string;
  /** What was requested and is not available, each as a sentence for people. */
  readonly shortcomings: readonly string[];
  /** Whether the agent accepts text during a turn. */
  readonly canSteer: boolean;
  readonly mode: SessionMode;
  /** Whether the agent accepts images in a prompt. */
  readonly seesImages: boolean;
}

interface SessionAnswer extends OpenedModes {
  readonly sessionId: string;
}

/** During `session/load` the agent repeats the whole history, which our log already has. */
export interface Replay {
  begin(): void;
}

/** The parts of the launch that matter for the session. */
export interface SessionTerms extends Pick<AgentLaunch, "instructions" | "setsModel" | "passesBasePrompt"> {
  readonly acceptsMcpServers: boolean;
}

export interface SessionRequest {
  readonly start: AgentStart;
  readonly terms: SessionTerms;
  readonly replay: Replay;
}

/** Prepares an initialized agent until it accepts prompts. Rejects with the agent's error. */
export async function openSession(
  agent: ClientContext,
  initialized: InitializeResponse,
  { replay, start, terms }: SessionRequest,
): Promise<OpenedSession> {
  const basePrompt = basePromptAtStart(start, terms);
  const { previousSession } = start;
  const hasChannel = Boolean(initialized.agentCapabilities?.sessionCapabilities?.systemPrompt);
  const offered = supportedMcpServers(start, initialized, terms.acceptsMcpServers);
  const session: NewSessionRequest = defined({
    cwd: pathsInside(start.workspace).workingDirectory,
    mcpServers: offered.servers,
    systemPrompt: basePrompt && hasChannel ? appended(basePrompt) : undefined,
  });
  const loaded =
    previousSession !== undefined && initialized.agentCapabilities?.loadSession === true
      ? await load(agent, { ...session, sessionId: previousSession }, replay)
      : undefined;
  const opened = loaded ?? (await agent.request("session/new", session));
  const { name, version } = nameOf(initialized, start.agent);
  return {
    sessionId: opened.sessionId,
    resumed: loaded !== undefined,
    agent: defined({ name, version }),
    mode: new SessionMode(agent, opened.sessionId, opened),
    seesImages: initialized.agentCapabilities?.promptCapabilities?.image === true,
    canSteer: takesSteering(initialized),
    // A resumed agent received the base prompt in the session's first prompt.
    ...defined({ preamble: basePrompt && !hasChannel && !loaded ? fence(basePrompt) : undefined }),
    shortcomings: [
      ...offered.leftOut.map((server) => `${name} does not take the MCP server ${server}.`),
      ...(await choose(new SessionOptions(agent, opened), name, { ...start, ...terms })),
    ],
  };
}

/** Chooses what the run names, and returns a sentence for each that the agent does not offer. */
async function choose(
  options: SessionOptions,
  name: string,
  {
    modelId,
    reasoningLevel,
    setsModel,
  }: Pick<AgentStart, "modelId" | "reasoningLevel"> & Pick<SessionTerms, "setsModel">,
): Promise<readonly string[]> {
  const models = await options.choose("model", setsModel ? undefined : modelId);
  const levels = await options.choose("thought_level", reasoningLevel);
  return [
    ...models.map((model) => `the model ${model}`),
    ...levels.map((level) => `the reasoning level ${level}`),
  ].map((what) => `${name} does not offer ${what} and works with its own choice.`);
}

function basePromptAtStart(
  { basePrompt }: AgentStart,
  { instructions, passesBasePrompt }: SessionTerms,
): string {
  const parts = passesBasePrompt ? [instructions] : [basePrompt, instructions];
  return parts.filter(Boolean).join("\n\n");
}

const steering = z.object({ steering: z.object({ supported: z.literal(true) }) });

function takesSteering({ _meta }: InitializeResponse): boolean {
  return steering.safeParse(_meta).success;
}

/** What an agent needs before it can have a session. Nothing in it belongs to a run. */
export async function initialize(
  agent: ClientContext,
  authenticate: string | undefined,
): Promise<InitializeResponse> {
  const initialized = await agent.request("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "errand", version: "1" },
    // Without `notices` Codex writes its warnings into the text of the answer.
    clientCapabilities: { session: { notices: {}, compaction: {} } },
  });
  if (initialized.protocolVersion !== PROTOCOL_VERSION) {
    const spoken = `The agent speaks version ${initialized.protocolVersion} of ACP, not ${PROTOCOL_VERSION}.`;
    throw new AppError("internal_error", spoken, {
      reason: "agent_error",
      retryable: false,
      remedy: "Install the version named in the catalogue.",
    });
  }
  if (authenticate !== undefined) {
    await agent.request("authenticate", { methodId: authenticate });
  }
  return initialized;
}

function appended(basePrompt: string): NonNullable<NewSessionRequest["systemPrompt"]> {
  return { mode: "append", content: [{ type: "text", text: basePrompt }] };
}

/** Undefined when the agent could not load the session. A lost session must not fail the run. */
async function load(
  agent: ClientContext,
  session: LoadSessionRequest,
  replay: Replay,
): Promise<SessionAnswer | undefined> {
  replay.begin();
  try {
    return { ...(await agent.request("session/load", session)), sessionId: session.sessionId };
  } catch (error) {
    // Any error except the agent's own answer means that it can no longer answer.
    if (error instanceof RequestError) {
      return undefined;
    }
    throw error;
  }
}

/** The agent decides what it says of itself, and each list of runs shows it. */
const AGENT_INFO_LENGTH_MAX = 200;

function nameOf({ agentInfo }: InitializeResponse, fallback: string): OpenedSession["agent"] {
  if (!agentInfo) {
    return { name: fallback };
  }
  const { name, version } = agentInfo;
  return { name: name.slice(0, AGENT_INFO_LENGTH_MAX), version: version.slice(0, AGENT_INFO_LENGTH_MAX) };
}

function fence(basePrompt: string): string {
  return `<instructions>\n${basePrompt}\n</instructions>\n\nThe instructions above hold for the whole session. The request:\n\n`;
}
