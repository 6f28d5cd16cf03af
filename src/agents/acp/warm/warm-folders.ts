import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../../core/model/workspaces/workspace.ts";

const PRIVATE = 0o700;
const FOLDERS = ["directory", "home"] as const;
type Folders = Pick<Workspace, (typeof FOLDERS)[number]>;

/** The folders that a sandbox shows as workspace and home before there is a run. */
export class WarmFolders implements Folders {
  readonly directory: string;
  readonly home: string;
  readonly #path: string;
  readonly #removeTree: (path: string) => Promise<void>;
  readonly #moved: { readonly from: string; readonly to: string }[] = [];

  constructor(path: string, removeTree: (path: string) => Promise<void>) {
    this.#path = path;
    this.#removeTree = removeTree;
    this.directory = join(path, "workspace");
    this.home = join(path, "home");
  }

  async make(): Promise<void> {
    await mkdir(this.#path, { recursive: true, mode: PRIVATE });
    for (const folder of FOLDERS) {
      await mkdir(this[folder], { mode: PRIVATE });
    }
  }

  /** Folders that a run has are no longer here. */
  remove(): Promise<void> {
    return this.#removeTree(this.#path);
  }

  /**
   * Gives the folders to a run: the workspace gets the content of the run's workspace, and both get the paths of the
   * run's folders. The process sees them all the time, because its mounts follow the folders. It may write into them
   * meanwhile, so nothing here follows a path below them: whole entries are moved. If that fails, `takeBack` restores
   * the folders of the run.
   */
  async giveTo(run: Folders): Promise<void> {
    if ((await readdir(this.directory)).length > 0) {
      throw new Error("The agent has written into its workspace before it had a run.");
    }
    for (const name of await readdir(run.directory)) {
      await this.#move(join(run.directory, name), join(this.directory, name));
    }
    for (const folder of FOLDERS) {
      await this.#move(run[folder], join(this.#path, `empty-${folder}`));
      await this.#move(this[folder], run[folder]);
    }
  }

  /** Only once the process is gone. */
  async takeBack(): Promise<void> {
    for (const { from, to } of this.#moved.splice(0).reverse()) {
      await rename(to, from);
    }
  }

  async #move(from: string, to: string): Promise<void> {
    await rename(from, to);
    this.#moved.push({ from, to });
  }
}
