import type { ApiClient } from "../api-client.ts";
import type { AuditEntry, ListAuditEntriesQuery, ListAuditResponse } from "../generated/types.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { type RequestOptions, withQuery } from "../http/request.ts";

/** The audit log: who changed which setting, key or person. */
export class Audit {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Lists audit entries, the newest first.
   *
   * @example
   * for await (const { at, action, actor } of client.audit.list({ action: "key.created" })) {
   *   console.log(at, action, actor.uid);
   * }
   */
  list(
    query: ListAuditEntriesQuery = {},
    options?: RequestOptions,
  ): ListPromise<ListAuditResponse, AuditEntry> {
    return this.#client.list(
      "/agent/audit",
      (page: ListAuditResponse) => page.entries,
      withQuery(query, options),
    );
  }
}
