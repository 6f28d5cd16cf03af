import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { withTimeout } from "../../../core/basics/clock.ts";
import { defined } from "../../../core/basics/defined.ts";
import {
  HOME_INSIDE,
  WORKSPACE_INSIDE,
  workspaceVariables,
} from "../../../core/model/workspaces/workspace.ts";
import type { ReservableGateways } from "../../../core/ports/gateway.ts";
import type { AgentPrograms } from "../../agent-definition.ts";
import { AgentConnection } from "../agent-connection.ts";
import { AgentProcess, agentCommand } from "../agent-process.ts";
import { writeHomeFiles } from "../home-files.ts";
import { basePromptFor, findAgent, prepareLaunch } from "../prepare-launch.ts";
import type { AcpRunnerOptions } from "../runner-options.ts";
import { WarmAgent } from "./warm-agent.ts";
import { WarmFolders } from "./warm-folders.ts";

const START_TIMEOUT_MS = 120_000;
const INSIDE = { directory: WORKSPACE_INSIDE, workingDirectory: WORKSPACE_INSIDE, home: HOME_INSIDE };

export interface WarmStarterOptions {
  readonly runner: AcpRunnerOptions;
  readonly programs: Pick<AgentPrograms, "isThere">;
  /** The agent of runs that name none. */
  readonly agent: string;
  readonly dataDir: string;
  readonly gateways: Pick<ReservableGateways, "reserve">;
  /** Also removes read-only directories. */
  readonly removeTree: (path: string) => Promise<void>;
}

/** Starts agents without a run, one for each call. Undefined: the agent is not installed. */
export function warmStarter(
  options: WarmStarterOptions,
): (signal: AbortSignal) => Promise<WarmAgent | undefined> {
  const root = resolve(options.dataDir, "warm");
  let emptied: Promise<void> | undefined;
  return async (signal) => {
    // Removes what a killed worker left there.
    emptied ??= options.removeTree(root);
    await emptied;
    return start(options, new WarmFolders(join(root, randomUUID()), options.removeTree), signal);
  };
}

async function start(
  { agent: name, gateways, programs, runner }: WarmStarterOptions,
  folders: WarmFolders,
  signal: AbortSignal,
): Promise<WarmAgent | undefined> {
  const agent = findAgent(runner.catalogue, name);
  runner.requireSandboxFor(agent);
  if (!(await programs.isThere(agent))) {
    return undefined;
  }
  const { directory, home } = folders;
  const workspace = { directory, home, workingDirectory: directory, inside: INSIDE };
  const basePrompt = basePromptFor(agent, undefined);
  const needs = defined({ workspace, permissionPolicy: "allow" as const, signal, basePrompt });
  const launchAt = await prepareLaunch(runner, agent, needs, () => undefined);
  await using undo = new AsyncDisposableStack();
  undo.defer(() => folders.remove());
  await folders.make();
  const reservation = await gateways.reserve();
  undo.defer(() => reservation.close());
  const launch = launchAt(reservation.address);
  await writeHomeFiles(home, launch.files ?? {});
  const command = agentCommand(
    { agent, launch },
    { runId: "waiting", workspace, gateway: reservation, variables: workspaceVariables(workspace) },
    runner.variablesOf(reservation),
  );
  const died = (stderr: string) => runner.log.warn({ agent: name, stderr }, "agent.died");
  const connection = new AgentConnection(new AgentProcess(runner.sandbox.spawn(command), died));
  const warm = new WarmAgent({ connection, command, files: launch.files, folders, reservation });
  // From now on, closing the agent removes them.
  undo.move();
  await initialize(warm, launch.authenticate, signal);
  return warm;
}

/** If that fails, the agent is closed. */
async function initialize(
  warm: WarmAgent,
  authenticate: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const giveUp = () => warm.connection.client.close();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    signal.throwIfAborted();
    const initialized = await withTimeout(warm.connection.initialize(authenticate), START_TIMEOUT_MS);
    if (initialized === undefined) {
      throw new Error("The agent was not ready in time.");
    }
  } catch (error) {
    await warm.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
