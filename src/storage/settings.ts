import type { Policy } from "../core/policies/policy.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { RoutingRule } from "../core/routing/routing-rule.ts";
import type { Schedule } from "../core/schedules/schedule.ts";
import type { Storage } from "../core/storage.ts";
import { PrismaDueSchedules } from "./due-schedules.ts";
import type {
  Policy as PolicyRow,
  RoutingRule as RoutingRuleRow,
  Schedule as ScheduleRow,
} from "./generated/client.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { policyColumns, policyOf, routingRuleColumns, routingRuleOf } from "./rule-rows.ts";
import { scheduleColumns, scheduleOf } from "./schedule-rows.ts";
import type { StoreDeps } from "./store-deps.ts";

type Settings = Pick<Storage, "schedules" | "dueSchedules" | "policies" | "routingRules">;

/** The stores of schedules and rules. They notify caches of rules about changes. */
export function createSettings(deps: StoreDeps): Settings {
  const { database, pubsub } = deps;
  return {
    policies: new PrismaRecordStore<Policy, PolicyRow, ReturnType<typeof policyColumns>>(
      database,
      { table: (client) => client.policy, columnsOf: policyColumns, recordOf: policyOf },
      () => pubsub.publish([CHANNELS.policies]),
    ),
    routingRules: new PrismaRecordStore<RoutingRule, RoutingRuleRow, ReturnType<typeof routingRuleColumns>>(
      database,
      { table: (client) => client.routingRule, columnsOf: routingRuleColumns, recordOf: routingRuleOf },
      () => pubsub.publish([CHANNELS.routingRules]),
    ),
    schedules: new PrismaRecordStore<Schedule, ScheduleRow, ReturnType<typeof scheduleColumns>>(database, {
      table: (client) => client.schedule,
      columnsOf: scheduleColumns,
      recordOf: scheduleOf,
    }),
    dueSchedules: new PrismaDueSchedules(deps),
  };
}
