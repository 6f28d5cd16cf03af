import type { ApiClient } from "../api-client.ts";
import type { AgentModel, ListModelsResponse } from "../generated/types.ts";
import type { ListPromise } from "../http/list-promise.ts";
import type { RequestOptions } from "../http/request.ts";

/** Models that runs can name. */
export class Models {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the models, and the one that is the default. */
  list(options?: RequestOptions): ListPromise<ListModelsResponse, AgentModel> {
    return this.#client.list("/agent/models", (page: ListModelsResponse) => page.models, options);
  }
}
