import { existsSync, realpathSync } from "node:fs";
import { chmod, lstat, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { RunId } from "../core/basics/ids.ts";
import {
  HOME_INSIDE,
  type ShownPath,
  WORKSPACE_INSIDE,
  type Workspace,
  type WorkspacePaths,
} from "../core/model/workspaces/workspace.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";
import { isMissing, removeTree } from "./file-trees.ts";
import type { DirectoryQuota } from "./project-quota.ts";
import { readRecord, type WorkspaceRecord, writeRecord } from "./workspace-record.ts";

/** The folders of a run directory that a sandbox may write to. */
export const WRITABLE_FOLDERS = ["workspace", "home"] as const;
const MARKER = "checkpoints.json";
const PRIVATE = 0o700;

/** Shown instead of the run directory, of which no process needs more than its two folders. */
const RUN_SHOWN = "/run-directory";

type Mounting = Pick<Sandbox, "hasMounts">;

/**
 * The files of one run on this worker's disk, at `<data directory>/runs/<run id>`. They are created in place, because
 * programs write down where they were set up. A directory counts only with its marker, which is written last. The
 * marker lists the checkpoints that its content continues.
 */
export class RunDirectory {
  readonly path: string;
  readonly #old: string;
  readonly #quota: DirectoryQuota | undefined;

  /** The quota is needed to create the directory. */
  constructor(dataDir: string, runId: RunId, quota?: DirectoryQuota) {
    this.#quota = quota;
    // An agent receives its directory as an absolute path.
    const runs = resolve(dataDir, "runs");
    this.path = join(runs, runId);
    this.#old = join(runs, `.old-${runId}`);
  }

  get directory(): string {
    return join(this.path, "workspace");
  }

  get home(): string {
    return join(this.path, "home");
  }

  async workspace(sandbox: Mounting): Promise<Workspace> {
    return this.workspaceOf(await readRecord(this.path), sandbox);
  }

  async workspaceOf({ repositories }: WorkspaceRecord, { hasMounts }: Mounting): Promise<Workspace> {
    const { directory, home } = this;
    const place = await workingDirectory(directory, repositories);
    const workspace = { directory, home, workingDirectory: place };
    return hasMounts ? { ...workspace, inside: insideOf(relative(directory, place)) } : workspace;
  }

  /** What programs in the sandbox write down as the run directory. Empty: paths that are the same everywhere. */
  placeFor({ hasMounts }: Mounting): string {
    return hasMounts ? "" : this.path;
  }

  /** The longest path first, because the others are its beginning. */
  shownPaths(): readonly ShownPath[] {
    const { directory, home, path } = this;
    const shown = [
      { path: directory, shown: WORKSPACE_INSIDE },
      { path: home, shown: HOME_INSIDE },
      { path, shown: RUN_SHOWN },
    ];
    // A shell prints where it is without links.
    const runs = resolve(path, "..");
    const real = existsSync(runs) ? realpathSync(runs) : runs;
    const asReal = shown.map((each) => ({ ...each, path: join(real, relative(runs, each.path)) }));
    return real === runs ? shown : [...shown, ...asReal];
  }

  /** Undefined when the run has no files here. */
  async findCheckpoints(): Promise<readonly string[] | undefined> {
    try {
      const checkpoints: unknown = JSON.parse(await readFile(join(this.path, MARKER), "utf8"));
      return Array.isArray(checkpoints) ? checkpoints.map(String) : undefined;
    } catch (error) {
      if (isMissing(error)) {
        return undefined;
      }
      throw error;
    }
  }

  async writeCheckpoints(checkpoints: readonly string[]): Promise<void> {
    const marker = join(this.path, MARKER);
    await writeFile(`${marker}.new`, JSON.stringify(checkpoints), { mode: 0o600 });
    await rename(`${marker}.new`, marker);
  }

  /**
   * Replaces the content by what `fill` puts into the empty directory. If it throws, the directory is empty. One that is
   * not complete gets no marker.
   */
  async build(
    checkpoints: readonly string[],
    fill: () => Promise<WorkspaceRecord>,
    isComplete = () => true,
  ): Promise<void> {
    await this.clear();
    try {
      const record = await fill();
      for (const folder of WRITABLE_FOLDERS) {
        await chmod(join(this.path, folder), PRIVATE);
      }
      await writeRecord(this.path, record);
      if (isComplete()) {
        await this.writeCheckpoints(checkpoints);
      }
    } catch (error) {
      await removeTree(this.path);
      throw error;
    }
  }

  /** Empty and without a marker. */
  async clear(): Promise<void> {
    // Removes what an interrupted call left.
    await removeTree(this.#old);
    // Moved first, so that a half-removed directory has no marker.
    await rename(this.path, this.#old).catch((error) => {
      if (!isMissing(error)) {
        throw error;
      }
    });
    await mkdir(this.path, { recursive: true, mode: PRIVATE });
    await this.#quota?.limit(this.path);
    for (const folder of WRITABLE_FOLDERS) {
      await mkdir(join(this.path, folder), { mode: PRIVATE });
    }
    await chmod(this.path, PRIVATE);
    await removeTree(this.#old);
  }
}

function insideOf(repository: string): WorkspacePaths {
  return {
    directory: WORKSPACE_INSIDE,
    workingDirectory: join(WORKSPACE_INSIDE, repository),
    home: HOME_INSIDE,
  };
}

/** The agent may have moved its repository. */
async function workingDirectory(
  directory: string,
  repositories: WorkspaceRecord["repositories"],
): Promise<string> {
  const [only, ...others] = repositories;
  if (only === undefined || others.length > 0) {
    return directory;
  }
  const place = join(directory, only.folder);
  const found = await lstat(place).catch(() => undefined);
  return found?.isDirectory() ? place : directory;
}
