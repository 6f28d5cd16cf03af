import { join } from "node:path";
import { GitFailure, git } from "./git-command.ts";

const TREE_BYTES = 128 * 2 ** 20;
/** Further files are not looked at. */
const ATTRIBUTES_MAX = 200;
const ATTRIBUTES = /(?:^|\/)\.gitattributes$/;

export interface LookOptions {
  readonly commit: string;
  readonly program: string;
  readonly signal: AbortSignal;
}

/** Whether the attributes of a new clone, in which no program has run yet, say that large files are elsewhere (Git LFS). */
export async function hasLargeFiles(
  directory: string,
  { commit, program, signal }: LookOptions,
): Promise<boolean> {
  const run = (args: readonly string[]) => {
    const call = { program, args, gitDir: join(directory, ".git"), signal, maxOutputBytes: TREE_BYTES };
    return git({ ...call, workTree: directory });
  };
  const tree = await run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]);
  const paths = tree
    .toString("utf8")
    .split("\0")
    .filter((path) => ATTRIBUTES.test(path));
  if (paths.length === 0) {
    return false;
  }
  try {
    const files = paths.slice(0, ATTRIBUTES_MAX);
    await run(["grep", "--quiet", "-I", "--fixed-strings", "-e", "filter=lfs", commit, "--", ...files]);
    return true;
  } catch (error) {
    if (error instanceof GitFailure && error.kind === "failed") {
      return false;
    }
    throw error;
  }
}
