import type { Policy } from "../core/policies/policy.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { RecordStore } from "../core/team-records/record-store.ts";
import type { Policy as PolicyRow } from "./generated/client.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { policyColumns, policyOf } from "./rule-rows.ts";
import type { StoreDeps } from "./store-deps.ts";

/** Notifies caches of policies about changes. */
export function createPolicyStore({ database, pubsub }: StoreDeps): RecordStore<Policy> {
  return new PrismaRecordStore<Policy, PolicyRow, ReturnType<typeof policyColumns>>(
    database,
    { table: (client) => client.policy, columnsOf: policyColumns, recordOf: policyOf },
    () => pubsub.publish([CHANNELS.policies]),
  );
}
