import type { ApiClient } from "../api-client.ts";
import type {
  CreateNamedAgentRequest,
  ListNamedAgentsResponse,
  NamedAgent,
  UpdateNamedAgentRequest,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Named agents: service accounts with a prompt and a configuration of their own. */
export class Agents {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a named agent. `keys.create` with its uid makes keys for it. */
  create(body: CreateNamedAgentRequest, options?: RequestOptions): ApiPromise<NamedAgent> {
    return this.#client.post("/agent/identities", { ...options, body });
  }

  /** Gets a named agent. */
  retrieve(agentUid: string, options?: RequestOptions): ApiPromise<NamedAgent> {
    return this.#client.get(path`/agent/identities/${agentUid}`, options);
  }

  /** Lists the named agents of the team. */
  list(options?: RequestOptions): ListPromise<ListNamedAgentsResponse, NamedAgent> {
    return this.#client.list("/agent/identities", (page: ListNamedAgentsResponse) => page.agents, options);
  }

  /** Changes a named agent. Runs that exist keep their configuration. */
  update(agentUid: string, body: UpdateNamedAgentRequest, options?: RequestOptions): ApiPromise<NamedAgent> {
    return this.#client.put(path`/agent/identities/${agentUid}`, { ...options, body });
  }

  /** Deletes a named agent and revokes its keys. Its runs are kept. */
  delete(agentUid: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/identities/${agentUid}`, options);
  }
}
