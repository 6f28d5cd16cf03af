import type { Schedule } from "./schedule.ts";

/** Schedules as their firing sees them, by the database's clock: those of the processes may differ. */
export interface DueSchedules {
  /** The schedule, locked until the transaction ends: within one, nobody else changes or fires it meanwhile. */
  lock(id: string): Promise<DueSchedule | undefined>;
  /** Stores the job that fires it at `at`. */
  ring(id: string, at: Date): Promise<void>;
  /** Those whose time has come and whose job did not fire them. */
  list(limit: number): Promise<readonly string[]>;
}

export interface DueSchedule {
  readonly schedule: Schedule;
  readonly now: Date;
  readonly isDue: boolean;
}
