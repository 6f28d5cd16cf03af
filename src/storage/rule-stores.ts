import type { RoutingRule } from "../core/model/defaults/request-defaults.ts";
import type { Policy } from "../core/model/policies/policy.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Policy as PolicyRow, RoutingRule as RoutingRuleRow } from "./generated/client.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { policyColumns, policyOf, routingRuleColumns, routingRuleOf } from "./rule-rows.ts";
import type { StoreDeps } from "./store-deps.ts";

/** Notifies caches of policies about changes. */
export function createPolicyStore({ database, pubsub }: StoreDeps): RecordStore<Policy> {
  return new PrismaRecordStore<Policy, PolicyRow, ReturnType<typeof policyColumns>>(
    database,
    { table: (client) => client.policy, columnsOf: policyColumns, recordOf: policyOf },
    () => pubsub.publish([CHANNELS.policies]),
  );
}

/** Notifies caches of routing rules about changes. */
export function createRoutingRuleStore({ database, pubsub }: StoreDeps): RecordStore<RoutingRule> {
  return new PrismaRecordStore<RoutingRule, RoutingRuleRow, ReturnType<typeof routingRuleColumns>>(
    database,
    { table: (client) => client.routingRule, columnsOf: routingRuleColumns, recordOf: routingRuleOf },
    () => pubsub.publish([CHANNELS.routingRules]),
  );
}
