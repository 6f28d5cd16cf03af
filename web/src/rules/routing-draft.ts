import type { RoutingMatch, RoutingRule, RoutingRuleRequest } from "@errand/client";
import { type ConfigDraft, configDraftOf, configOf } from "../edit/config-draft.ts";
import type { Issue } from "../edit/issues.ts";
import { emptyConditions, type MatchDraft, matchDraftOf, matchOf, ROUTING_CONDITIONS } from "./conditions.ts";
import { type RuleDraft, ruleDraftOf, ruleIssuesOf, ruleRequestOf } from "./rule-draft.ts";

/** A routing rule as the user edits it. */
export interface RoutingDraft extends RuleDraft, ConfigDraft {
  readonly match: MatchDraft;
  /** The uid, or an empty text. */
  readonly environment: string;
}

export function routingDraftOf(rule: RoutingRule | undefined): RoutingDraft {
  const { config, environment_id: environment = "", match = {} } = rule ?? {};
  return { ...ruleDraftOf(rule), ...configDraftOf(config), match: matchDraftOf(match), environment };
}

export function routingIssuesOf(draft: RoutingDraft): readonly Issue[] {
  return [...ruleIssuesOf(draft), ...emptyConditions(draft.match)];
}

export function routingRequestOf(draft: RoutingDraft): RoutingRuleRequest {
  const { environment, match } = draft;
  return {
    ...ruleRequestOf(draft),
    match: matchOf(match, ROUTING_CONDITIONS) as RoutingMatch,
    ...(environment === "" ? {} : { environment_id: environment }),
    config: configOf(draft),
  };
}
