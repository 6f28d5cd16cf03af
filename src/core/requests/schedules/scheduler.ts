import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import { fired, type NextDue, type Schedule } from "../../model/schedules/schedule.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { NewRun } from "../prepare/new-run.ts";
import type { PreparedRun } from "../prepare/run-preparer.ts";
import type { RunService } from "../run-service.ts";

export interface SchedulerDeps {
  readonly storage: Pick<Storage, "atomically" | "dueSchedules" | "people">;
  readonly runs: RunService;
  readonly nextDue: NextDue;
  /** The address of a schedule. */
  readonly linkOf: (scheduleId: string) => string;
  readonly log: Log;
}

const ROUND_MAX = 100;

/** The outcome of a due time: a run that only has to be stored, or the reason why there is none. */
type Spawn = { readonly run: PreparedRun } | { readonly error: string; readonly waits?: true };

/** The schedule waits, because its creator may be let in again. */
class CreatorSuspended extends AppError {
  constructor() {
    super(
      "not_authorized",
      "The identity provider no longer confirms the creator of this schedule. The run starts when the creator signs in again.",
    );
  }
}

/** Starts runs at their due times. Several processes may do this at once; each due time fires once. */
export class Scheduler {
  readonly #deps: SchedulerDeps;
  #isBusy = false;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
  }

  /**
   * Fires due times whose job was lost. One round runs at a time, and a failing schedule does not block the others.
   */
  async round(): Promise<void> {
    if (this.#isBusy) {
      return;
    }
    this.#isBusy = true;
    try {
      for (const id of await this.#deps.storage.dueSchedules.list(ROUND_MAX)) {
        await this.#tryToFire(id);
      }
    } catch (error) {
      this.#deps.log.warn("schedules.query.failed", { error });
    } finally {
      this.#isBusy = false;
    }
  }

  /** Handles a `schedule` job. Can be repeated, because a schedule that is not due is left alone. */
  async fire(id: string): Promise<void> {
    const { log, storage } = this.#deps;
    const due = await storage.dueSchedules.lock(id);
    if (!due?.isDue) {
      return;
    }
    // Prepared outside of the transaction, because it may have to fetch a repository.
    const prepared = await this.#prepare(due.schedule);
    const store = (spawn: Spawn) =>
      storage
        .atomically((stores) => this.#fireOnce(stores, due.schedule, spawn))
        .then((isFired) => ({ isFired, spawn }));
    // Quotas are checked when the run is stored.
    const { isFired, spawn } = await store(prepared).catch((error: unknown) =>
      store({ error: finalText(error) }),
    );
    if (isFired) {
      log.info("schedule.fired", { scheduleId: id, ...outcomeOf(spawn) });
    }
  }

  async #tryToFire(scheduleId: string): Promise<void> {
    try {
      await this.fire(scheduleId);
    } catch (error) {
      this.#deps.log.warn("schedule.retried", { scheduleId, error });
    }
  }

  /**
   * Stores the next due time and the run in one transaction under the lock of the schedule, so that the due time
   * fires once. While the creator is suspended, the due time stays: it fires once, late, when the creator is back.
   */
  async #fireOnce(stores: Storage, planned: Schedule, spawn: Spawn): Promise<boolean> {
    const { nextDue, runs } = this.#deps;
    const due = await stores.dueSchedules.lock(planned.id);
    if (!due?.isDue || isEdited(due.schedule, planned)) {
      return false;
    }
    if ("run" in spawn) {
      await runs.within(stores).store(spawn.run);
    }
    const error = "error" in spawn ? spawn.error : undefined;
    if ("error" in spawn && spawn.waits === true) {
      await stores.schedules.replace({ ...due.schedule, lastSpawnError: spawn.error });
      return false;
    }
    const schedule = fired(due.schedule, error, { now: due.now, nextDue });
    await stores.schedules.replace(schedule);
    if (schedule.nextRunAt !== undefined) {
      await stores.dueSchedules.enqueue(schedule.id, schedule.nextRunAt);
    }
    return true;
  }

  async #prepare(schedule: Schedule): Promise<Spawn> {
    try {
      return { run: await this.#deps.runs.preparer.prepare(await this.#requestOf(schedule)) };
    } catch (error) {
      const text = finalText(error);
      return error instanceof CreatorSuspended ? { error: text, waits: true } : { error: text };
    }
  }

  /** No person watches the run start, so it never uses its creator's administrator rights. */
  async #requestOf(schedule: Schedule): Promise<NewRun> {
    const { agentUid, config, creatorId, cron, id, lastEditorId, metadata, mode, name, prompt, teamOwned } =
      schedule;
    const [creator] = await this.#deps.storage.people.getMany([creatorId]);
    if (creator?.disabled !== false) {
      throw creator?.suspendedAt === undefined
        ? new AppError("not_authorized", "The creator of this schedule is disabled.")
        : new CreatorSuspended();
    }
    const provenance = { schedule: { schedule_id: id, schedule_name: name, cron_schedule: cron } };
    const source = "SCHEDULED_AGENT";
    const about = {
      title: name,
      prompt,
      config,
      hasStoredConfig: true,
      metadata,
      teamOwned,
      provenance,
      ...defined({ mode, agentUid }),
    };
    const othersWrote = lastEditorId !== creatorId;
    const whose = { creator: { ...creator, administrator: false }, scheduleId: id, othersWrote };
    return { ...about, ...whose, source, triggerUrl: this.#deps.linkOf(id) };
  }
}

/** A temporary failure is thrown again: it is tried again, and the due time fires late. */
function finalText(error: unknown): string {
  if (!(error instanceof AppError) || error.retryable) {
    throw error;
  }
  return error.message;
}

/** A prepared run is discarded when the schedule was edited. The edited schedule has its own job. */
function isEdited(now: Schedule, planned: Schedule): boolean {
  return now.updatedAt.getTime() !== planned.updatedAt.getTime();
}

function outcomeOf(spawn: Spawn): Record<string, unknown> {
  return "run" in spawn ? { runId: spawn.run.definition.id } : { error: spawn.error };
}
