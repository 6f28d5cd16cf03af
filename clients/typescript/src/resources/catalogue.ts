import type { ApiClient } from "../api-client.ts";
import type { CatalogueAgent, ListCatalogueResponse, RunAgentResponse } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** The agent catalogue: the coding agents that can do runs, and what each needs. */
export class Catalogue {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the agents with their versions and requirements. */
  list(options?: RequestOptions): ListPromise<ListCatalogueResponse, CatalogueAgent> {
    return this.#client.list("/agent/catalogue", (page: ListCatalogueResponse) => page.agents, options);
  }

  /** Starts a small run of an agent, which costs about one word of its model. Its end shows whether the agent works. */
  test(agentName: string, options?: RequestOptions): ApiPromise<RunAgentResponse> {
    return this.#client.post(path`/agent/catalogue/${agentName}/test`, options);
  }
}
