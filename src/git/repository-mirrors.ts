import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../core/basics/clock.ts";
import { withTimeout } from "../core/basics/clock.ts";
import { AppError } from "../core/basics/errors.ts";
import { KeyedSemaphore } from "../core/basics/keyed-semaphore.ts";
import type { Log } from "../core/basics/log.ts";
import type { TeamRepository } from "../core/model/repositories/repository-name.ts";
import { GitFailure } from "./git-command.ts";
import { fetchError } from "./git-error.ts";
import type { FetchOptions, MirrorReader } from "./mirror.ts";
import { type Held, MirrorCache, type Moment } from "./mirror-cache.ts";
import { reachRepository } from "./reach-repository.ts";

/** The number of concurrent fetches for one team. */
const FETCHES_PER_TEAM = 4;
const RETRY_AFTER_MS = 5_000;

/** A repository at its newest commit; an empty repository has none. */
interface MirrorHead extends MirrorReader {
  readonly commit: string | undefined;
}

interface MirrorRequest {
  readonly repository: TeamRepository;
  readonly moment: Moment;
  /** Whether a caller still waits. */
  isWanted: boolean;
}

/**
 * Provides single commits of repositories for reading. Teams share no mirror, because their permissions differ. Fails
 * as `SkillLibrary` says.
 */
export class RepositoryMirrors {
  readonly #options: MirrorOptions;
  readonly #limits: MirrorLimits;
  readonly #cache: MirrorCache;
  readonly #locks = new KeyedSemaphore(1);
  readonly #fetches = new KeyedSemaphore(FETCHES_PER_TEAM);
  readonly #closing = new AbortController();
  #order = 0;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { dataDir, log, program = "git" } = options;
    const { maxMirrors } = this.#limits;
    this.#cache = new MirrorCache({
      root: join(dataDir, "mirrors"),
      program,
      maxMirrors,
      locks: this.#locks,
      log,
    });
  }

  /** The recent or the current state of the repository. */
  readHead<T>(
    repository: TeamRepository,
    freshness: "recent" | "now",
    read: (head: MirrorHead) => Promise<T>,
  ): Promise<T> {
    return this.#inTime(repository, async (held, request) => {
      if (!this.#isFresh(held, request, freshness)) {
        await this.#fetchHead(held, request);
      }
      const { commit, mirror } = held;
      return read({ commit, git: (args, maxBytes, input) => mirror.git(args, maxBytes, input) });
    });
  }

  readCommit<T>(
    repository: TeamRepository,
    commit: string,
    read: (mirror: MirrorReader) => Promise<T>,
  ): Promise<T> {
    return this.#inTime(repository, async ({ mirror }, request) => {
      if (!(await mirror.holds(commit))) {
        await this.#fetching(request, (options) => mirror.fetchCommit(commit, options));
      }
      return read(mirror);
    });
  }

  /** Aborts running fetches. */
  close(): void {
    this.#closing.abort();
  }

  #isFresh({ fetched }: Held, { moment }: MirrorRequest, freshness: "recent" | "now"): boolean {
    if (fetched === undefined) {
      return false;
    }
    if (fetched.order > moment.order) {
      return true;
    }
    return freshness === "recent" && moment.at.getTime() - fetched.at.getTime() < this.#limits.maxAgeMs;
  }

  async #fetchHead(held: Held, request: MirrorRequest): Promise<void> {
    // Everything fetched from now on is at least as new as this moment.
    const moment = this.#moment();
    held.commit = await this.#fetching(request, (options) => held.mirror.fetchHead(options));
    held.fetched = moment;
  }

  #moment(): Moment {
    this.#order += 1;
    return { at: this.#options.clock.now(), order: this.#order };
  }

  #fetching<T>(request: MirrorRequest, fetch: (options: FetchOptions) => Promise<T>): Promise<T> {
    const { baseUrl, authorize } = this.#options;
    const { fetchMs, maxPackBytes } = this.#limits;
    const { repository } = request;
    return this.#fetches.pass(repository.teamId, async () => {
      if (!request.isWanted) {
        throw overdue(repository);
      }
      const url = `${baseUrl}/${repository.owner}/${repository.name}.git`;
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(fetchMs)]);
      const options = { authorize: (at: string) => authorize(repository, at), signal };
      return reachRepository(url, options, (transport) => fetch({ ...transport, maxPackBytes, signal }));
    });
  }

  async #inTime<T>(
    repository: TeamRepository,
    work: (held: Held, request: MirrorRequest) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const request: MirrorRequest = { repository, moment: this.#moment(), isWanted: true };
    const onTimeout = (): never => {
      request.isWanted = false;
      throw overdue(repository);
    };
    return withTimeout(this.#locked(request, work), this.#limits.waitMs, { clock, onTimeout });
  }

  #locked<T>(request: MirrorRequest, work: (held: Held, request: MirrorRequest) => Promise<T>): Promise<T> {
    const key = mirrorKeyOf(request.repository);
    return this.#locks.pass(key, async () => {
      if (!request.isWanted) {
        throw overdue(request.repository);
      }
      const held = await this.#cache.take(key);
      try {
        return await work(held, request);
      } catch (error) {
        if (!(error instanceof GitFailure)) {
          throw error;
        }
        // It may contain remains of an aborted fetch, or data that the team may no longer read.
        await this.#cache.drop(key, held);
        throw this.#errorOf(request, error);
      }
    });
  }

  #errorOf({ repository }: MirrorRequest, failure: GitFailure): AppError {
    const name = `${repository.owner}/${repository.name}`;
    const error = fetchError(name, failure);
    // A wrong name is the caller's mistake.
    if (error.code === "resource_not_found") {
      return error;
    }
    this.#options.log.warn("repository.read.failed", { repository: name, error: failure.message });
    return error;
  }
}

function overdue({ owner, name }: TeamRepository): AppError {
  return new AppError("resource_unavailable", `The repository ${owner}/${name} was not read in time.`, {
    retryAfterMs: RETRY_AFTER_MS,
    remedy: "Send the request again: what was begun goes on meanwhile.",
  });
}

export interface MirrorOptions {
  readonly dataDir: string;
  /** Repositories are at `<baseUrl>/<owner>/<name>.git`. */
  readonly baseUrl: string;
  /** The value of the `Authorization` header with which the team may read the repository; undefined: none. */
  readonly authorize: (repository: TeamRepository, url: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly log: Log;
  /** The git program, by name or path. */
  readonly program?: string;
  readonly limits?: Partial<MirrorLimits>;
}

export interface MirrorLimits {
  /** The maximum age of a cached state, unless the caller wants the current one. */
  readonly maxAgeMs: number;
  /** How long a caller waits. The fetch continues after that, so that a later call finds it done. */
  readonly waitMs: number;
  readonly fetchMs: number;
  readonly maxPackBytes: number;
  readonly maxMirrors: number;
}

const DEFAULT_LIMITS: MirrorLimits = {
  maxAgeMs: 60_000,
  waitMs: 20_000,
  fetchMs: 120_000,
  maxPackBytes: 256 * 2 ** 20,
  maxMirrors: 100,
};

/** Names the mirror of a repository. Runs with another access have another mirror, because they may read less. */
export function mirrorKeyOf({ teamId, owner, name, withoutTeamToken }: TeamRepository): string {
  const access = withoutTeamToken === true ? `${teamId}/without-token` : teamId;
  return createHash("sha256").update(`${access}/${owner}/${name}`).digest("hex").slice(0, 32);
}
