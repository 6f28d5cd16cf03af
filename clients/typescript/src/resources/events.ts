import type { ApiClient } from "../api-client.ts";
import { readStream, type StreamOptions } from "../events/read-stream.ts";
import type { GetEventsQuery, LoggedEventPage, StreamReset } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import { type RequestOptions, withQuery } from "../http/request.ts";

/** An event of any run, with the id of the run and the position behind the event. */
export type LoggedEvent = LoggedEventPage["events"][number];

/** The events of all runs that you can see. */
export class Events {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Gets a page of the stored events behind `after`. */
  list(query: GetEventsQuery = {}, options?: RequestOptions): ApiPromise<LoggedEventPage> {
    return this.#client.get("/agent/events", withQuery(query, options));
  }

  /**
   * Yields the events of all runs live, from now on or behind `after`. The stream ends only by its `signal`. A broken
   * connection is opened again. If the server does not know the position any more, an event with the `kind` `reset` is
   * yielded: then read again what you store.
   */
  stream(
    { after }: Pick<GetEventsQuery, "after"> = {},
    options: StreamOptions = {},
  ): AsyncGenerator<LoggedEvent | StreamReset, void, undefined> {
    return readStream(this.#client, {
      path: "/agent/events",
      options: { ...options, query: { after, ...options.query } },
      isComplete: () => false,
      askIfOver: async () => false,
    });
  }
}
