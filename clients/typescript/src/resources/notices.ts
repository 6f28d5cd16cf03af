import type { ApiClient } from "../api-client.ts";
import type { ListNoticesQuery, ListNoticesResponse, Notice } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Notices: the messages to threads and their delivery. */
export class Notices {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists notices, the newest first. */
  list(query: ListNoticesQuery = {}, options?: RequestOptions): ListPromise<ListNoticesResponse, Notice> {
    return this.#client.list(
      "/agent/notices",
      (page: ListNoticesResponse) => page.notices,
      withQuery(query, options),
    );
  }

  /** Delivers a notice again that was given up. */
  retry(noticeId: string, options?: RequestOptions): ApiPromise<Notice> {
    return this.#client.post(path`/agent/notices/${noticeId}/retry`, options);
  }
}
