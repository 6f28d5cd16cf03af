import type { ApiClient } from "../api-client.ts";
import type {
  Conversation,
  ConversationFollowupResponse,
  ConversationInterrupted,
  ConversationRedirect,
  GetConversationQuery,
  RunFollowupRequest,
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

  /** Sends a message to the newest run of a conversation. */
  followUp(
    conversationId: string,
    body: RunFollowupRequest,
    options?: RequestOptions,
  ): ApiPromise<ConversationFollowupResponse> {
    return this.#client.post(path`/agent/conversations/${conversationId}/followups`, { ...options, body });
  }

  /** Ends the current turn of the newest run of a conversation, but not the run. */
  interrupt(conversationId: string, options?: RequestOptions): ApiPromise<ConversationInterrupted> {
    return this.#client.post(path`/agent/conversations/${conversationId}/interrupt`, options);
  }

  /** Downloads the event log of the newest run: one JSON object per line. */
  transcript(conversationId: string, options?: RequestOptions): Promise<Response> {
    return this.#client.get(path`/agent/conversations/${conversationId}/transcript`, options).asResponse();
  }

  /** Downloads a picture of a conversation. */
  screenshot(conversationId: string, artifactUid: string, options?: RequestOptions): Promise<Response> {
    const address = path`/agent/conversations/${conversationId}/screenshots/${artifactUid}/download`;
    return this.#client.get(address, options).asResponse();
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
