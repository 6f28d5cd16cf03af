import type { Clock } from "../../basics/clock.ts";
import type { RoutingRule } from "../../model/defaults/routing-rule.ts";
import type { Policy } from "../../model/policies/policy.ts";
import { CHANNELS, type PubSub } from "../../ports/pubsub.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { RuleCache } from "./rule-cache.ts";

/** The rules for creating and changing runs. */
export interface RunRules {
  readonly policies: Pick<RuleCache<Policy>, "of">;
  readonly routing: Pick<RuleCache<RoutingRule>, "of">;
}

export interface RunRulesDeps {
  readonly storage: Pick<Storage, "policies" | "routingRules">;
  readonly pubsub: PubSub;
  readonly clock: Clock;
}

export function runRules({ storage, pubsub, clock }: RunRulesDeps): RunRules {
  return {
    policies: new RuleCache({ records: storage.policies, channel: CHANNELS.policies, pubsub, clock }),
    routing: new RuleCache({ records: storage.routingRules, channel: CHANNELS.routingRules, pubsub, clock }),
  };
}
