import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { RepositoryAccess } from "../../core/repositories/repository-access.ts";
import type { GithubClient } from "./client.ts";
import type { GithubConfig } from "./config.ts";

const installationAnswer = z.object({ id: z.int() });
const tokenAnswer = z.object({ token: z.string() });

const nameAnswer = z.object({ name: z.string(), owner: z.object({ login: z.string() }) });

const PUBLIC_API = "https://api.github.com";
const PUBLIC_HOST = "https://github.com";
const REPOSITORY_PATH = /^\/(?<owner>[^/]+)\/(?<repo>[^/]+)\.git$/;

export interface Repository {
  readonly owner: string;
  readonly repo: string;
}

/** The current name of a repository. It is requested each time, because another repository can take a former name. */
export async function findRepository(
  client: GithubClient,
  installation: string,
  id: number,
): Promise<Repository> {
  const call = { route: "GET /repositories/{id}", parameters: { id }, answer: nameAnswer };
  const { name, owner } = await client.call(installation, call);
  return { owner: owner.login, repo: name };
}

/** Opens the repositories that the App is installed in, each with a token for this repository only. */
export class GithubRepositories {
  readonly #client: GithubClient;
  readonly #host: string;
  readonly #log: Log;

  constructor({ apiUrl }: GithubConfig, client: GithubClient, log: Log) {
    this.#client = client;
    // An Enterprise Server has its API on its own host.
    this.#host = apiUrl === PUBLIC_API ? PUBLIC_HOST : new URL(apiUrl).origin;
    this.#log = log;
  }

  /** Undefined if the address is not GitHub's, or the App is not installed there. */
  async open(url: string): Promise<RepositoryAccess | undefined> {
    const { origin, pathname } = new URL(url);
    const { owner, repo } = REPOSITORY_PATH.exec(pathname)?.groups ?? {};
    if (origin !== this.#host || owner === undefined || repo === undefined) {
      return undefined;
    }
    const id = await this.installationOf(owner, repo);
    if (id === undefined) {
      return undefined;
    }
    return { installation: String(id), authorization: (access) => this.#authorization(id, repo, access) };
  }

  /** Undefined if the App is not installed there, or may not see the repository. */
  async installationOf(owner: string, repo: string): Promise<number | undefined> {
    const route = "GET /repos/{owner}/{repo}/installation";
    const call = { route, parameters: { owner, repo }, answer: installationAnswer };
    return (await this.#unlessRefused(repo, () => this.#client.asApp(call)))?.id;
  }

  async #authorization(
    installation: number,
    repo: string,
    access: "read" | "write" = "read",
  ): Promise<string | undefined> {
    const route = "POST /app/installations/{installation_id}/access_tokens";
    const wanted = { repositories: [repo], permissions: { contents: access } };
    const call = { route, parameters: { installation_id: installation, ...wanted }, answer: tokenAnswer };
    const answer = await this.#unlessRefused(repo, () => this.#client.asApp(call));
    return answer && `Basic ${Buffer.from(`x-access-token:${answer.token}`).toString("base64")}`;
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
