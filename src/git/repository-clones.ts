import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { RepositoryName, TeamRepository } from "../core/repositories/repository-name.ts";
import { cloneError, unclonable } from "./clone-error.ts";
import { GitFailure } from "./git-command.ts";
import type { HistoryMirror } from "./history-mirror.ts";
import { HistoryMirrorCache } from "./history-mirror-cache.ts";
import { KeyedSemaphore } from "./keyed-semaphore.ts";
import type { MirrorOptions } from "./mirror-options.ts";
import { isCommitId, isRefName } from "./ref-name.ts";
import { listRefs, type RefTarget, targetOf } from "./remote-refs.ts";
import type { Transport } from "./transport-settings.ts";
import { makeWorkingClone } from "./working-clone.ts";

export interface CloneOptions extends Omit<MirrorOptions, "limits" | "clock"> {
  readonly limits?: Partial<CloneLimits>;
}

export interface CloneLimits {
  /** Of a history; one that has more is cloned without it. */
  readonly maxPackBytes: number;
  /** How long one talk with the host may take. */
  readonly fetchMs: number;
  readonly maxMirrors: number;
}

/** A commit of a repository that its team may read, and all that is needed to clone it in the same way again. */
export interface FoundCommit extends RepositoryName, RefTarget {
  readonly defaultBranch?: string | undefined;
}

export interface CloneRequest {
  readonly repository: TeamRepository;
  readonly found: FoundCommit;
  /** Is made. */
  readonly directory: string;
  readonly signal: AbortSignal;
}

const KINDS = ["full", "shallow"] as const;
type Kind = (typeof KINDS)[number];

const DEFAULT_LIMITS: CloneLimits = { maxPackBytes: 2 * 2 ** 30, fetchMs: 600_000, maxMirrors: 30 };
const FETCHES_PER_TEAM = 4;
const GONE = /couldn't find remote ref|no such remote ref/i;

/**
 * Clones of repositories to work in, each made from a mirror of ours that only what is new is fetched into. Teams share no
 * mirror. Each clone asks the repository's host first: what it no longer shows the team is not taken from the mirror. All
 * fails with `environment_setup_failed`, retryable where the host could not be reached.
 */
export class RepositoryClones {
  readonly #options: CloneOptions;
  readonly #limits: CloneLimits;
  readonly #cache: HistoryMirrorCache;
  readonly #talks = new KeyedSemaphore(FETCHES_PER_TEAM);
  readonly #closing = new AbortController();

  constructor(options: CloneOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { dataDir, log, program = "git" } = options;
    const root = join(dataDir, "histories");
    this.#cache = new HistoryMirrorCache({ root, program, log, maxMirrors: this.#limits.maxMirrors });
  }

  /** The commit that a branch, tag or commit means just now; undefined: the newest of the default branch. */
  async find(repository: TeamRepository, ref: string | undefined, signal: AbortSignal): Promise<FoundCommit> {
    const name = nameOf(repository);
    if (ref !== undefined && !isCommitId(ref) && !isRefName(ref)) {
      throw unclonable(name, `"${ref}" is no name of a branch or tag`);
    }
    const { program = "git" } = this.#options;
    const { commits, defaultBranch } = await this.#talk(repository, signal, (transport, limited) =>
      listRefs(ref, transport, { program, signal: limited }),
    ).catch(async (error) => {
      throw await this.#refused(repository, error);
    });
    const target = targetOf({ commits, defaultBranch }, ref);
    if (target === undefined) throw unclonable(name, withoutTarget(commits.size === 0, ref));
    const known = defaultBranch === undefined ? {} : { defaultBranch };
    return { owner: repository.owner, name: repository.name, ...target, ...known };
  }

  /** Whether the clone has its whole history. */
  async clone(request: CloneRequest): Promise<{ readonly isShallow: boolean }> {
    try {
      await this.#cloneFrom("full", request);
      return { isShallow: false };
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      await rm(request.directory, { recursive: true, force: true });
      await this.#cloneFrom("shallow", request);
      return { isShallow: true };
    }
  }

  urlOf({ name, owner }: RepositoryName): string {
    return `${this.#options.baseUrl}/${owner}/${name}.git`;
  }

  /** Ends what is being fetched. */
  close(): void {
    this.#closing.abort();
  }

  async #cloneFrom(kind: Kind, request: CloneRequest): Promise<void> {
    const { directory, repository } = request;
    const attempt = async (mirror: HistoryMirror) =>
      this.#make(mirror, await this.#bring(mirror, kind, request), request);
    const work = async (mirror: HistoryMirror) => {
      try {
        await attempt(mirror);
      } catch (error) {
        if (!mayBeMirrors(error, nameOf(repository))) throw error;
        this.#options.log.warn("repository.mirror.broken", { repository: nameOf(repository), error });
        await Promise.all([mirror.remove(), rm(directory, { recursive: true, force: true })]);
        await attempt(mirror);
      }
    };
    await this.#cache.use(keyOf(repository, kind), work).catch(async (error) => {
      throw error instanceof NotCheckedOut
        ? uncheckable(repository, error)
        : await this.#refused(repository, error);
    });
  }

  /** After it the mirror holds the commit, and says that it is the one wanted. Answers what else is there. */
  async #bring(mirror: HistoryMirror, kind: Kind, request: CloneRequest): Promise<FoundCommit> {
    const { found } = request;
    const { branch, commit, defaultBranch } = found;
    if (branch === defaultBranch && (await mirror.isAt(commit, branch))) {
      await mirror.want(commit);
      return found;
    }
    try {
      await this.#fetch(mirror, kind, request, defaultBranch);
      return found;
    } catch (error) {
      if (!(error instanceof GitFailure && GONE.test(error.message))) throw error;
      await this.#fetch(mirror, kind, request, undefined);
      const { defaultBranch: _, ...rest } = found;
      return branch === defaultBranch ? found : rest;
    }
  }

  async #fetch(
    mirror: HistoryMirror,
    kind: Kind,
    { found: { commit }, repository, signal }: CloneRequest,
    branch: string | undefined,
  ): Promise<void> {
    const wanted = { commit, isShallow: kind === "shallow", ...(branch === undefined ? {} : { branch }) };
    const { maxPackBytes } = this.#limits;
    await this.#talk(repository, signal, (transport, limited) =>
      mirror.fetch({ ...transport, ...wanted, maxPackBytes, signal: limited }),
    );
  }

  async #make(mirror: HistoryMirror, found: FoundCommit, request: CloneRequest): Promise<void> {
    const { branch, commit, defaultBranch } = found;
    const { program = "git" } = this.#options;
    const target = { commit, defaultBranch, ...(branch === undefined ? {} : { branch }) };
    const places = {
      directory: request.directory,
      mirror: mirror.path,
      url: this.urlOf(request.repository),
    };
    try {
      await makeWorkingClone({ ...target, ...places, program, signal: this.#limited(request.signal) });
    } catch (error) {
      if (error instanceof GitFailure && error.kind === "failed") throw new NotCheckedOut(error.message);
      throw error;
    }
  }

  async #talk<T>(
    repository: TeamRepository,
    signal: AbortSignal,
    talk: (transport: Transport, limited: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#talks.pass(repository.teamId, async () => {
      const url = this.urlOf(repository);
      const authorization = await this.#options.authorize(repository, url);
      return talk({ url, authorization }, this.#limited(signal));
    });
  }

  #limited(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(this.#limits.fetchMs)]);
  }

  /** What may no longer be read is not kept either. A host that is only away says nothing against it. */
  async #refused(repository: TeamRepository, error: unknown): Promise<unknown> {
    const told = cloneError(nameOf(repository), error);
    if (told instanceof AppError && !told.retryable && !isTooLarge(told)) {
      for (const kind of KINDS) await this.#cache.remove(keyOf(repository, kind));
    }
    return told;
  }
}

/** The mirror could be brought up to date, and still no clone could be made of it. */
class NotCheckedOut extends GitFailure {
  constructor(message: string) {
    super("failed", message);
  }
}

/** What nobody else is known to be to blame for: the host has just said that it has the commit. */
function mayBeMirrors(error: unknown, repository: string): boolean {
  if (!(error instanceof GitFailure) || error.kind !== "failed") return false;
  const told = cloneError(repository, error);
  return error instanceof NotCheckedOut || (told instanceof AppError && told.retryable);
}

function keyOf({ teamId, owner, name }: TeamRepository, kind: Kind): string {
  return `${createHash("sha256").update(`${teamId}/${owner}/${name}`).digest("hex").slice(0, 32)}-${kind}`;
}

function nameOf({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof GitFailure && error.cause.kind === "too-large";
}

function uncheckable(repository: RepositoryName, error: NotCheckedOut): AppError {
  const message = `The files of ${nameOf(repository)} cannot be checked out: ${error.message}`;
  return new AppError("environment_setup_failed", message, { cause: error, retryable: false });
}

function withoutTarget(isEmpty: boolean, ref: string | undefined): string {
  if (isEmpty) return "it has no commit yet";
  return ref === undefined ? "it has no default branch" : `it has no branch, tag or commit "${ref}"`;
}
