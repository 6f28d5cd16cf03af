import type { ApiClient } from "../api-client.ts";
import type { InboxEvent, ListInboxQuery, ListInboxResponse } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** The inbox: the events that Slack and GitHub delivered, and what became of them. */
export class Inbox {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists incoming events, the newest first. */
  list(query: ListInboxQuery = {}, options?: RequestOptions): ListPromise<ListInboxResponse, InboxEvent> {
    return this.#client.list(
      "/agent/inbox",
      (page: ListInboxResponse) => page.events,
      withQuery(query, options),
    );
  }

  /** Processes a failed event again, once. */
  retry(eventId: string, options?: RequestOptions): ApiPromise<InboxEvent> {
    return this.#client.post(path`/agent/inbox/${eventId}/retry`, options);
  }
}
