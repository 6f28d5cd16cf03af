import { defined } from "../../core/basics/defined.ts";
import { pathsInside, workspaceAccess } from "../../core/model/workspaces/workspace.ts";
import type { AgentStart } from "../../core/ports/agent-runner.ts";
import { gatewayConnection } from "../../core/ports/gateway.ts";
import type { SandboxCommand } from "../../sandboxes/sandbox.ts";
import type { AgentDefinition, AgentLaunch } from "../agent-definition.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * The command that starts the agent in its sandbox. The run's own variables come first, so that none replaces one of
 * ours. `shared` are the variables of all processes of the attempt.
 */
export function agentCommand(
  { agent, launch }: { readonly agent: Pick<AgentDefinition, "isDemo">; readonly launch: AgentLaunch },
  start: AgentStart,
  shared: Readonly<Record<string, string>>,
): SandboxCommand {
  const { gateway, image, runId, variables, workspace } = start;
  const { home, workingDirectory } = pathsInside(workspace);
  return {
    argv: launch.argv,
    env: {
      ...variables,
      ...shared,
      PATH: SYSTEM_PATH,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...launch.env,
      HOME: home,
    },
    cwd: workingDirectory,
    ...workspaceAccess(workspace),
    readable: launch.readable,
    label: runId,
    isBuiltIn: agent.isDemo,
    ...gatewayConnection(gateway),
    ...defined({ image }),
  };
}
