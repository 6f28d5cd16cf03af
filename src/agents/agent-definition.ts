import type { AgentModel } from "../core/ports/agent-catalogue.ts";
import type { AgentStart } from "../core/ports/agent-runner.ts";
import type { ModelServers, PlacedModel, Provider } from "./models.ts";

/**
 * One agent of the catalogue. Everything that differs between agents is data, so that a new agent is one folder and
 * one line.
 */
export interface AgentDefinition {
  readonly name: string;
  readonly displayName: string;
  /** One sentence for users who choose an agent. */
  readonly description: string;
  /** The SPDX name or a description. Errand contains no agent: it installs each on the user's behalf. */
  readonly license: string;
  readonly version?: string;
  /** The package to install on first use. Undefined: the program is already there. */
  readonly npmPackage?: NpmPackage;
  /** Any one of these APIs is enough. Empty: the agent needs no model of this server. */
  readonly providers: readonly Provider[];
  /** The default is the first model whose provider this server has. */
  readonly models: readonly [DefinedModel, ...DefinedModel[]];
  /** Some agents report the total of the session where the protocol means one turn. */
  readonly countsUsage: "by turn" | "by session";
  /** Whether the model of the agent can use configured MCP servers. */
  readonly acceptsMcpServers: boolean;
  /** Where the agent looks for skills in its home. Undefined: it does not look for any. */
  readonly skillFolder?: string;
  /** The built-in agent. It needs no model and may run without a sandbox. */
  readonly isDemo: boolean;
  /** For a program that unpacks itself at its first start. */
  readonly unpacking?: (directory: string) => Unpacking;
  launch(request: LaunchRequest): AgentLaunch;
}

export interface NpmPackage {
  readonly name: string;
  /** Pinned, because agents change from one release to the next. */
  readonly version: string;
  /** The directory with the `package-lock.json` that pins the package and its own dependencies by checksums. */
  readonly lockDirectory: string;
}

/** How an agent unpacks a part of its program that it would otherwise unpack into the home of each run. */
export interface Unpacking {
  readonly argv: readonly [string, ...string[]];
  /** The variables that make the program unpack into this directory and end. */
  readonly envFor: (target: string) => Readonly<Record<string, string>>;
}

/** The folder of an installation with what was unpacked. */
export const UNPACKED = "unpacked";

/** The `package.json` of an agent's installation. */
export function manifestOf({ name, version }: Pick<NpmPackage, "name" | "version">) {
  return { name: "agent", private: true, dependencies: { [name]: version } } as const;
}

/** A model and the API that serves it; undefined: no API of this server. */
export interface DefinedModel extends AgentModel {
  readonly by?: Provider;
}

export interface LaunchRequest {
  /** Where the agent's package is installed; empty for an agent without one. */
  readonly directory: string;
  /** The address of the gateway. The models are below it. */
  readonly address: string;
  readonly servers: ModelServers;
  readonly home: string;
  /** Undefined: the agent chooses. */
  readonly model?: PlacedModel;
  readonly basePrompt?: string;
  readonly permissionPolicy: AgentStart["permissionPolicy"];
}

/** How an agent is started. */
export interface AgentLaunch {
  /** The program that speaks ACP on its standard streams. */
  readonly argv: readonly [string, ...string[]];
  /** Environment variables besides PATH, HOME, LANG and TERM. Never one of the platform's keys. */
  readonly env: Readonly<Record<string, string>>;
  /** Files and directories that the agent must read, besides those of the system: its program and its runtime. */
  readonly readable: readonly string[];
  /** The id of the authentication method that the agent needs before it opens a session. */
  readonly authenticate?: string;
  /** Files that are written before the start, by their paths in the agent's home. */
  readonly files?: Readonly<Record<string, string>>;
  /** Whether the launch sets the model. Otherwise an option of the session sets it. */
  readonly setsModel?: boolean;
  /** What the agent must know about its surroundings. Added to the base prompt. */
  readonly instructions?: string;
  /** Whether the launch passes the base prompt. */
  readonly passesBasePrompt?: boolean;
}

/** The value of every key in the sandbox. The gateway replaces it by the real key. */
export const PLACEHOLDER_KEY = "kept-outside";

export function modelAddress(address: string, provider: Provider): string {
  return `${address}/models/${provider}`;
}

/** The programs of the agents on this machine. */
export interface AgentPrograms {
  /** The agent in the version that is in use on this machine. */
  current(agent: AgentDefinition): Promise<AgentDefinition>;
  isThere(agent: AgentDefinition): Promise<boolean>;
  /**
   * The directory of an agent's package, which is installed first if needed; empty for an agent without a package.
   * Reports its progress in sentences. Fails with `environment_setup_failed`.
   */
  provide(agent: AgentDefinition, report: (text: string) => void, signal: AbortSignal): Promise<string>;
}
