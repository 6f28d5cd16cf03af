import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../core/basics/defined.ts";
import {
  pathsInside,
  type Workspace,
  workspaceAccess,
  workspaceVariables,
} from "../core/model/workspaces/workspace.ts";
import type { Preparation } from "../core/ports/workspace-provider.ts";
import { pathIn, sandboxOptionsOf } from "./sandbox-options.ts";
import { runSetupCommand, setupFailure } from "./setup-command.ts";
import type { Step, Steps } from "./steps.ts";
import type { WorkspaceDeps } from "./workspace-deps.ts";
import type { ClonedRepository } from "./workspace-record.ts";

/** The length of the output at the end of the error. The rest is in the run's log. */
const TAIL_CHARS = 2_000;

export interface PlannedCommand {
  readonly command: string;
  /** For people, also when it fails. */
  readonly title: string;
}

/** Runs the commands in the sandbox, one after another. Fails with `environment_setup_failed`. */
export async function setUp(
  deps: WorkspaceDeps,
  preparation: Preparation,
  workspace: Workspace,
  steps: Steps,
  commands: readonly PlannedCommand[],
): Promise<void> {
  const deadline = performance.now() + deps.setup.totalMs;
  for (const [index, { command, title }] of commands.entries()) {
    const isScript = title !== command;
    const what = isScript ? `The script ${title}` : `Setup command ${index + 1} of ${commands.length}`;
    await steps.during(title, (step) =>
      runStep({ deps, preparation, workspace, step, deadline, command, what }),
    );
  }
}

interface SetupStep {
  readonly deps: WorkspaceDeps;
  readonly preparation: Preparation;
  readonly workspace: Workspace;
  readonly step: Step;
  readonly deadline: number;
  readonly command: string;
  readonly what: string;
}

async function runStep({ command, deadline, deps, preparation, step, what, workspace }: SetupStep) {
  let tail = "";
  const say = (text: string) => {
    step.say(text);
    tail = (tail + text).slice(-TAIL_CHARS);
  };
  const { gateway, plan, runId, signal } = preparation;
  const { image } = plan;
  const options = {
    ...sandboxOptionsOf(defined({ gateway, runId, image })),
    env: environmentOf(deps, preparation, workspace),
    cwd: pathsInside(workspace).workingDirectory,
    ...workspaceAccess(workspace),
    readable: [],
  };
  const timeoutMs = Math.max(1, Math.min(deps.setup.commandMs, deadline - performance.now()));
  const problem = await runSetupCommand({ sandbox: deps.sandbox, options, command, timeoutMs, say, signal });
  if (problem !== undefined) {
    throw setupFailure(problem, what, tail);
  }
}

/** A secret of the same name must not replace a variable of the gateway. */
function environmentOf(
  { variablesOf }: WorkspaceDeps,
  { gateway, plan, variables }: Preparation,
  workspace: Workspace,
): Readonly<Record<string, string>> {
  const own = { ...variablesOf(gateway), ...workspaceVariables(workspace) };
  return { ...pathIn(plan.image), LANG: "C.UTF-8", ...variables, HOME: pathsInside(workspace).home, ...own };
}

/** What a repository brings along for environments without setup commands. */
const SCRIPT = ".errand/setup.sh";

/**
 * The setup scripts of cloned repositories, as commands for the working directory. Only those of a branch of the
 * repository: a commit alone may come from a fork, whose author must not receive the run's secrets.
 */
export async function findSetupScripts(
  directory: string,
  cloned: readonly ClonedRepository[],
  isOnly: boolean,
): Promise<readonly PlannedCommand[]> {
  const commands: PlannedCommand[] = [];
  for (const { branch, folder, name, owner } of cloned) {
    const hasScript = branch !== undefined && (await isFile(join(directory, folder, SCRIPT)));
    if (hasScript) {
      const title = `${SCRIPT} of ${owner}/${name}`;
      // `$0` is the shell that runs the command, so that the script needs no mode and no interpreter of its own.
      const command = `"$0" ${SCRIPT}`;
      commands.push({ title, command: isOnly ? command : `cd ./${folder} && ${command}` });
    }
  }
  return commands;
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() ?? false;
}
