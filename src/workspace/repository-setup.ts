import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { PlannedCommand } from "./setup.ts";
import type { ClonedRepository } from "./workspace-record.ts";

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
