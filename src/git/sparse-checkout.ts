import { WITHOUT_AGENT_FILES_OF_FOLDERS } from "./agent-files.ts";

/** What a sparse checkout of a commit consists of. */
export interface SparseCheckout {
  /** The wanted folders that the commit has. */
  readonly folders: readonly string[];
  /** Those that it lacks. */
  readonly missing: readonly string[];
  /** Checked out as well: folders of the root whose names begin with a dot. They have settings of programs and agents. */
  readonly hidden: readonly string[];
}

/** Reads the commit with git: the output of these arguments. */
type Look = (args: readonly string[]) => Promise<Buffer>;

/** What a path is in a tree: a folder, or a submodule, which is one once it is fetched. */
const FOLDER = /^(?:040000 tree|160000 commit) [0-9a-f]+\t(.+)$/s;

export async function findSparseCheckout(
  look: Look,
  commit: string,
  wanted: readonly string[],
): Promise<SparseCheckout> {
  const list = async (paths: readonly string[]) => {
    const output = await look(["ls-tree", "-z", "--full-tree", commit, "--", ...paths]);
    const entries = output.toString("utf8").split("\0");
    return entries.flatMap((entry) => FOLDER.exec(entry)?.[1] ?? []);
  };
  const found = new Set(await list(wanted));
  return {
    folders: wanted.filter((folder) => found.has(folder)),
    missing: wanted.filter((folder) => !found.has(folder)),
    hidden: (await list([])).filter((folder) => folder.startsWith(".")),
  };
}

/** The content of `info/sparse-checkout`, in the form of git's cone mode unless the files that configure agents stay out. */
export function sparsePatterns({ folders, hidden }: SparseCheckout, isUntrusted: boolean): string {
  const whole = topmost([...folders, ...hidden]);
  const above = new Set(whole.flatMap(parentsOf));
  const cone = [
    "/*",
    "!/*/",
    ...[...above].sort().flatMap((folder) => [`/${escaped(folder)}/`, `!/${escaped(folder)}/*/`]),
    ...whole.map((folder) => `/${escaped(folder)}/`),
  ];
  return `${[...cone, ...(isUntrusted ? WITHOUT_AGENT_FILES_OF_FOLDERS : [])].join("\n")}\n`;
}

/** Whether a path of the commit is checked out. Files beside the folders and above them are. */
export function isCheckedOut({ folders, hidden }: SparseCheckout): (path: string) => boolean {
  const whole = topmost([...folders, ...hidden]);
  const above = new Set(["", ...whole.flatMap(parentsOf)]);
  return (path) =>
    whole.some((folder) => path.startsWith(`${folder}/`)) ||
    above.has(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
}

/** Without folders that are in another one, sorted. */
function topmost(folders: readonly string[]): readonly string[] {
  const all = new Set(folders);
  return [...all].filter((folder) => !parentsOf(folder).some((parent) => all.has(parent))).sort();
}

/** `a`, `a/b` of `a/b/c`. */
function parentsOf(folder: string): readonly string[] {
  const parts = folder.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** As git escapes them: https://git-scm.com/docs/git-sparse-checkout. */
function escaped(folder: string): string {
  return folder.replaceAll(/[\\*?[]/g, "\\$&");
}
