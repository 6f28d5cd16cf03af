import type { AgentModel } from "../core/agents/agent-catalogue.ts";
import type { AgentStart } from "../core/agents/agent-runner.ts";
import type { ModelServers, PlacedModel, Provider } from "./models.ts";

/** One agent of the catalogue: all that differs between agents is data, so that a new one is one folder and one line. */
export interface AgentDefinition {
  readonly name: string;
  readonly displayName: string;
  /** For whoever chooses among them, in one sentence. */
  readonly description: string;
  /** As SPDX names it, or in words. We ship none of them: each is fetched for whoever runs this server. */
  readonly license: string;
  readonly version?: string;
  /** What is installed on first use. Undefined: its program is there already. */
  readonly npmPackage?: NpmPackage;
  /** Of these APIs, one is enough. Empty: it needs no model of ours. */
  readonly providers: readonly Provider[];
  /** The first that this server has a provider of is what it takes when none is named. */
  readonly models: readonly [DefinedModel, ...DefinedModel[]];
  /** Whether it says itself what its work costs, in `usage_update`. */
  readonly tellsCost: boolean;
  /** Some count over the whole session what the protocol means of one turn. */
  readonly countsUsage: "by turn" | "by session";
  /** Whether tool servers that it is given reach its model. */
  readonly takesToolServers: boolean;
  /** The built-in agent, which needs no model and may run without a sandbox. */
  readonly isDemo: boolean;
  launch(request: LaunchRequest): AgentLaunch;
}

export interface NpmPackage {
  readonly name: string;
  /** Exactly: agents change from one release to the next. */
  readonly version: string;
}

/** A model, and by which API it is reached; undefined: by none. */
export interface DefinedModel extends AgentModel {
  readonly by?: Provider;
}

export interface LaunchRequest {
  /** Where its package is installed; of an agent without one, empty. */
  readonly directory: string;
  /** The gateway's, below which the models are. */
  readonly address: string;
  readonly servers: ModelServers;
  readonly home: string;
  /** Undefined: its own choice. */
  readonly model?: PlacedModel;
  readonly basePrompt?: string;
  readonly permissionPolicy: AgentStart["permissionPolicy"];
}

/** How an agent is started. */
export interface AgentLaunch {
  /** The program that speaks ACP on its standard streams. */
  readonly argv: readonly [string, ...string[]];
  /** What it needs in its environment besides PATH, HOME, LANG and TERM. Never one of the platform's keys. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and directories outside the system's own that it must be able to read: its program and its runtime. */
  readonly readable: readonly string[];
  /** The id of the method by which it wants to be let in before it opens a session. */
  readonly authenticate?: string;
  /** Written before it is started, by their paths below its home. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether the model is settled by the launch; otherwise it is asked for by the session's option. */
  readonly setsModel?: boolean;
  /** What it has to know of where it is; told with the base prompt. */
  readonly instructions?: string;
  /** Whether the base prompt is told by the launch. */
  readonly tellsBasePrompt?: boolean;
}

/** What a key is called in the sandbox: the gateway puts the real one in. */
export const PLACEHOLDER_KEY = "kept-outside";

export function modelAddress(address: string, provider: Provider): string {
  return `${address}/models/${provider}`;
}
