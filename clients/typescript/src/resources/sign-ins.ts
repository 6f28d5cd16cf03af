import type { ApiClient } from "../api-client.ts";
import type { ListSignInsResponse, SignIn } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Sign-ins of browsers to the pages. */
export class SignIns {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists your sign-ins; administrators get those of the team. */
  list(options?: RequestOptions): ListPromise<ListSignInsResponse, SignIn> {
    return this.#client.list("/agent/sign-ins", (page: ListSignInsResponse) => page.sign_ins, options);
  }

  /** Signs a browser out. */
  end(signInId: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/sign-ins/${signInId}`, options);
  }

  /** Signs a principal out everywhere. */
  endAll(principalUid: string, options?: RequestOptions): ApiPromise<void> {
    return this.#client.delete(path`/agent/principals/${principalUid}/sign-ins`, options);
  }
}
