import type { Schedule } from "../core/model/schedules/schedule.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import type { Statements } from "./database.ts";
import type { Schedule as ScheduleRow } from "./generated/client.ts";
import { PrismaRecordStore } from "./record-store.ts";
import { scheduleColumns, scheduleOf } from "./schedule-rows.ts";

export function createScheduleStore(database: Statements): RecordStore<Schedule> {
  return new PrismaRecordStore<Schedule, ScheduleRow, ReturnType<typeof scheduleColumns>>(database, {
    table: (client) => client.schedule,
    columnsOf: scheduleColumns,
    recordOf: scheduleOf,
  });
}
