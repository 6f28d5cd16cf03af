import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CliError } from "./failure.ts";

const run = promisify(execFile);

/** The repository of the current directory, as a run would work on it. */
export interface LocalRepository {
  /** `owner/name` on GitHub. */
  readonly repository: string;
  /** The branch of the remote that the current branch follows. Undefined: the branch exists only here. */
  readonly ref?: string;
  readonly branch: string;
  /** Commits of the branch that the remote does not have. */
  readonly unpushed: number;
}

/** Calls git in the current directory. Throws with what git said. */
export async function git(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("git", [...args], { maxBuffer: 2 ** 26 });
    return stdout.trimEnd();
  } catch (error) {
    const { code, stderr = "" } = error as { readonly code?: string; readonly stderr?: string };
    throw new CliError(
      code === "ENOENT" ? "git is not installed." : stderr.trim() || `git ${args[0]} failed.`,
    );
  }
}

/** The repository of the current directory, if its remote `origin` is on GitHub. */
export async function localRepository(): Promise<LocalRepository | undefined> {
  const remote = await git("remote", "get-url", "origin").catch(() => "");
  const repository = repositoryOf(remote);
  const branch = await git("symbolic-ref", "--quiet", "--short", "HEAD").catch(() => "");
  if (repository === undefined) {
    return undefined;
  }
  const followed = await git("rev-parse", "--abbrev-ref", "@{upstream}").catch(() => "");
  const ref = followed.replace(/^origin\//, "");
  const unpushed = followed === "" ? 0 : Number(await git("rev-list", "--count", "@{upstream}..HEAD"));
  return { repository, branch, unpushed, ...(ref === "" ? {} : { ref }) };
}

/** `owner/name` in the address of a remote on GitHub. */
export function repositoryOf(remote: string): string | undefined {
  return /(?:^|@|\/\/)github\.[^/:]+(?::\d+)?[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote)?.[1];
}
