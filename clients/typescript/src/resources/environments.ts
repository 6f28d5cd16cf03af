import type { ApiClient } from "../api-client.ts";
import type {
  CreateEnvironmentRequest,
  Environment,
  ListEnvironmentsQuery,
  ListEnvironmentsResponse,
  ReplaceEnvironmentRequest,
  RunAgentResponse,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Environments: the repositories, image, variables and setup commands that runs start with. */
export class Environments {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Creates an environment.
   *
   * @example
   * const { uid } = await client.environments.create({ config: { name: "site", setup_commands: ["npm ci"] } });
   */
  create(body: CreateEnvironmentRequest, options?: RequestOptions): ApiPromise<Environment> {
    return this.#client.post("/agent/environments", { ...options, body });
  }

  /** Gets an environment. */
  retrieve(environmentUid: string, options?: RequestOptions): ApiPromise<Environment> {
    return this.#client.get(path`/agent/environments/${environmentUid}`, options);
  }

  /** Lists the environments of the team. */
  list(
    query: ListEnvironmentsQuery = {},
    options?: RequestOptions,
  ): ListPromise<ListEnvironmentsResponse, Environment> {
    return this.#client.list(
      "/agent/environments",
      (page: ListEnvironmentsResponse) => page.environments,
      withQuery(query, options),
    );
  }

  /**
   * Replaces an environment. Members that are left out get their default. Runs that have started keep the previous
   * one.
   */
  replace(
    environmentUid: string,
    body: ReplaceEnvironmentRequest,
    options?: RequestOptions,
  ): ApiPromise<Environment> {
    return this.#client.put(path`/agent/environments/${environmentUid}`, { ...options, body });
  }

  /** Deletes an environment. Runs keep its uid, and new runs that name it are refused. */
  delete(environmentUid: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/environments/${environmentUid}`, options);
  }

  /**
   * Prepares the environment once, without an agent. The result is a run; when it ends, `setup_failed` of the
   * environment says whether it worked.
   */
  test(environmentUid: string, options?: RequestOptions): ApiPromise<RunAgentResponse> {
    return this.#client.post(path`/agent/environments/${environmentUid}/test`, options);
  }
}
