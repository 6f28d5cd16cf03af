import type { Environment } from "../../core/environments/environment.ts";
import { isOpenTo } from "../../core/people/ownership.ts";
import type { Principal, Viewer } from "../../core/people/principal.ts";
import type { Schedule } from "../../core/schedules/schedule.ts";
import type { Storage } from "../../core/storage.ts";
import { type ScheduleItem, scheduleItem } from "../schemas/schedule.ts";

type Stores = Pick<Storage, "environments" | "people">;

export async function scheduleItemOf(
  stores: Stores,
  viewer: Viewer,
  schedule: Schedule,
): Promise<ScheduleItem> {
  return scheduleItem(schedule, await surroundings(stores, viewer, [schedule]));
}

/** Schedules in the API's format. The records that they refer to are loaded in one batch. */
export async function scheduleItemsOf(
  stores: Stores,
  viewer: Viewer,
  schedules: readonly Schedule[],
): Promise<ScheduleItem[]> {
  const around = await surroundings(stores, viewer, schedules);
  return schedules.map((schedule) => scheduleItem(schedule, around));
}

async function surroundings(
  { environments, people }: Stores,
  viewer: Viewer,
  schedules: readonly Schedule[],
) {
  const ids = new Set(schedules.flatMap(({ creatorId, lastEditorId }) => [creatorId, lastEditorId]));
  const found: readonly Principal[] = ids.size === 0 ? [] : await people.getMany([...ids]);
  const isInOne = schedules.some(({ config }) => config.environment_id !== undefined);
  const all: readonly Environment[] = isInOne ? await environments.list(viewer.teamId) : [];
  const open = all.filter((environment) => isOpenTo(environment, viewer));
  return {
    people: new Map(found.map((principal) => [principal.id, principal])),
    environments: new Map(open.map((environment) => [environment.id, environment])),
  };
}
