import { mkdir, readdir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { GitFailure, git } from "./git-command.ts";
import { type FetchPatience, type Transport, transportSettings } from "./transport-settings.ts";

export interface HistoryFetch extends Transport, FetchPatience {
  readonly commit: string;
  /** Fetched as well, if it exists. */
  readonly branch?: string;
  readonly isShallow: boolean;
  readonly maxPackBytes: number;
  readonly signal: AbortSignal;
}

/** A ref of the mirror itself: the commit that was requested last. */
export const WANTED = "refs/errand/wanted";

const FETCH = ["fetch", "--progress", "--no-write-fetch-head", "--no-recurse-submodules"];
const OUTPUT_BYTES = 4_096;
const LOOK_MS = 10_000;
const LEFT_BY_KILLED = /^tmp_|\.lock$/;

/** A bare repository with the history of another repository's branches, as far as it was requested. */
export class HistoryMirror {
  readonly path: string;
  readonly #program: string;
  #isMade = false;

  constructor(program: string, path: string) {
    this.#program = program;
    this.path = path;
  }

  /** Whether the mirror has the commit with its whole history, and the branch points to it. */
  async isAt(commit: string, branch: string | undefined): Promise<boolean> {
    if (branch === undefined) {
      return false;
    }
    await this.#make();
    try {
      const args = ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`];
      const output = await this.#git(args, this.#look());
      return output.toString().trim() === commit;
    } catch (error) {
      if (error instanceof GitFailure && error.kind === "failed") {
        return false;
      }
      throw error;
    }
  }

  async fetch({
    branch,
    commit,
    isShallow,
    maxPackBytes,
    onProgress,
    signal,
    silenceMs,
    ...transport
  }: HistoryFetch): Promise<void> {
    await this.#make();
    const along = branch === undefined ? [] : [`+refs/heads/${branch}:refs/heads/${branch}`];
    const depth = isShallow ? ["--depth=1"] : [];
    const args = [...FETCH, ...depth, "--", transport.url, `+${commit}:${WANTED}`, ...along];
    const config = {
      ...transportSettings(transport),
      "http.lowSpeedTime": String(Math.ceil(silenceMs / 1_000)),
    };
    const limits = { maxOutputBytes: OUTPUT_BYTES, maxFileBytes: maxPackBytes };
    await this.#git(args, { ...limits, config, signal, onProgress });
  }

  async want(commit: string): Promise<void> {
    await this.#git(["update-ref", WANTED, commit], this.#look());
  }

  /** Records the use, so that unused mirrors are known by their age. */
  async touch(): Promise<void> {
    const now = new Date();
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await utimes(this.path, now, now);
  }

  async remove(): Promise<void> {
    this.#isMade = false;
    await rm(this.path, { recursive: true, force: true });
  }

  #git(args: readonly string[], call: Omit<Parameters<typeof git>[0], "program" | "gitDir" | "args">) {
    return git({ program: this.#program, gitDir: this.path, args, ...call });
  }

  #look() {
    return { maxOutputBytes: OUTPUT_BYTES, signal: AbortSignal.timeout(LOOK_MS) };
  }

  /** Can be repeated. Git writes completely or not at all, unless it was killed. */
  async #make(): Promise<void> {
    if (this.#isMade) {
      return;
    }
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    for (const entry of await readdir(this.path, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && LEFT_BY_KILLED.test(entry.name)) {
        await rm(join(entry.parentPath, entry.name));
      }
    }
    await this.#git(["init", "--quiet", "--bare", "--template="], this.#look());
    this.#isMade = true;
  }
}
