import type { RoutingRule } from "../../../../src/core/model/defaults/request-defaults.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { Policy } from "../../../../src/core/model/policies/policy.ts";
import type { Schedule } from "../../../../src/core/model/schedules/schedule.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { DueSchedule } from "../../../../src/core/ports/stores/due-schedules.ts";
import type { Storage } from "../../../../src/core/ports/stores/storage.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { InMemoryRecordStore } from "./record-store.ts";
import type { Tables } from "./tables.ts";

type Settings = Pick<Storage, "schedules" | "dueSchedules" | "policies" | "routingRules">;

const nameOf = ({ name }: { readonly name: string }): string => name;
const SCHEDULE = "schedule";

/** In-memory fakes of the stores of schedules and rules. */
export function createInMemorySettings(database: InMemoryStatements): Settings {
  return {
    policies: new InMemoryRecordStore<Policy>(database, "policy", nameOf, [CHANNELS.policies]),
    routingRules: new InMemoryRecordStore<RoutingRule>(database, "routing rule", nameOf, [
      CHANNELS.routingRules,
    ]),
    schedules: new InMemoryRecordStore<Schedule>(database, SCHEDULE),
    dueSchedules: {
      // Transactions run one after another, so a lock is only a read.
      lock: (id) =>
        database.transaction(({ tables, now }) => {
          const schedule = tables.records.get(`${SCHEDULE} ${id}`) as Schedule | undefined;
          return schedule && dueSchedule(schedule, now);
        }),
      enqueue: (id, at) =>
        database.transaction(({ jobs, now }) => {
          jobs.push({ kind: SCHEDULE, key: id, afterMs: Math.max(0, at.getTime() - now) });
        }),
      list: (limit) =>
        database.read((tables, now) =>
          schedulesIn(tables)
            .filter((schedule) => dueSchedule(schedule, now).isDue)
            .filter(({ creatorId }) => !isSuspended(tables.principals.get(creatorId)))
            .slice(0, limit)
            .map(({ id }) => id),
        ),
    },
  };
}

function schedulesIn({ records }: Tables): Schedule[] {
  const mine = records.entries().filter(([place]) => place.startsWith(`${SCHEDULE} `));
  return [...mine.map(([, record]) => record as Schedule)];
}

function isSuspended(creator: Principal | undefined): boolean {
  return creator?.disabled === true && creator.suspendedAt !== undefined;
}

function dueSchedule(schedule: Schedule, now: number): DueSchedule {
  const { nextRunAt } = schedule;
  return { schedule, now: new Date(now), isDue: nextRunAt !== undefined && nextRunAt.getTime() <= now };
}
