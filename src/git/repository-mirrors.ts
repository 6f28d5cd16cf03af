import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { TeamRepository } from "../core/repositories/repository-name.ts";
import { withTimeout } from "../core/with-timeout.ts";
import { GitFailure } from "./git-command.ts";
import { fetchError } from "./git-error.ts";
import { KeyedSemaphore } from "./keyed-semaphore.ts";
import type { FetchOptions, MirrorReader } from "./mirror.ts";
import { type Held, MirrorCache, type Moment } from "./mirror-cache.ts";
import { DEFAULT_LIMITS, type MirrorLimits, type MirrorOptions, mirrorKeyOf } from "./mirror-options.ts";

/** The number of concurrent fetches for one team. */
const FETCHES_PER_TEAM = 4;
const RETRY_AFTER_MS = 5_000;

/** A repository at its newest commit; an empty repository has none. */
interface MirrorHead extends MirrorReader {
  readonly commit: string | undefined;
}

interface Asked {
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
    return this.#inTime(repository, async (held, asked) => {
      if (!this.#isFresh(held, asked, freshness)) {
        await this.#fetchHead(held, asked);
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
    return this.#inTime(repository, async ({ mirror }, asked) => {
      if (!(await mirror.holds(commit))) {
        await this.#fetching(asked, (options) => mirror.fetchCommit(commit, options));
      }
      return read(mirror);
    });
  }

  /** Aborts running fetches. */
  close(): void {
    this.#closing.abort();
  }

  #isFresh({ fetched }: Held, { moment }: Asked, freshness: "recent" | "now"): boolean {
    if (fetched === undefined) {
      return false;
    }
    if (fetched.order > moment.order) {
      return true;
    }
    return freshness === "recent" && moment.at.getTime() - fetched.at.getTime() < this.#limits.maxAgeMs;
  }

  async #fetchHead(held: Held, asked: Asked): Promise<void> {
    // Everything fetched from now on is at least as new as this moment.
    const moment = this.#moment();
    held.commit = await this.#fetching(asked, (options) => held.mirror.fetchHead(options));
    held.fetched = moment;
  }

  #moment(): Moment {
    this.#order += 1;
    return { at: this.#options.clock.now(), order: this.#order };
  }

  #fetching<T>(asked: Asked, fetch: (options: FetchOptions) => Promise<T>): Promise<T> {
    const { baseUrl, authorize } = this.#options;
    const { fetchMs, maxPackBytes } = this.#limits;
    const { repository } = asked;
    return this.#fetches.pass(repository.teamId, async () => {
      if (!asked.isWanted) {
        throw overdue(repository);
      }
      const url = `${baseUrl}/${repository.owner}/${repository.name}.git`;
      const authorization = await authorize(repository, url);
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(fetchMs)]);
      return fetch({ url, authorization, maxPackBytes, signal });
    });
  }

  async #inTime<T>(repository: TeamRepository, work: (held: Held, asked: Asked) => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const asked: Asked = { repository, moment: this.#moment(), isWanted: true };
    const onTimeout = (): never => {
      asked.isWanted = false;
      throw overdue(repository);
    };
    return withTimeout(this.#locked(asked, work), this.#limits.waitMs, { clock, onTimeout });
  }

  #locked<T>(asked: Asked, work: (held: Held, asked: Asked) => Promise<T>): Promise<T> {
    const key = mirrorKeyOf(asked.repository);
    return this.#locks.pass(key, async () => {
      if (!asked.isWanted) {
        throw overdue(asked.repository);
      }
      const held = await this.#cache.take(key);
      try {
        return await work(held, asked);
      } catch (error) {
        if (!(error instanceof GitFailure)) {
          throw error;
        }
        // It may contain remains of an aborted fetch, or data that the team may no longer read.
        await this.#cache.drop(key, held);
        throw this.#told(asked, error);
      }
    });
  }

  #told({ repository }: Asked, failure: GitFailure): AppError {
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
