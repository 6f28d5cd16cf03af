import type { ApiClient } from "../api-client.ts";
import type {
  DeleteSecretQuery,
  GetSecretQuery,
  ListSecretsResponse,
  PutSecretRequest,
  Secret,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Secrets: environment variables of runs whose values are never shown again. */
export class Secrets {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Sets a secret. Runs that start or continue from now on have it.
   *
   * @example
   * await client.secrets.put("NPM_TOKEN", { value: "…" });
   */
  put(name: string, body: PutSecretRequest, options?: RequestOptions): ApiPromise<Secret> {
    return this.#client.put(path`/agent/secrets/${name}`, { ...options, body });
  }

  /** Gets a secret without its value. */
  retrieve(name: string, query: GetSecretQuery = {}, options?: RequestOptions): ApiPromise<Secret> {
    return this.#client.get(path`/agent/secrets/${name}`, withQuery(query, options));
  }

  /** Lists the team's secrets and your own, without their values. */
  list(options?: RequestOptions): ListPromise<ListSecretsResponse, Secret> {
    return this.#client.list("/agent/secrets", (page: ListSecretsResponse) => page.secrets, options);
  }

  /** Deletes a secret. Agents that are working keep it until they end. */
  delete(name: string, query: DeleteSecretQuery = {}, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/secrets/${name}`, withQuery(query, options));
  }
}
