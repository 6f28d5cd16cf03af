import { rm } from "node:fs/promises";
import { GitFailure, git } from "./git-command.ts";
import { isEmptyRepository } from "./git-error.ts";
import { transportSettings } from "./transport-settings.ts";

/** Reads the fetched state of a repository. */
export interface MirrorReader {
  git(args: readonly string[], maxOutputBytes: number, input?: string): Promise<Buffer>;
}

export interface FetchOptions {
  readonly url: string;
  /** The value of the `Authorization` header. */
  readonly authorization: string | undefined;
  readonly maxPackBytes: number;
  readonly signal: AbortSignal;
}

const HEAD = "refs/errand/head";
/** Fetches one commit with its content, and nothing else. */
const FETCH = [
  "fetch",
  "--quiet",
  "--depth=1",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-recurse-submodules",
];
const READ_MS = 10_000;
const OUTPUT_BYTES = 4_096;

/** A bare repository with single commits of another repository. Nothing in it is ever checked out. */
export class Mirror implements MirrorReader {
  readonly #program: string;
  readonly #path: string;
  #isMade = false;

  constructor(program: string, path: string) {
    this.#program = program;
    this.#path = path;
  }

  /** Fetches the newest commit of the default branch; undefined when the repository is empty. */
  async fetchHead(options: FetchOptions): Promise<string | undefined> {
    await this.#make();
    try {
      await this.#fetch(`+HEAD:${HEAD}`, options);
    } catch (error) {
      if (isEmptyRepository(error)) {
        return undefined;
      }
      throw error;
    }
    const output = await this.git(["rev-parse", "--verify", `${HEAD}^{commit}`], OUTPUT_BYTES);
    return output.toString().trim();
  }

  async holds(commit: string): Promise<boolean> {
    await this.#make();
    try {
      await this.git(["cat-file", "-e", `${commit}^{commit}`], OUTPUT_BYTES);
      return true;
    } catch (error) {
      if (error instanceof GitFailure && error.kind === "failed") {
        return false;
      }
      throw error;
    }
  }

  fetchCommit(commit: string, options: FetchOptions): Promise<void> {
    return this.#fetch(commit, options);
  }

  git(args: readonly string[], maxOutputBytes: number, input?: string): Promise<Buffer> {
    const given = input === undefined ? {} : { input };
    const signal = AbortSignal.timeout(READ_MS);
    return git({ program: this.#program, args, gitDir: this.#path, maxOutputBytes, signal, ...given });
  }

  async remove(): Promise<void> {
    this.#isMade = false;
    await rm(this.#path, { recursive: true, force: true });
  }

  async #fetch(refspec: string, options: FetchOptions): Promise<void> {
    const { maxPackBytes: maxFileBytes, signal, url } = options;
    const args = [...FETCH, "--", url, refspec];
    const limits = { maxOutputBytes: OUTPUT_BYTES, maxFileBytes, signal };
    const config = transportSettings(options);
    await git({ program: this.#program, args, gitDir: this.#path, config, ...limits });
  }

  /** Can be repeated. */
  async #make(): Promise<void> {
    if (this.#isMade) {
      return;
    }
    await this.git(["init", "--quiet", "--bare", "--template="], OUTPUT_BYTES);
    this.#isMade = true;
  }
}
