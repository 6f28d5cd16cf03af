import type { ApiClient } from "../api-client.ts";
import type {
  Conversation,
  ConversationRedirect,
  GetConversationQuery,
  SessionRedirect,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** Conversations: a run and the runs that continue it. */
export class Conversations {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Gets what was said and done in the runs of a conversation that you can see, as steps with messages. */
  retrieve(
    conversationId: string,
    query: GetConversationQuery = {},
    options?: RequestOptions,
  ): ApiPromise<Conversation> {
    return this.#client.get(path`/agent/conversations/${conversationId}`, withQuery(query, options));
  }

  /** Gets the session of the newest run of a conversation. */
  session(conversationId: string, options?: RequestOptions): ApiPromise<ConversationRedirect> {
    return this.#client.get(path`/agent/conversations/${conversationId}/redirect`, options);
  }

  /** Gets the conversation of a session. */
  ofSession(sessionId: string, options?: RequestOptions): ApiPromise<SessionRedirect> {
    return this.#client.get(path`/agent/sessions/${sessionId}/redirect`, options);
  }
}
