import type { ApiClient } from "../api-client.ts";
import type { EgressRanges, ListWorkersResponse, WorkerHost } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import type { RequestOptions } from "../http/request.ts";

/** Workers: the processes that do runs. */
export class Workers {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the names of the workers that are connected. */
  list(options?: RequestOptions): ListPromise<ListWorkersResponse, WorkerHost> {
    return this.#client.list(
      "/agent/connected-self-hosted-workers",
      (page: ListWorkersResponse) => page.workers,
      options,
    );
  }

  /** Gets the networks from which agents connect to other servers, as the operator states them. */
  egressRanges(options?: RequestOptions): ApiPromise<EgressRanges> {
    return this.#client.get("/networking/egress-ranges", options);
  }
}
