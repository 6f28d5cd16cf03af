import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import { isAllowedName } from "../../core/model/repositories/repository-name.ts";
import type { Committer, RepositoryAccess } from "../../core/ports/repository-access.ts";
import { type GithubClient, installationAnswer } from "./client.ts";
import { type GithubConfig, webUrlOf } from "./config.ts";
import { MovedError } from "./errors.ts";
import type { BotIdentity } from "./identity.ts";
import type { Repository } from "./routes.ts";

const nameAnswer = z.object({
  name: z.string(),
  owner: z.object({ login: z.string() }),
  default_branch: z.string().optional(),
});

const NAME_LIFE_MS = 10 * 60_000;
const MAX_NAMES = 1_000;

const REPOSITORY_PATH = /^\/(?<owner>[^/]+)\/(?<repo>[^/]+)\.git$/;

/** A repository in which the App is installed. */
interface FoundRepository extends Repository {
  readonly installation: string;
  /** Undefined: GitHub has not said it yet. It stays the same when the repository is renamed. */
  readonly id?: number;
}

/** What a signed event or an answer of GitHub says about a repository. */
export interface NamedRepository extends Repository {
  readonly id: number;
  readonly installation: string;
  readonly defaultBranch?: string;
}

/**
 * The current names of repositories, so that not each call must ask for one. Another repository can take a former name,
 * so a name is used for a few minutes only, and GitHub is asked again when the name leads nowhere.
 */
export class RepositoryNames {
  readonly #client: GithubClient;
  readonly #now: () => number;
  readonly #known = new Map<number, NamedRepository & { readonly untilMs: number }>();

  /** `now` returns milliseconds since 1970. */
  constructor(client: GithubClient, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /**
   * `at` is when GitHub said it, in milliseconds since 1970. A name that no repository can have would become a part of
   * the addresses of calls, so it is not kept.
   */
  learn(repository: NamedRepository, at: number): void {
    const { id, owner, repo } = repository;
    if (!isAllowedName(owner) || !isAllowedName(repo)) {
      return;
    }
    const former = this.of(owner, repo);
    if (former !== undefined) {
      this.#known.delete(former.id);
    }
    // The newest is the last, and the oldest is forgotten first.
    this.#known.delete(id);
    this.#known.set(id, { ...repository, untilMs: at + NAME_LIFE_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_NAMES && oldest !== undefined) {
      this.#known.delete(oldest);
    }
  }

  /** The next call asks GitHub for the name. */
  forget(id: number): void {
    this.#known.delete(id);
  }

  /** The repository that has this name, if that was said lately. */
  of(owner: string, repo: string): NamedRepository | undefined {
    const wanted = `${owner}/${repo}`.toLowerCase();
    const all = [...this.#known.values()].filter(({ untilMs }) => untilMs > this.#now());
    return all.find((known) => `${known.owner}/${known.repo}`.toLowerCase() === wanted);
  }

  /** Calls `ask` with the current name. If the repository is not found under a known name, asks GitHub and repeats. */
  async use<Value>(
    installation: string,
    id: number,
    ask: (repository: Repository) => Promise<Value>,
  ): Promise<Value> {
    const known = this.#known.get(id);
    if (known === undefined || known.untilMs <= this.#now()) {
      return ask(await this.#find(installation, id));
    }
    try {
      return await ask({ owner: known.owner, repo: known.repo });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") {
        throw error;
      }
      this.#known.delete(id);
      const found = await this.#find(installation, id);
      if (found.owner === known.owner && found.repo === known.repo) {
        throw error;
      }
      return ask(found);
    }
  }

  async #find(installation: string, id: number): Promise<Repository> {
    const {
      default_branch: defaultBranch,
      name: repo,
      owner,
    } = await this.#client.call(installation, {
      route: "GET /repositories/{id}",
      parameters: { id },
      answer: nameAnswer,
    });
    const named = { id, installation, owner: owner.login, repo };
    this.learn(
      { ...named, ...defined({ defaultBranch: defaultBranch ? defaultBranch : undefined }) },
      this.#now(),
    );
    return { owner: owner.login, repo };
  }
}

/** Opens the repositories that the App is installed in, each with a token for this repository only. */
export class GithubRepositories {
  readonly #client: GithubClient;
  readonly #host: string;
  readonly #identity: BotIdentity;
  readonly #log: Log;
  readonly #names: RepositoryNames;

  constructor(
    { apiUrl }: GithubConfig,
    {
      client,
      identity,
      log,
      names,
    }: {
      readonly client: GithubClient;
      readonly identity: BotIdentity;
      readonly log: Log;
      readonly names: RepositoryNames;
    },
  ) {
    this.#client = client;
    this.#identity = identity;
    this.#names = names;
    this.#host = webUrlOf(apiUrl).origin;
    this.#log = log;
  }

  /** Undefined if the address is not GitHub's, or the App is not installed there. */
  async open(url: string): Promise<RepositoryAccess | undefined> {
    const { origin, pathname } = new URL(url);
    const { owner, repo } = REPOSITORY_PATH.exec(pathname)?.groups ?? {};
    if (origin !== this.#host || owner === undefined || repo === undefined) {
      return undefined;
    }
    const found = await this.find(owner, repo);
    return (
      found && {
        installation: found.installation,
        authorization: (access) => this.#authorization(found, access),
        committer: () => this.#committer(found.installation),
      }
    );
  }

  /** By the numeric id in the address GitHub shows the App's account as the author, whatever it is called by then. */
  async #committer(installation: string): Promise<Committer> {
    const { id, login } = await this.#identity.user(installation);
    const host = new URL(this.#host).hostname;
    return { name: login, email: `${id}+${login}@users.noreply.${host}` };
  }

  /** By its present or a former name. Undefined if the App is not installed there, or may not see the repository. */
  async find(owner: string, repo: string): Promise<FoundRepository | undefined> {
    return this.#names.of(owner, repo) ?? this.#unlessRefused(repo, () => this.#ask({ owner, repo }));
  }

  async #ask({ owner, repo }: Repository): Promise<FoundRepository> {
    const route = "GET /repos/{owner}/{repo}/installation";
    const parameters = { owner, repo };
    try {
      const { id } = await this.#client.asApp({ route, parameters, answer: installationAnswer });
      return { owner, repo, installation: String(id) };
    } catch (error) {
      // The repository was renamed.
      if (!(error instanceof MovedError) || error.repositoryId === undefined) {
        throw error;
      }
      const id = error.repositoryId;
      return { owner, repo, installation: String(await this.#client.installationIn(id)), id };
    }
  }

  /** A token for a repository by its id is valid under each of its names. */
  async #authorization(
    { id, installation, repo }: FoundRepository,
    access: "read" | "write" = "read",
  ): Promise<string | undefined> {
    const only = id === undefined ? { repositories: [repo] } : { repository_ids: [id] };
    const scope = { ...only, permissions: { contents: access } };
    const token = await this.#unlessRefused(repo, () => this.#client.tokenFor(installation, scope));
    return token && `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
  }

  /** After a refusal the repository is read without a token, because it may be public. */
  async #unlessRefused<T>(repo: string, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      if (error.retryable) {
        throw new AppError("resource_unavailable", error.message, { cause: error });
      }
      // Not found is the normal answer where the App is not installed.
      if (error.code !== "resource_not_found") {
        this.#log.warn("github.repository.not_opened", { repo, reason: error.message });
      }
      return undefined;
    }
  }
}
