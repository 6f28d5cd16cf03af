import type { Schedule } from "../../model/schedules/schedule.ts";

/** Finds due schedules by the database's clock, because the clocks of processes may differ. */
export interface DueSchedules {
  /** The schedule, locked until the transaction ends. */
  lock(id: string): Promise<DueSchedule | undefined>;
  /** Stores the job that fires the schedule at `at`. */
  enqueue(id: string, at: Date): Promise<void>;
  /** Schedules whose due time has passed without a job. Those of suspended creators wait and are left out. */
  list(limit: number): Promise<readonly string[]>;
}

export interface DueSchedule {
  readonly schedule: Schedule;
  readonly now: Date;
  readonly isDue: boolean;
}
