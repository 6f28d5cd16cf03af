import { chmod, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { RunId } from "../core/ids.ts";
import type { Workspace } from "../core/ports/workspace.ts";

export const MEMBERS = ["workspace", "home"] as const;

const MARKER = "checkpoints.json";
const PRIVATE = 0o700;

/**
 * The files of one run on this worker's disk, at `<data directory>/runs/<run id>`. It is there whole or not at all:
 * it is built beside its place and renamed into it. Its marker lists the checkpoints that its content continues.
 */
export class RunDirectory {
  readonly path: string;
  readonly #runs: string;
  readonly #runId: RunId;

  constructor(dataDir: string, runId: RunId) {
    // An agent is told its directory by an absolute path.
    this.#runs = resolve(dataDir, "runs");
    this.#runId = runId;
    this.path = join(this.#runs, runId);
  }

  workspace(): Workspace {
    return { directory: join(this.path, "workspace"), home: join(this.path, "home") };
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
    await writeMarker(this.path, checkpoints);
  }

  /** Replaces whatever is there by what `fill` puts into an empty directory. */
  async replace(checkpoints: readonly string[], fill: (directory: string) => Promise<void>): Promise<void> {
    await this.#removeRemains();
    const fresh = join(this.#runs, `.new-${this.#runId}`);
    await mkdir(fresh, { recursive: true, mode: PRIVATE });
    await fill(fresh);
    for (const member of MEMBERS) {
      await mkdir(join(fresh, member), { recursive: true });
      await chmod(join(fresh, member), PRIVATE);
    }
    await writeMarker(fresh, checkpoints);
    await this.#moveAside();
    await rename(fresh, this.path);
    await this.#removeRemains();
  }

  async #moveAside(): Promise<void> {
    try {
      await rename(this.path, join(this.#runs, `.old-${this.#runId}`));
    } catch (error) {
      if (!isMissing(error)) {
        throw error;
      }
    }
  }

  /** What an interrupted replacement left. */
  async #removeRemains(): Promise<void> {
    await removeTree(join(this.#runs, `.new-${this.#runId}`));
    await removeTree(join(this.#runs, `.old-${this.#runId}`));
  }
}

async function writeMarker(directory: string, checkpoints: readonly string[]): Promise<void> {
  const marker = join(directory, MARKER);
  await writeFile(`${marker}.new`, JSON.stringify(checkpoints), { mode: 0o600 });
  await rename(`${marker}.new`, marker);
}

/** Also when directories in it may not be written to, as in Go's module cache. */
async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function makeWritable(directory: string): Promise<void> {
  if (!(await lstat(directory)).isDirectory()) {
    return;
  }
  await chmod(directory, PRIVATE);
  for (const entry of await readdir(directory)) {
    await makeWritable(join(directory, entry));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
