import type { Policy } from "../policies/policy.ts";
import type { Clock } from "../ports/clock.ts";
import { type News, TOPICS } from "../ports/news.ts";
import type { Storage } from "../ports/storage.ts";
import type { RoutingRule } from "../routing/routing-rule.ts";
import { RuleBook } from "./rule-book.ts";

/** The rules by which runs are created and changed. */
export interface RunRules {
  readonly policies: Pick<RuleBook<Policy>, "of">;
  readonly routing: Pick<RuleBook<RoutingRule>, "of">;
}

export interface RunRulesParts {
  readonly storage: Pick<Storage, "policies" | "routingRules">;
  readonly news: News;
  readonly clock: Clock;
}

export function runRules({ storage, news, clock }: RunRulesParts): RunRules {
  return {
    policies: new RuleBook({ records: storage.policies, topic: TOPICS.policies, news, clock }),
    routing: new RuleBook({ records: storage.routingRules, topic: TOPICS.routingRules, news, clock }),
  };
}
