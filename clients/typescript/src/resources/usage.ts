import type { ApiClient } from "../api-client.ts";
import type { GetUsageQuery, UsageResponse } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import { type RequestOptions, withQuery } from "../http/request.ts";

/** Usage: runs, tokens, costs and times. */
export class Usage {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Gets the totals of the runs that you can see, by day or by another grouping.
   *
   * @example
   * const { usage } = await client.usage.retrieve({ group_by: ["creator"] });
   */
  retrieve(query: GetUsageQuery = {}, options?: RequestOptions): ApiPromise<UsageResponse> {
    return this.#client.get("/agent/usage", withQuery(query, options));
  }
}
