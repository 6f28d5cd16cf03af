import type { GatewayAccess } from "../../core/ports/gateway.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { AgentDefinition, AgentPrograms } from "../agent-definition.ts";
import type { CompatibleServer } from "../compatible-models.ts";
import type { ModelServers } from "../models.ts";
import type { WarmAgents } from "./warm/warm-agents.ts";

/** What the driver needs of a log. pino's logger fits. */
export interface AgentLog {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface AcpRunnerOptions {
  readonly catalogue: ReadonlyMap<string, AgentDefinition>;
  readonly programs: Pick<AgentPrograms, "provide">;
  readonly sandbox: Sandbox;
  /** Fails for an agent that may not run in this sandbox. */
  readonly requireSandboxFor: (agent: AgentDefinition) => void;
  readonly servers: ModelServers;
  /** The model for runs that name none, if the agent can use it. */
  readonly defaultModel?: string;
  /** The server of another company that is asked for its models if there is no default one. */
  readonly compatibleServer?: CompatibleServer;
  /** Environment variables of all processes of an attempt. */
  readonly variablesOf: (gateway: GatewayAccess) => Readonly<Record<string, string>>;
  /** Undefined: all agents start for their run. */
  readonly warm?: Pick<WarmAgents, "fill" | "take"> | undefined;
  readonly log: AgentLog;
  readonly startTimeoutMs?: number;
  /** How long an MCP server may take until it is initialized. */
  readonly mcpTimeoutMs?: number;
  /** How long the end of a turn waits for what the agent left running. */
  readonly backgroundMs: number;
}
