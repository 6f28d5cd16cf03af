import { join } from "node:path";
import { git } from "./git-command.ts";

/** The usual places, the first of which wins. Case does not matter. */
const NAMES = [".github/", "", "docs/"].map((folder) => `${folder}pull_request_template`);
const PLACES = NAMES.flatMap((name) => ["md", "txt"].map((ending) => `${name}.${ending}`));
const TREE_BYTES = 1_048_576;
const TEMPLATE_BYTES = 20_000;

export interface TemplateOptions {
  readonly commit: string;
  readonly program: string;
  readonly signal: AbortSignal;
}

/**
 * The template of pull requests in a commit of a new clone, in which no program has run yet: the default one, otherwise
 * the only one in the folders of named templates. Undefined: there is none, several are named, or it is too long.
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
    const list = async (...folders: readonly string[]) => {
      const args = ["ls-tree", "-z", "--name-only", "--full-tree", commit, "--", ...folders];
      return (await run(args, TREE_BYTES)).split("\0");
    };
    const paths = await list(".github/", "docs/", "./");
    const among = (places: readonly string[]) =>
      places.flatMap((place) => paths.find((path) => path.toLowerCase() === place) ?? []);
    const folders = among(NAMES).map((folder) => `${folder}/`);
    const named = folders.length === 0 ? [] : await list(...folders);
    const [only, ...others] = named.filter((path) => /\.(?:md|txt)$/i.test(path));
    const path = among(PLACES)[0] ?? (others.length === 0 ? only : undefined);
    return path === undefined
      ? undefined
      : await run(["cat-file", "blob", `${commit}:${path}`], TEMPLATE_BYTES);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
