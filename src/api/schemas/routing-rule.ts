import { z } from "zod";
import type { RoutingRule } from "../../core/model/defaults/request-defaults.ts";
import { withRedactedValues } from "../../core/model/secrets/sealed-values.ts";
import type { ConsideredRule, RoutedConfig, Routing } from "../../core/requests/routing/route-request.ts";
import { PageInfo } from "./page-info.ts";
import {
  MatchedText,
  oneOf,
  placeConditions,
  ruleEditOf,
  ruleItem,
  ruleMembers,
  ruleRequest,
} from "./rule-parts.ts";
import { AmbientAgentConfig, runConfigOf } from "./run-config.ts";
import { RunSourceType } from "./run-item.ts";

const REQUEST_EXAMPLE = {
  name: "The web shop",
  match: { integrations: ["issues"], places: ["acme/web-*"], text: ["checkout", "cart"] },
  priority: 10,
  environment_id: "3sVb9qTz1LxYw7KpR2nMcA",
  config: { base_prompt: "Answer in one paragraph." },
};
const EXAMPLE = {
  ...REQUEST_EXAMPLE,
  id: "0195b2a4-5c1e-7e4b-9d57-3f8a1c2b4d71",
  enabled: true,
  created_by: "0195b2a0-0000-7000-8000-000000000001",
  created_at: "2026-03-01T09:00:00.000Z",
  updated_at: "2026-03-01T09:00:00.000Z",
};
const ENVIRONMENT = "The environment that the request gets.";
const CONFIG = "Values for members that the request does not configure.";

/** Strict, unlike other bodies: ignoring a misspelt condition would match more than intended. */
const RoutingMatch = z
  .strictObject({
    ...placeConditions,
    text: oneOf(MatchedText.regex(/\S/, "must not be blank"))
      .optional()
      .describe("Words or phrases of the request. Case is ignored."),
    sources: oneOf(RunSourceType)
      .optional()
      .describe(
        "The sources of the request. A request that did not come through an integration is matched only by rules " +
          "that name its source.",
      ),
  })
  .meta({
    id: "RoutingMatch",
    description: "All conditions must hold. A list holds if one of its values matches.",
    examples: [REQUEST_EXAMPLE.match],
  });

export const RoutingRuleRequest = z
  .object({
    ...ruleRequest,
    match: RoutingMatch.optional(),
    environment_id: MatchedText.optional().describe(ENVIRONMENT),
    config: AmbientAgentConfig.optional(),
  })
  .meta({
    id: "RoutingRuleRequest",
    description: "A new or replaced routing rule.",
    examples: [REQUEST_EXAMPLE],
  });
export type RoutingRuleRequest = z.output<typeof RoutingRuleRequest>;

export const RoutingRuleItem = z
  .object({
    ...ruleMembers,
    match: RoutingMatch,
    environment_id: z.string().optional().describe(ENVIRONMENT),
    config: AmbientAgentConfig.describe(CONFIG),
  })
  .meta({
    id: "RoutingRule",
    description:
      "Assigns an environment to a request that names none, and values for members that the request does not " +
      "configure. The first rule that matches decides.",
    examples: [EXAMPLE],
  });
export type RoutingRuleItem = z.output<typeof RoutingRuleItem>;

export const ListRoutingRulesResponse = z
  .object({
    routing_rules: z.array(RoutingRuleItem).describe("In the order of evaluation."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListRoutingRulesResponse",
    description: "All routing rules of the team, including disabled ones.",
    examples: [{ routing_rules: [EXAMPLE], page_info: { has_next_page: false } }],
  });

export const EvaluateRoutingRequest = z
  .object({
    text: z.string().optional().describe("The text of the request."),
    source: RunSourceType.optional().describe("Default: `API`."),
    integration: MatchedText.optional().describe("The integration of the request."),
    installation: MatchedText.optional().describe("The workspace, organisation or account."),
    place: MatchedText.optional().describe("The channel or repository."),
    config: AmbientAgentConfig.optional(),
  })
  .meta({
    id: "EvaluateRoutingRequest",
    description: "A hypothetical request.",
    examples: [
      { text: "Fix the cart", source: "GITHUB_WEBHOOK", integration: "issues", place: "acme/web-shop" },
    ],
  });
export type EvaluateRoutingRequest = z.output<typeof EvaluateRoutingRequest>;

const ConsideredRoutingRule = z.object({
  id: z.uuid().describe("The rule's id."),
  name: z.string().describe("The rule's name."),
  matches: z.boolean().describe("Whether the rule matches and therefore decides."),
  mismatch: z.string().optional().describe("The first condition that does not hold."),
});

export const RoutingResult = z
  .object({
    rule: z
      .object({ id: z.uuid().describe("The rule's id."), name: z.string().describe("The rule's name.") })
      .optional()
      .describe("The rule that decides. Absent if none matches."),
    reason: z.string().describe("The reason for the result."),
    config: AmbientAgentConfig.describe("The configuration that the run would get."),
    config_layers: z
      .record(z.string(), z.string())
      .describe("The source of each value: `request`, `routing_rule` or `default`."),
    considered: z.array(ConsideredRoutingRule).describe("All evaluated rules, in order."),
  })
  .meta({
    id: "RoutingResult",
    description: "The routing of the request and its reason. No run is started.",
    examples: [
      {
        rule: { id: EXAMPLE.id, name: EXAMPLE.name },
        reason: "The first rule that matches: integrations, places, text.",
        config: { ...REQUEST_EXAMPLE.config, environment_id: REQUEST_EXAMPLE.environment_id },
        config_layers: { harness: "default", base_prompt: "routing_rule", environment_id: "routing_rule" },
        considered: [{ id: EXAMPLE.id, name: EXAMPLE.name, matches: true }],
      },
    ],
  });
type RoutingResult = z.output<typeof RoutingResult>;

export function routingRuleEditOf(request: RoutingRuleRequest) {
  const { match = {}, environment_id: environmentId, config = {} } = request;
  const environment = environmentId === undefined ? {} : { environmentId };
  return { ...ruleEditOf(request), match, config: runConfigOf(config), ...environment };
}

export function routingRuleItem(rule: RoutingRule): RoutingRuleItem {
  const { match, config, environmentId } = rule;
  const environment = environmentId === undefined ? {} : { environment_id: environmentId };
  return {
    ...ruleItem(rule),
    match: match as RoutingRuleItem["match"],
    config: withRedactedValues(config),
    ...environment,
  };
}

export function routingResult({ rule, reason, considered }: Routing, routed: RoutedConfig): RoutingResult {
  const decided = rule === undefined ? {} : { rule: { id: rule.id, name: rule.name } };
  const { provenance } = routed;
  const config = withRedactedValues(routed.config);
  const layers = { config, config_layers: { ...provenance.config_layers } };
  return { ...decided, reason, ...layers, considered: considered.map(consideredItem) };
}

function consideredItem({ rule: { id, name }, mismatch }: ConsideredRule) {
  return mismatch === undefined ? { id, name, matches: true } : { id, name, matches: false, mismatch };
}
