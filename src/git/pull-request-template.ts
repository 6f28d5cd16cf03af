import { join } from "node:path";
import { git } from "./git-command.ts";

/** The usual places, the first of which wins. Case does not matter. */
const PLACES = [".github/", "", "docs/"].flatMap((folder) =>
  ["md", "txt"].map((ending) => `${folder}pull_request_template.${ending}`),
);
const TREE_BYTES = 1_048_576;
const TEMPLATE_BYTES = 20_000;

export interface TemplateOptions {
  readonly commit: string;
  readonly program: string;
  readonly signal: AbortSignal;
}

/**
 * The template of pull requests in a commit of a new clone, in which no program has run yet. Undefined: there is none, or
 * it is too long.
 */
export async function readTemplate(
  directory: string,
  { commit, program, signal }: TemplateOptions,
): Promise<string | undefined> {
  const run = async (args: readonly string[], maxOutputBytes: number) => {
    const gitDir = join(directory, ".git");
    return (await git({ program, args, gitDir, workTree: directory, signal, maxOutputBytes })).toString();
  };
  try {
    const folders = [".github/", "docs/", "./"];
    const tree = await run(
      ["ls-tree", "-z", "--name-only", "--full-tree", commit, "--", ...folders],
      TREE_BYTES,
    );
    const paths = tree.split("\0");
    const found = PLACES.flatMap((place) => paths.find((path) => path.toLowerCase() === place) ?? []);
    const [path] = found;
    return path === undefined
      ? undefined
      : await run(["cat-file", "blob", `${commit}:${path}`], TEMPLATE_BYTES);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
