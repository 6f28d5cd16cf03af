import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import { KeyedSemaphore } from "../core/basics/keyed-semaphore.ts";
import {
  isCommitId,
  isRefName,
  type RepositoryName,
  type TeamRepository,
} from "../core/model/repositories/repository-name.ts";
import type { Committer } from "../core/ports/repository-access.ts";
import { FetchProgress } from "./fetch-progress.ts";
import { GitFailure } from "./git-command.ts";
import { cloneError, unclonable } from "./git-error.ts";
import type { HistoryMirror } from "./history-mirror.ts";
import { HistoryMirrorCache } from "./history-mirror-cache.ts";
import { hasLargeFiles } from "./large-files.ts";
import { readTemplate } from "./pull-request-template.ts";
import { reachRepository } from "./reach-repository.ts";
import {
  EMPTY_TREE,
  emptyTargetOf,
  isWithoutRefs,
  listRefs,
  type RefTarget,
  targetOf,
} from "./remote-refs.ts";
import { type MirrorOptions, mirrorKeyOf } from "./repository-mirrors.ts";
import type { SparseCheckout } from "./sparse-checkout.ts";
import type { TeamCommitter } from "./team-authorizer.ts";
import type { Transport } from "./transport-settings.ts";
import { makeEmptyClone, makeWorkingClone } from "./working-clone.ts";

export interface CloneOptions extends Omit<MirrorOptions, "limits" | "clock"> {
  /** Who makes the commits. Default: an author that no host knows. */
  readonly committerOf?: TeamCommitter;
  readonly limits?: Partial<CloneLimits>;
}

export interface CloneLimits {
  /** The largest history. A repository with more is cloned without history. */
  readonly maxPackBytes: number;
  /** The longest time of one connection to the host, without `silenceMs`. */
  readonly fetchMs: number;
  /** How long the host may send nothing while it prepares a repository. */
  readonly silenceMs: number;
  /** How often the progress of a fetch is reported. */
  readonly progressMs: number;
  readonly maxMirrors: number;
}

/** A commit that its team may read, with everything needed to clone it again in the same way. */
export interface FoundCommit extends RepositoryName, RefTarget {
  readonly defaultBranch?: string | undefined;
  readonly committer?: Committer | undefined;
  /** As in `PlannedRepository`. */
  readonly isUntrusted?: true | undefined;
  /** As in `WorkingClone`. */
  readonly sparse?: readonly string[] | undefined;
}

export interface CloneRequest {
  readonly repository: TeamRepository;
  readonly found: FoundCommit;
  /** Created by the clone. */
  readonly directory: string;
  /** Called from time to time while the host sends the repository. */
  readonly onProgress?: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Clone {
  /** It lacks its history. */
  readonly isShallow: boolean;
  /** What is checked out. Undefined: everything was wanted. */
  readonly sparse?: SparseCheckout;
  /** The repository's template of pull requests. */
  readonly template?: string;
  /** It has pointers instead of large files (Git LFS). */
  readonly hasPointers: boolean;
}

const KINDS = ["full", "shallow"] as const;
type Kind = (typeof KINDS)[number];

const DEFAULT_LIMITS: CloneLimits = {
  maxPackBytes: 2 * 2 ** 30,
  fetchMs: 600_000,
  silenceMs: 300_000,
  progressMs: 10_000,
  maxMirrors: 30,
};
const FETCHES_PER_TEAM = 4;
const GONE = /couldn't find remote ref|no such remote ref/i;

/**
 * Clones repositories for workspaces from mirrors, into which only new commits are fetched. Teams share no mirror.
 * Each clone asks the host first, so that a team gets only what the host still shows it. All failures are
 * `environment_setup_failed`; they are retryable when the host was unreachable.
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

  /** The current commit of a branch, tag or commit; undefined: the newest commit of the default branch. */
  async find(repository: TeamRepository, ref: string | undefined, signal: AbortSignal): Promise<FoundCommit> {
    const name = nameOf(repository);
    if (ref !== undefined && !isCommitId(ref) && !isRefName(ref)) {
      throw unclonable(name, `"${ref}" is not the name of a branch or tag`);
    }
    const { program = "git" } = this.#options;
    const { defaultBranch, isEmpty, target } = await this.#talk(
      repository,
      signal,
      async (transport, limited) => {
        const call = { program, signal: limited };
        const refs = await listRefs(ref, transport, call);
        const isEmpty = refs.commits.size === 0 && (await isWithoutRefs(transport, call));
        const target = isEmpty ? emptyTargetOf(ref) : targetOf(refs, ref);
        return { defaultBranch: refs.defaultBranch, isEmpty, target };
      },
    ).catch(async (error) => {
      throw await this.#refused(repository, error);
    });
    if (target === undefined) {
      throw unclonable(name, withoutTarget(isEmpty, ref));
    }
    const committer = await this.#committerOf(repository);
    const known = {
      ...defined({
        defaultBranch: defaultBranch ? defaultBranch : undefined,
        committer,
      }),
    };
    return { owner: repository.owner, name: repository.name, ...target, ...known };
  }

  /** The work can be done without. */
  async #committerOf(repository: TeamRepository): Promise<Committer | undefined> {
    const { committerOf, log } = this.#options;
    try {
      return await committerOf?.(repository, this.urlOf(repository));
    } catch (error) {
      log.warn("repository.committer.unknown", { repository: nameOf(repository), error });
      return undefined;
    }
  }

  async clone(request: CloneRequest): Promise<Clone> {
    const { isShallow, sparse } = await this.#cloneOnce(request);
    const { program = "git" } = this.#options;
    const { directory, found, signal } = request;
    const look = { commit: found.commit, program, signal: this.#limited(signal) };
    const template = await readTemplate(directory, look);
    return { isShallow, hasPointers: await hasLargeFiles(directory, look), ...defined({ sparse, template }) };
  }

  async #cloneOnce(
    request: CloneRequest,
  ): Promise<Pick<Clone, "isShallow"> & { sparse?: SparseCheckout | undefined }> {
    const { directory, found, repository, signal } = request;
    if (found.commit === EMPTY_TREE) {
      const { program = "git" } = this.#options;
      const limited = this.#limited(signal);
      await makeEmptyClone({ ...found, directory, url: this.urlOf(repository), program, signal: limited });
      return { isShallow: false };
    }
    try {
      return { isShallow: false, sparse: await this.#cloneFrom("full", request) };
    } catch (error) {
      if (!isTooLarge(error)) {
        throw error;
      }
      await rm(directory, { recursive: true, force: true });
      return { isShallow: true, sparse: await this.#cloneFrom("shallow", request) };
    }
  }

  urlOf({ name, owner }: RepositoryName): string {
    return `${this.#options.baseUrl}/${owner}/${name}.git`;
  }

  /** Aborts running fetches. */
  close(): void {
    this.#closing.abort();
  }

  async #cloneFrom(kind: Kind, request: CloneRequest): Promise<SparseCheckout | undefined> {
    const { directory, repository } = request;
    const attempt = async (mirror: HistoryMirror) =>
      this.#make(mirror, await this.#bring(mirror, kind, request), request);
    const work = async (mirror: HistoryMirror) => {
      try {
        return await attempt(mirror);
      } catch (error) {
        if (!mayBeMirrors(error, nameOf(repository))) {
          throw error;
        }
        this.#options.log.warn("repository.mirror.broken", { repository: nameOf(repository), error });
        await Promise.all([mirror.remove(), rm(directory, { recursive: true, force: true })]);
        return attempt(mirror);
      }
    };
    return this.#cache.use(keyOf(repository, kind), work).catch(async (error) => {
      throw error instanceof NotCheckedOut
        ? uncheckable(repository, error)
        : await this.#refused(repository, error);
    });
  }

  /** Makes sure that the mirror has the commit and marks it as requested. Returns what else the mirror has. */
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
      if (!(error instanceof GitFailure && GONE.test(error.message))) {
        throw error;
      }
      await this.#fetch(mirror, kind, request, undefined);
      const { defaultBranch: _, ...rest } = found;
      return branch === defaultBranch ? found : rest;
    }
  }

  async #fetch(
    mirror: HistoryMirror,
    kind: Kind,
    { found: { commit }, onProgress = () => undefined, repository, signal }: CloneRequest,
    branch: string | undefined,
  ): Promise<void> {
    const wanted = { commit, isShallow: kind === "shallow", ...defined({ branch }) };
    const { maxPackBytes, progressMs, silenceMs } = this.#limits;
    await this.#talk(repository, signal, async (transport, limited) => {
      const progress = new FetchProgress(onProgress, progressMs);
      try {
        const patience = { silenceMs, onProgress: progress.note };
        await mirror.fetch({ ...transport, ...wanted, ...patience, maxPackBytes, signal: limited });
      } finally {
        progress.end();
      }
    });
  }

  async #make(
    mirror: HistoryMirror,
    found: FoundCommit,
    request: CloneRequest,
  ): Promise<SparseCheckout | undefined> {
    const { branch, commit, committer, defaultBranch, isUntrusted, sparse } = found;
    const { program = "git" } = this.#options;
    const target = {
      commit,
      committer,
      defaultBranch,
      isUntrusted,
      sparse,
      ...defined({ branch }),
    };
    const paths = {
      directory: request.directory,
      mirror: mirror.path,
      url: this.urlOf(request.repository),
    };
    try {
      return await makeWorkingClone({ ...target, ...paths, program, signal: this.#limited(request.signal) });
    } catch (error) {
      if (error instanceof GitFailure && error.kind === "failed") {
        throw new NotCheckedOut(error.message);
      }
      throw error;
    }
  }

  async #talk<T>(
    repository: TeamRepository,
    signal: AbortSignal,
    talk: (transport: Transport, limited: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#talks.pass(repository.teamId, async () => {
      const limited = this.#limited(signal);
      const authorize = (url: string) => this.#options.authorize(repository, url);
      return reachRepository(this.urlOf(repository), { authorize, signal: limited }, (transport) =>
        talk(transport, limited),
      );
    });
  }

  #limited(signal: AbortSignal): AbortSignal {
    const { fetchMs, silenceMs } = this.#limits;
    return AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(fetchMs + silenceMs)]);
  }

  /**
   * If the team may no longer read the repository, its mirror is deleted. An unreachable host is no reason for that.
   */
  async #refused(repository: TeamRepository, error: unknown): Promise<unknown> {
    const cause = cloneError(nameOf(repository), error);
    if (cause instanceof AppError && !cause.retryable && !isTooLarge(cause)) {
      for (const kind of KINDS) {
        await this.#cache.remove(keyOf(repository, kind));
      }
    }
    return cause;
  }
}

/** The mirror is up to date, but no clone could be made from it. */
class NotCheckedOut extends GitFailure {
  constructor(message: string) {
    super("failed", message);
  }
}

/** Whether the mirror may be the cause: the host has just confirmed that it has the commit. */
function mayBeMirrors(error: unknown, repository: string): boolean {
  if (!(error instanceof GitFailure) || error.kind !== "failed") {
    return false;
  }
  const cause = cloneError(repository, error);
  return error instanceof NotCheckedOut || (cause instanceof AppError && cause.retryable);
}

function keyOf(repository: TeamRepository, kind: Kind): string {
  return `${mirrorKeyOf(repository)}-${kind}`;
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
  if (isEmpty) {
    return "it has no commit yet";
  }
  return ref === undefined ? "it has no default branch" : `it has no branch, tag or commit "${ref}"`;
}
