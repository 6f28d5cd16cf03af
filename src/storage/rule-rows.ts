import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { RoutingRule } from "../core/model/defaults/request-defaults.ts";
import type { Policy, PolicyEffect } from "../core/model/policies/policy.ts";
import type { Policy as PolicyRow, RoutingRule as RoutingRuleRow } from "./generated/client.ts";
import { POLICY_MATCH, ROUTING_MATCH, RUN_CONFIG } from "./json-columns.ts";
import { parseJsonColumn, toJson, withoutNulls } from "./rows.ts";

/** Rows of policies and routing rules to the domain and back. */
export function policyOf(row: PolicyRow): Policy {
  return withoutNulls<Policy>({
    ...ruleOf(row),
    effect: row.effect as PolicyEffect,
    match: parseJsonColumn(POLICY_MATCH, row.match, { table: "policies", id: row.id, column: "match" }),
    reason: row.reason,
  });
}

export function policyColumns({ match, reason, ...columns }: Policy) {
  return { ...columns, match: toJson(match), reason: reason ?? null };
}

export function routingRuleOf(row: RoutingRuleRow): RoutingRule {
  const location = { table: "routing_rules", id: row.id } as const;
  return withoutNulls<RoutingRule>({
    ...ruleOf(row),
    match: parseJsonColumn(ROUTING_MATCH, row.match, { ...location, column: "match" }),
    environmentId: row.environmentId,
    config: parseJsonColumn(RUN_CONFIG, row.config, { ...location, column: "config" }),
  });
}

export function routingRuleColumns({ match, config, environmentId, ...columns }: RoutingRule) {
  return { ...columns, match: toJson(match), config: toJson(config), environmentId: environmentId ?? null };
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
