import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Committer } from "../core/ports/repository-access.ts";
import { WITHOUT_AGENT_FILES } from "./agent-files.ts";
import { GitFailure, git } from "./git-command.ts";
import { WANTED } from "./history-mirror.ts";
import type { RefTarget } from "./remote-refs.ts";
import { findSparseCheckout, isCheckedOut, type SparseCheckout, sparsePatterns } from "./sparse-checkout.ts";

export interface WorkingClone extends RefTarget {
  readonly directory: string;
  /** The bare mirror from which the clone is made. */
  readonly mirror: string;
  /** The address of its `origin`. Nothing is fetched from it. */
  readonly url: string;
  readonly defaultBranch?: string | undefined;
  /** Default: `COMMITTER`. */
  readonly committer?: Committer | undefined;
  /** Its author is no member of the team, so no program may take settings or instructions from it. */
  readonly isUntrusted?: true | undefined;
  /** Only these folders are checked out. A commit that has none of them is checked out completely. */
  readonly sparse?: readonly string[] | undefined;
  readonly program: string;
  readonly signal: AbortSignal;
}

/**
 * A ref of the clone itself that keeps its first commit from garbage collection, whatever happens to the branches.
 */
const BASE = "refs/errand/base";
/** The author of commits by programs that name none, if the host has no account of Errand. */
export const COMMITTER: Committer = { name: "Errand", email: "errand@users.noreply.invalid" };

const OUTPUT_BYTES = 4_096;
const TREE_BYTES = 128 * 2 ** 20;
const CHECKOUT_FILES_MAX = 1_000_000;
const CHECKOUT_BYTES_MAX = 16 * 2 ** 30;
const FROM_MIRROR = { "protocol.file.allow": "always" };
const FETCH = ["fetch", "--quiet", "--no-write-fetch-head", "--no-recurse-submodules", "--update-shallow"];

/**
 * Makes a separate repository in a new directory. It shares nothing with the mirror, no program of the repository
 * runs, and links are created but not followed. Returns what is checked out; undefined: everything. Fails like `git`.
 */
export async function makeWorkingClone(clone: WorkingClone): Promise<SparseCheckout | undefined> {
  const { branch, commit, defaultBranch } = clone;
  const run = (...args: string[]) => runGit(clone, args);
  await makeEmptyClone(clone);
  await fetchFromMirror(clone);
  const sparse = await findSparse(clone);
  await checkSize(clone, sparse);
  if (defaultBranch !== undefined) {
    await run("symbolic-ref", "refs/remotes/origin/HEAD", `refs/remotes/origin/${defaultBranch}`);
  }
  await run(
    "update-ref",
    ...(branch === undefined ? ["--no-deref", "HEAD"] : [`refs/heads/${branch}`]),
    commit,
  );
  if (sparse !== undefined && sparse.folders.length > 0) {
    await limitCheckout(clone, sparse);
  }
  await run("reset", "--quiet", "--hard", "--no-recurse-submodules");
  return sparse;
}

async function findSparse(clone: WorkingClone): Promise<SparseCheckout | undefined> {
  const look = (args: readonly string[]) => runGit(clone, args, { maxOutputBytes: TREE_BYTES });
  return clone.sparse === undefined ? undefined : findSparseCheckout(look, clone.commit, clone.sparse);
}

async function limitCheckout(clone: WorkingClone, sparse: SparseCheckout): Promise<void> {
  const isUntrusted = clone.isUntrusted === true;
  const patterns = sparsePatterns(sparse, isUntrusted);
  await writeFile(join(clone.directory, ".git", "info", "sparse-checkout"), patterns);
  await runGit(clone, ["config", "core.sparseCheckout", "true"]);
  await runGit(clone, ["config", "core.sparseCheckoutCone", String(!isUntrusted)]);
}

/** Makes a repository without commits, whose first commit will be on `branch`. */
export async function makeEmptyClone(clone: Omit<WorkingClone, "mirror">): Promise<void> {
  const { branch, defaultBranch, directory } = clone;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const run = (...args: string[]) => runGit(clone, args);
  await run("init", "--quiet", "--template=", `--initial-branch=${branch ?? defaultBranch ?? "main"}`);
  // Programs expect these folders, and git creates them only from its templates.
  for (const part of ["hooks", "info"]) {
    await mkdir(join(directory, ".git", part));
  }
  if (clone.isUntrusted === true) {
    await writeFile(join(directory, ".git", "info", "sparse-checkout"), `${WITHOUT_AGENT_FILES}\n`);
  }
  // Comes first, because git would otherwise write the worker's name into its logs.
  for (const [key, value] of settingsOf(clone)) {
    await run("config", "--", key, value);
  }
}

async function fetchFromMirror(clone: WorkingClone): Promise<void> {
  const { branch, defaultBranch, mirror } = clone;
  const refspecs = [
    `+${WANTED}:${BASE}`,
    ...(branch === undefined ? [] : [`+${WANTED}:refs/remotes/origin/${branch}`]),
  ];
  if (defaultBranch !== undefined && defaultBranch !== branch) {
    refspecs.push(`+refs/heads/${defaultBranch}:refs/remotes/origin/${defaultBranch}`);
  }
  await runGit(clone, [...FETCH, "--", mirror, ...refspecs], { config: FROM_MIRROR });
}

/** A few bytes of a repository can describe more files than any disk can hold. */
async function checkSize(clone: WorkingClone, sparse: SparseCheckout | undefined): Promise<void> {
  const args = ["ls-tree", "-r", "-l", "-z", "--full-tree", clone.commit];
  const all = (await runGit(clone, args, { maxOutputBytes: TREE_BYTES })).toString("utf8").split("\0");
  const isCounted = sparse === undefined || sparse.folders.length === 0 ? () => true : isCheckedOut(sparse);
  const lines = all.filter((line) => isCounted(line.slice(line.indexOf("\t") + 1)));
  const bytes = lines.reduce((sum, line) => sum + (Number(/ +(\d+)\t/.exec(line)?.[1]) || 0), 0);
  if (lines.length > CHECKOUT_FILES_MAX || bytes > CHECKOUT_BYTES_MAX) {
    throw new GitFailure("too-large", `the checkout has ${lines.length} files of ${bytes} bytes`);
  }
}

function settingsOf({
  branch,
  committer = COMMITTER,
  isUntrusted,
  url,
}: Omit<WorkingClone, "mirror">): readonly (readonly [string, string])[] {
  const tracking = [
    [`branch.${branch}.remote`, "origin"],
    [`branch.${branch}.merge`, `refs/heads/${branch}`],
  ] as const;
  return [
    ["remote.origin.url", url],
    ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
    ["user.name", committer.name],
    ["user.email", committer.email],
    ...(branch === undefined ? [] : tracking),
    ...(isUntrusted === true ? [["core.sparseCheckout", "true"] as const] : []),
  ];
}

function runGit(
  { directory, program, signal }: Pick<WorkingClone, "directory" | "program" | "signal">,
  args: readonly string[],
  more: { readonly maxOutputBytes?: number; readonly config?: Readonly<Record<string, string>> } = {},
): Promise<Buffer> {
  const paths = { gitDir: join(directory, ".git"), workTree: directory };
  return git({ program, args, ...paths, signal, maxOutputBytes: OUTPUT_BYTES, ...more });
}
