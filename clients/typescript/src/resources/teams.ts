import type { ApiClient } from "../api-client.ts";
import type { ListTeamsResponse, Team, TeamRequest, TeamUpdateRequest } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Teams. What belongs to one is invisible to the others. */
export class Teams {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a team. Only for operators. */
  create(body: TeamRequest, options?: RequestOptions): ApiPromise<Team> {
    return this.#client.post("/agent/teams", { ...options, body });
  }

  /** Gets a team. */
  retrieve(teamUid: string, options?: RequestOptions): ApiPromise<Team> {
    return this.#client.get(path`/agent/teams/${teamUid}`, options);
  }

  /** Lists your team; operators get all teams. */
  list(options?: RequestOptions): ListPromise<ListTeamsResponse, Team> {
    return this.#client.list("/agent/teams", (page: ListTeamsResponse) => page.teams, options);
  }

  /** Changes the name of a team, or what its runs may share with guests. */
  update(teamUid: string, body: TeamUpdateRequest, options?: RequestOptions): ApiPromise<Team> {
    return this.#client.patch(path`/agent/teams/${teamUid}`, { ...options, body });
  }
}
