import type { ApiClient } from "../api-client.ts";
import type {
  EvaluateRoutingRequest,
  ListRoutingRulesResponse,
  RoutingResult,
  RoutingRule,
  RoutingRuleRequest,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Routing rules: which environment, agent and model a message from Slack or GitHub gets. */
export class RoutingRules {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Creates a routing rule. It takes effect within moments. */
  create(body: RoutingRuleRequest, options?: RequestOptions): ApiPromise<RoutingRule> {
    return this.#client.post("/agent/routing-rules", { ...options, body });
  }

  /** Gets a routing rule. */
  retrieve(ruleId: string, options?: RequestOptions): ApiPromise<RoutingRule> {
    return this.#client.get(path`/agent/routing-rules/${ruleId}`, options);
  }

  /** Lists the routing rules of the team in their order. */
  list(options?: RequestOptions): ListPromise<ListRoutingRulesResponse, RoutingRule> {
    return this.#client.list(
      "/agent/routing-rules",
      (page: ListRoutingRulesResponse) => page.routing_rules,
      options,
    );
  }

  /** Replaces a routing rule. Members that are left out get their default. */
  replace(ruleId: string, body: RoutingRuleRequest, options?: RequestOptions): ApiPromise<RoutingRule> {
    return this.#client.put(path`/agent/routing-rules/${ruleId}`, { ...options, body });
  }

  /** Deletes a routing rule. */
  delete(ruleId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/routing-rules/${ruleId}`, options);
  }

  /** Says what the rules choose for a request, without starting it. */
  evaluate(body: EvaluateRoutingRequest = {}, options?: RequestOptions): ApiPromise<RoutingResult> {
    return this.#client.post("/agent/routing-rules/evaluate", { ...options, body });
  }
}
