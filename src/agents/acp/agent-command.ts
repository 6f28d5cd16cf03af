import type { AgentStart } from "../../core/agents/agent-runner.ts";
import type { SandboxCommand } from "../../sandboxes/sandbox.ts";
import type { AgentLaunch } from "../agent-definition.ts";

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * The command that starts the agent in its sandbox. The run's own variables come first, so that none replaces one of
 * ours. `shared` are the variables of all processes of the attempt.
 */
export function agentCommand(
  launch: AgentLaunch,
  start: AgentStart,
  shared: Readonly<Record<string, string>>,
): SandboxCommand {
  const { gateway, image, runId, variables, workspace } = start;
  return {
    argv: launch.argv,
    env: {
      ...variables,
      ...shared,
      PATH: SYSTEM_PATH,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...launch.env,
      HOME: workspace.home,
    },
    cwd: workspace.workingDirectory,
    writable: [workspace.directory, workspace.home],
    readable: launch.readable,
    label: runId,
    ...(gateway.portForward === undefined ? {} : { portForward: gateway.portForward }),
    ...(image === undefined ? {} : { image }),
  };
}
