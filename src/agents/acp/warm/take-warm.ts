import { readdir } from "node:fs/promises";
import type { AgentStart } from "../../../core/ports/agent-runner.ts";
import type { AgentDefinition, AgentLaunch } from "../../agent-definition.ts";
import type { AgentConnection } from "../agent-connection.ts";
import { agentCommand } from "../agent-process.ts";
import type { AcpRunnerOptions } from "../runner-options.ts";

export interface TakenAgent {
  readonly connection: AgentConnection;
  readonly launch: AgentLaunch;
}

export interface WarmRequest {
  readonly agent: AgentDefinition;
  readonly request: AgentStart;
  readonly launchAt: (address: string) => AgentLaunch;
}

/**
 * The agent that waits, if the run would start the same program with the same environment and files. So a run with
 * secrets, other settings of its agent or wider network has none. Undefined: the agent must be started.
 */
export async function takeWarm(
  { variablesOf, warm }: Pick<AcpRunnerOptions, "variablesOf" | "warm">,
  { agent, launchAt, request }: WarmRequest,
): Promise<TakenAgent | undefined> {
  if (warm === undefined || (await needsOwnAgent(request))) {
    return undefined;
  }
  const taken = await warm.take(request, (each) => {
    const { access } = each;
    const { proxyUrl } = request.gateway;
    const gateway = proxyUrl === undefined ? access : { ...access, proxyUrl };
    const launch = launchAt(access.address);
    const command = agentCommand({ agent, launch }, { ...request, gateway }, variablesOf(gateway));
    return each.isFor({ command, files: launch.files });
  });
  return taken && { connection: taken.connection, launch: launchAt(taken.access.address) };
}

/** Setup commands, skills and earlier sessions leave files in the home, which an agent may read when it starts. */
async function needsOwnAgent({ mcpServers, previousSession, workspace }: AgentStart): Promise<boolean> {
  return (
    previousSession !== undefined ||
    Object.keys(mcpServers).length > 0 ||
    (await readdir(workspace.home)).length > 0
  );
}
