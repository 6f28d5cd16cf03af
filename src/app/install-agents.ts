import type { AgentDefinition } from "../agents/agent-definition.ts";
import { readConfig } from "../config/config.ts";
import { StartupError } from "../core/basics/errors.ts";
import { composeAgents } from "./compose-agents.ts";
import { operatorCommand, say } from "./operator-command.ts";

const USAGE = "npm run agents:install -- [NAME...]";

/**
 * Installs the named agents, or else the agent of runs that name none, so that the server does not need the registry. It
 * reads the same variables as the server. Returns the exit code.
 */
export async function installAgents(
  names: readonly string[],
  environment: Parameters<typeof readConfig>[0],
): Promise<number> {
  return operatorCommand(async () => {
    const { catalogue, defaultName, programs } = composeAgents(readConfig(environment));
    const agents = (names.length === 0 ? [defaultName] : names).map((name) => {
      return catalogue.get(name) ?? raiseUnknown(name, [...catalogue.keys()]);
    });
    for (const agent of agents) {
      await programs.provide(agent, say, new AbortController().signal);
      say(readyMessage(await programs.current(agent)));
    }
  });
}

function readyMessage({ displayName, npmPackage }: AgentDefinition): string {
  return npmPackage === undefined
    ? `${displayName} needs no installation.`
    : `${displayName} ${npmPackage.version} is ready.`;
}

function raiseUnknown(name: string, known: readonly string[]): never {
  throw new StartupError(`There is no agent ${name}. There are: ${known.join(", ")}. Usage: ${USAGE}`);
}
