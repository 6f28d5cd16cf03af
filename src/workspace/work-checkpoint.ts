import { lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { RunWorkspace } from "../core/ports/workspace-provider.ts";
import { COMMITTER } from "../git/working-clone.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { LIST_BYTES, RESTORE_WORK, SAVE_WORK } from "./changes/change-scripts.ts";
import { inputsOf } from "./changes/given-state.ts";
import { runScript, type ScriptEnd } from "./changes/sandboxed-script.ts";
import { isMissing, removeTree } from "./file-trees.ts";
import { type ArchiveLimits, type PackOptions, packDirectory } from "./pack-directory.ts";
import { type ClonedRepository, RECORD, readRecord } from "./workspace-record.ts";

const WORK = "work.json";
/** The bundle and the refs of each repository, named by its number. */
const BUNDLES = "bundles";
const work = z.object({
  repositories: z.array(
    z.object({
      folder: z.string(),
      /** The commit with the files of the repository. */
      commit: z.string(),
      /** The checked-out branch. */
      head: z.string().optional(),
      /** What the work does not contain, relative to the workspace. */
      omitted: z.array(z.string()),
    }),
  ),
});
export type Work = z.infer<typeof work>;
type RepositoryWork = Work["repositories"][number];

const HEAD = /^([0-9a-f]{40,64}) (\d{1,7}) (\d{1,8}) (-|refs\/heads\/[^\s]{1,1000})\n/;
const HEAD_BYTES = 1_200;
const REFS_BYTES_MAX = 8 * 2 ** 20;
const OMITTED_MAX = 1_000;
const SAVE_MS = 120_000;
const RESTORE_MS = 300_000;
/** The commit of the files is not for people. With a fixed time, equal work has an equal bundle. */
const IDENTITY = {
  GIT_AUTHOR_NAME: COMMITTER.name,
  GIT_AUTHOR_EMAIL: COMMITTER.email,
  GIT_AUTHOR_DATE: "1970-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: COMMITTER.name,
  GIT_COMMITTER_EMAIL: COMMITTER.email,
  GIT_COMMITTER_DATE: "1970-01-01T00:00:00Z",
};

/**
 * Packs the work alone, from which the workspace can be rebuilt: of each repository the commits that its host does not
 * have, the changes and the new files, and of the workspace all that is in no repository. Files that git ignores and the
 * home are left out.
 */
export async function packWork(
  runPath: string,
  runWorkspace: RunWorkspace,
  sandbox: Sandbox,
  { tooLarge, ...limits }: ArchiveLimits & Required<Pick<PackOptions, "tooLarge">>,
): Promise<Uint8Array> {
  const { repositories } = await readRecord(runPath);
  const bundles = join(runPath, BUNDLES);
  await removeTree(bundles);
  await mkdir(bundles, { mode: 0o700 });
  try {
    const about: RepositoryWork[] = [];
    for (const [number, repository] of repositories.entries()) {
      about.push(
        await save(repository, join(bundles, String(number)), { ...limits, runPath, runWorkspace, sandbox }),
      );
    }
    await writeFile(join(runPath, WORK), JSON.stringify({ repositories: about } satisfies Work), {
      mode: 0o600,
    });
    const folders = new Set(repositories.map(({ folder }) => join("workspace", folder)));
    return await packDirectory(runPath, ["workspace", RECORD, WORK, BUNDLES], limits, {
      isLeftOut: (path) => folders.has(path),
      tooLarge,
    });
  } finally {
    await removeTree(bundles);
  }
}

interface SaveOptions extends Pick<ArchiveLimits, "maxBytes"> {
  readonly runPath: string;
  readonly runWorkspace: RunWorkspace;
  readonly sandbox: Sandbox;
}

async function save(
  cloned: ClonedRepository,
  place: string,
  { maxBytes, runPath, runWorkspace, sandbox }: SaveOptions,
): Promise<RepositoryWork> {
  const { commit: base, folder, name, owner } = cloned;
  const end = await runScript(
    {
      sandbox,
      runWorkspace,
      script: SAVE_WORK,
      args: [folder, base],
      inputs: inputsOf(cloned),
      env: IDENTITY,
      hasPortForward: false,
      writable: [],
      timeoutMs: SAVE_MS,
      maxOutputBytes: HEAD_BYTES + LIST_BYTES + REFS_BYTES_MAX + maxBytes,
    },
    runPath,
  );
  const { output } = end;
  const match = HEAD.exec(output.subarray(0, HEAD_BYTES).toString("latin1"));
  if (match === null || !isSuccess(end)) {
    throw new Error(`The work in ${owner}/${name} could not be packed. ${messageOf(end)}`);
  }
  const [line, commit = "", omittedLength, refsLength, head] = match;
  const refsAt = line.length + Number(omittedLength);
  const bundleAt = refsAt + Number(refsLength);
  await writeFile(`${place}.refs`, output.subarray(refsAt, bundleAt), { mode: 0o600 });
  await writeFile(`${place}.bundle`, output.subarray(bundleAt), { mode: 0o600 });
  // Each path ends with NUL, so what follows the last one was cut.
  const names = output.subarray(line.length, refsAt).toString("utf8").split("\0").slice(0, -1);
  const omitted = names.slice(0, OMITTED_MAX).map((path) => `${folder}/${path}`);
  return defined({ folder, commit, head: head === "-" ? undefined : head, omitted });
}

/** Undefined: the directory is not that of an unpacked archive of `packWork`. */
export async function findWork(directory: string): Promise<Work | undefined> {
  try {
    return work.parse(JSON.parse(await readFile(join(directory, WORK), "utf8")));
  } catch (error) {
    if (isMissing(error)) {
      return undefined;
    }
    throw error;
  }
}

/** Brings the work from an unpacked archive into the fresh clones of a workspace. */
export async function applyWork(
  { repositories }: Work,
  incoming: string,
  runPath: string,
  runWorkspace: RunWorkspace,
  sandbox: Sandbox,
): Promise<void> {
  const bundles = join(incoming, BUNDLES);
  const { repositories: cloned } = await readRecord(incoming);
  for (const [number, { commit, folder, head = "" }] of repositories.entries()) {
    const base = cloned.find((each) => each.folder === folder)?.commit ?? `${commit}^`;
    const args = [folder, join(bundles, String(number)), commit, head, base];
    const end = await runScript(
      {
        sandbox,
        runWorkspace,
        script: RESTORE_WORK,
        args,
        env: {},
        hasPortForward: false,
        writable: [bundles],
        maxOutputBytes: LIST_BYTES,
        timeoutMs: RESTORE_MS,
      },
      runPath,
    );
    if (!isSuccess(end)) {
      const message = `The work in the folder ${folder} could not be restored. ${messageOf(end)}`.trim();
      throw new AppError("environment_setup_failed", message, { retryable: false });
    }
  }
}

/** What the work does not contain and the setup did not make again. */
export async function listOmitted(directory: string, { repositories }: Work): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const path of repositories.flatMap(({ omitted }) => omitted)) {
    if (await isPathMissing(directory, path)) {
      missing.push(path);
    }
  }
  return missing;
}

/** Git makes an empty directory for a repository inside another one. What is behind a link is not in the workspace. */
async function isPathMissing(root: string, path: string): Promise<boolean> {
  const parts = path.split("/").filter((part) => part !== "");
  for (const [index, part] of parts.entries()) {
    const place = join(root, ...parts.slice(0, index + 1));
    const stat = part === ".." ? undefined : await lstat(place).catch(() => undefined);
    const isLast = index === parts.length - 1;
    if (stat === undefined || (!isLast && !stat.isDirectory())) {
      return true;
    }
    if (isLast && stat.isDirectory()) {
      return (await readdir(place)).length === 0;
    }
  }
  return false;
}

function isSuccess({ exit }: ScriptEnd): boolean {
  return typeof exit === "object" && exit.code === 0;
}

function messageOf({ errorText, exit }: ScriptEnd): string {
  const reason = typeof exit === "object" ? (exit.reason ?? "") : exit;
  return `${reason} ${errorText}`.trim();
}
