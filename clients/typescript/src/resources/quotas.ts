import type { ApiClient } from "../api-client.ts";
import type { ListQuotasResponse, Quota, SetQuotasRequest } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Quotas: the most that a team may use. */
export class Quotas {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the quotas of your team with their use. */
  list(options?: RequestOptions): ListPromise<ListQuotasResponse, Quota> {
    return this.#client.list("/agent/quotas", (page: ListQuotasResponse) => page.quotas, options);
  }

  /**
   * Replaces all quotas of a team. Only for operators.
   *
   * @example
   * await client.quotas.set(team.uid, { quotas: [{ name: "runs_per_day", limit: 200 }] });
   */
  set(teamUid: string, body: SetQuotasRequest, options?: RequestOptions): ApiPromise<ListQuotasResponse> {
    return this.#client.put(path`/agent/teams/${teamUid}/quotas`, { ...options, body });
  }
}
