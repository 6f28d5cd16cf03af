import type { PrincipalId, TeamId } from "../core/ids.ts";
import type { Policy, PolicyEffect, PolicyMatch } from "../core/policies/policy.ts";
import type { RoutingMatch, RoutingRule } from "../core/routing/routing-rule.ts";
import type { RunConfig } from "../core/runs/run.ts";
import type { Policy as PolicyRow, RoutingRule as RoutingRuleRow } from "./generated/client.ts";
import { present } from "./present.ts";
import { json } from "./run-rows.ts";

/** Rows of policies and routing rules to the domain and back. */
export function policyOf(row: PolicyRow): Policy {
  return present<Policy>({
    ...ruleOf(row),
    effect: row.effect as PolicyEffect,
    match: row.match as PolicyMatch,
    reason: row.reason,
  });
}

export function policyColumns({ match, reason, ...columns }: Policy) {
  return { ...columns, match: json(match), reason: reason ?? null };
}

export function routingRuleOf(row: RoutingRuleRow): RoutingRule {
  return present<RoutingRule>({
    ...ruleOf(row),
    match: row.match as RoutingMatch,
    environmentId: row.environmentId,
    config: row.config as RunConfig,
  });
}

export function routingRuleColumns({ match, config, environmentId, ...columns }: RoutingRule) {
  return { ...columns, match: json(match), config: json(config), environmentId: environmentId ?? null };
}

function ruleOf({
  id,
  teamId,
  name,
  priority,
  enabled,
  creatorId,
  createdAt,
  updatedAt,
}: PolicyRow | RoutingRuleRow) {
  const whose = { teamId: teamId as TeamId, creatorId: creatorId as PrincipalId };
  return { id, ...whose, name, priority, enabled, createdAt, updatedAt };
}
