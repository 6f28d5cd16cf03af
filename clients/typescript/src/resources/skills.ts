import type { ApiClient } from "../api-client.ts";
import type { AgentSkill, ListAgentsQuery, ListAgentsResponse } from "../generated/types.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { type RequestOptions, withQuery } from "../http/request.ts";

/** Skills: the instructions that the repositories of the team offer to agents. */
export class Skills {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the skills of the team's repositories, or of the repository `repo`. */
  list(query: ListAgentsQuery = {}, options?: RequestOptions): ListPromise<ListAgentsResponse, AgentSkill> {
    return this.#client.list("/agent", (page: ListAgentsResponse) => page.agents, withQuery(query, options));
  }
}
