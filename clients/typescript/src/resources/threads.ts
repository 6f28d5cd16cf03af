import type { ApiClient } from "../api-client.ts";
import type { ListThreadsQuery, ListThreadsResponse, Thread, ThreadChange } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Threads: the Slack threads, issues and pull requests that runs are bound to. */
export class Threads {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the threads of a run. */
  list(query: ListThreadsQuery, options?: RequestOptions): ListPromise<ListThreadsResponse, Thread> {
    return this.#client.list(
      "/agent/threads",
      (page: ListThreadsResponse) => page.threads,
      withQuery(query, options),
    );
  }

  /** Gets a thread. */
  retrieve(threadId: string, options?: RequestOptions): ApiPromise<Thread> {
    return this.#client.get(path`/agent/threads/${threadId}`, options);
  }

  /** Changes how much a thread is told. */
  update(threadId: string, body: ThreadChange, options?: RequestOptions): ApiPromise<Thread> {
    return this.#client.patch(path`/agent/threads/${threadId}`, { ...options, body });
  }
}
