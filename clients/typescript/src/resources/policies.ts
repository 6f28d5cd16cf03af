import type { ApiClient } from "../api-client.ts";
import type {
  EvaluatePolicyRequest,
  ListPoliciesResponse,
  Policy,
  PolicyRequest,
  PolicyVerdict,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Policies: which actions are allowed, forbidden, or need an approval. */
export class Policies {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a policy. It takes effect within moments. */
  create(body: PolicyRequest, options?: RequestOptions): ApiPromise<Policy> {
    return this.#client.post("/agent/policies", { ...options, body });
  }

  /** Gets a policy. */
  retrieve(policyId: string, options?: RequestOptions): ApiPromise<Policy> {
    return this.#client.get(path`/agent/policies/${policyId}`, options);
  }

  /** Lists the policies of the team in their order. The built-in ones come last. */
  list(options?: RequestOptions): ListPromise<ListPoliciesResponse, Policy> {
    return this.#client.list("/agent/policies", (page: ListPoliciesResponse) => page.policies, options);
  }

  /** Replaces a policy. Members that are left out get their default. A built-in policy cannot be replaced. */
  replace(policyId: string, body: PolicyRequest, options?: RequestOptions): ApiPromise<Policy> {
    return this.#client.put(path`/agent/policies/${policyId}`, { ...options, body });
  }

  /** Deletes a policy. A built-in policy cannot be deleted. */
  delete(policyId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/policies/${policyId}`, options);
  }

  /** Says what the policies decide about an action, without doing it. */
  evaluate(body: EvaluatePolicyRequest, options?: RequestOptions): ApiPromise<PolicyVerdict> {
    return this.#client.post("/agent/policies/evaluate", { ...options, body });
  }
}
