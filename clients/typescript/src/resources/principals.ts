import type { ApiClient } from "../api-client.ts";
import type {
  CreatePrincipalRequest,
  ListPrincipalsResponse,
  Principal,
  Success,
  UpdatePrincipalRequest,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Principals: the people and programs of a team. */
export class Principals {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a user or a service account. */
  create(body: CreatePrincipalRequest, options?: RequestOptions): ApiPromise<Principal> {
    return this.#client.post("/agent/principals", { ...options, body });
  }

  /** Gets a principal. */
  retrieve(principalUid: string, options?: RequestOptions): ApiPromise<Principal> {
    return this.#client.get(path`/agent/principals/${principalUid}`, options);
  }

  /** Lists the principals of the team. */
  list(options?: RequestOptions): ListPromise<ListPrincipalsResponse, Principal> {
    return this.#client.list("/agent/principals", (page: ListPrincipalsResponse) => page.principals, options);
  }

  /** Changes a principal. With `disabled: false` it is enabled again. */
  update(
    principalUid: string,
    body: UpdatePrincipalRequest,
    options?: RequestOptions,
  ): ApiPromise<Principal> {
    return this.#client.patch(path`/agent/principals/${principalUid}`, { ...options, body });
  }

  /** Disables a principal. Its keys stop working at once, and its runs are kept. */
  disable(principalUid: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/principals/${principalUid}`, options);
  }
}
