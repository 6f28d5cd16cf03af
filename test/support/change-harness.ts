import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RunId } from "../../src/core/basics/ids.ts";
import type { PlannedRepository, Workspace } from "../../src/core/model/workspaces/workspace.ts";
import type { ChangeTracker } from "../../src/core/ports/change-tracker.ts";
import type { Gateway } from "../../src/core/ports/gateway.ts";
import type { RunWorkspace } from "../../src/core/ports/workspace-provider.ts";
import { gatewayVariables } from "../../src/gateway/gateway-variables.ts";
import type { Sandbox } from "../../src/sandboxes/sandbox.ts";
import { type ChangeLimits, createChangeTracker } from "../../src/workspace/changes/change-tracker.ts";
import { anIdleGateway } from "./idle-gateway.ts";
import { aPreparation, aWorkspaceProvider, commitsAt } from "./workspace-harness.ts";

const run = promisify(execFile);
const RUN = "0197f3a2-0000-7000-8000-000000000001" as RunId;

export interface ChangeHarnessOptions {
  readonly gitUrl: string;
  readonly sandbox: Sandbox;
  readonly repositories: readonly PlannedRepository[];
  readonly gateway?: Gateway;
  /** The authorization with which the repositories are cloned. */
  readonly authorization?: string;
  readonly limits?: Partial<ChangeLimits>;
  readonly setupCommands?: readonly string[];
}

/** A run with cloned repositories and a tracker of the changes in them. */
export class ChangeHarness {
  readonly root: string;
  readonly workspace: Workspace;
  readonly runWorkspace: RunWorkspace;
  readonly changes: ChangeTracker;

  private constructor(root: string, workspace: Workspace, options: ChangeHarnessOptions) {
    const { gateway = anIdleGateway(), gitUrl, limits = {}, sandbox } = options;
    this.root = root;
    this.workspace = workspace;
    this.runWorkspace = { runId: RUN, workspace, gateway };
    const variablesOf = (opened: Gateway) => gatewayVariables(opened, gitUrl);
    const findCommit = commitsAt(root, gitUrl, async () => options.authorization);
    this.changes = createChangeTracker({ dataDir: root, sandbox, gitUrl, variablesOf, findCommit, limits });
  }

  static async open(options: ChangeHarnessOptions): Promise<ChangeHarness> {
    const root = await mkdtemp(join(tmpdir(), "errand-changes-"));
    const { authorization, gitUrl, repositories, setupCommands = [] } = options;
    const provider = aWorkspaceProvider(root, { gitUrl, authorize: async () => authorization });
    const workspace = await provider.prepare(aPreparation(RUN, { plan: { repositories, setupCommands } }));
    return new ChangeHarness(root, workspace, options);
  }

  async close(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  /** Runs git in the run's repository, as the agent would. */
  async git(...args: readonly string[]): Promise<string> {
    return runGit(this.workspace.workingDirectory, args);
  }
}

export async function runGit(cwd: string, args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
  return (await run("git", [...args], { cwd, env })).stdout;
}
