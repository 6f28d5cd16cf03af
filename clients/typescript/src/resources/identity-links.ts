import type { ApiClient } from "../api-client.ts";
import type {
  IdentityLink,
  LinkIdentityRequest,
  ListIdentityLinksResponse,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Identity links: which Slack and GitHub accounts belong to which principal. */
export class IdentityLinks {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Links an account to a principal. Existing runs keep their owner. */
  create(body: LinkIdentityRequest, options?: RequestOptions): ApiPromise<IdentityLink> {
    return this.#client.post("/agent/identity-links", { ...options, body });
  }

  /** Lists the linked accounts. */
  list(options?: RequestOptions): ListPromise<ListIdentityLinksResponse, IdentityLink> {
    return this.#client.list(
      "/agent/identity-links",
      (page: ListIdentityLinksResponse) => page.links,
      options,
    );
  }

  /** Removes a link. The next message of the account creates a new principal. */
  delete(linkId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/identity-links/${linkId}`, options);
  }
}
