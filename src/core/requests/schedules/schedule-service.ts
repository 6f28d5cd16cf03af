import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId, type PrincipalId } from "../../basics/ids.ts";
import { isOpenTo, ownedOf } from "../../model/people/ownership.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { type NextDue, type Schedule, timed } from "../../model/schedules/schedule.ts";
import type { DueSchedule } from "../../ports/stores/due-schedules.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { requireEnvironment } from "../../team/records/environment-service.ts";
import { requireWithinLimits } from "../../team/records/record-limits.ts";
import { findExecutingAgent } from "../prepare/find-executing-agent.ts";
import { requireTeamMcpServers } from "../prepare/requirements.ts";
import { requireAmong } from "../prepare/secret-list.ts";

export interface ScheduleDeps {
  readonly storage: Pick<
    Storage,
    "dueSchedules" | "environments" | "mcpServers" | "namedAgents" | "now" | "people" | "schedules" | "teams"
  >;
  readonly clock: Clock;
  readonly nextDue: NextDue;
}

export type ScheduleEdit = Pick<
  Schedule,
  "agentUid" | "config" | "cron" | "enabled" | "metadata" | "mode" | "name" | "prompt"
>;
export type NewSchedule = ScheduleEdit & Pick<Schedule, "teamOwned">;

/** Manages schedules. Writes run inside a transaction, so that a schedule does not fire in between. */
export class ScheduleService {
  readonly #deps: ScheduleDeps;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
  }

  async list(viewer: Viewer): Promise<readonly Schedule[]> {
    const all = await this.#deps.storage.schedules.list(viewer.teamId);
    return all.filter((schedule) => isOpenTo(ownedOf(schedule), viewer)).toSorted(byName);
  }

  async get(viewer: Viewer, id: string): Promise<Schedule> {
    const schedule = await this.#deps.storage.schedules.find(viewer.teamId, id);
    if (schedule === undefined || !isOpenTo(ownedOf(schedule), viewer)) {
      throw unknown();
    }
    return schedule;
  }

  async create(viewer: Viewer, request: NewSchedule): Promise<Schedule> {
    const { clock, nextDue, storage } = this.#deps;
    const now = clock.now();
    const due = { now: await storage.now(), nextDue };
    this.#requireDue(request.cron, due.now);
    const whose = { teamId: viewer.teamId, creatorId: viewer.id, lastEditorId: viewer.id };
    const record = { id: newId(now), ...whose, ...request, createdAt: now, updatedAt: now };
    await this.#requireNamed(record);
    const schedule = timed(record, undefined, due);
    await requireWithinLimits(storage, "schedules", schedule);
    await storage.schedules.add(schedule);
    await this.#enqueue(schedule);
    return schedule;
  }

  async replace(viewer: Viewer, id: string, edit: ScheduleEdit): Promise<Schedule> {
    this.#requireDue(edit.cron, await this.#deps.storage.now());
    return this.#edit(viewer, id, edit, ({ agentUid: _agentUid, mode: _mode, ...others }) => others);
  }

  async pause(viewer: Viewer, id: string): Promise<Schedule> {
    return this.#edit(viewer, id, { enabled: false });
  }

  async resume(viewer: Viewer, id: string): Promise<Schedule> {
    return this.#edit(viewer, id, { enabled: true });
  }

  async remove(viewer: Viewer, id: string): Promise<void> {
    const { schedule } = await this.#lock(viewer, id);
    await this.#deps.storage.schedules.remove(schedule.teamId, id);
  }

  /** `keep` returns what the edit does not replace. */
  async #edit(
    viewer: Viewer,
    id: string,
    edit: Partial<ScheduleEdit>,
    keep: (before: Schedule) => Schedule = (before) => before,
  ): Promise<Schedule> {
    const { clock, nextDue, storage } = this.#deps;
    const { now, schedule: before } = await this.#lock(viewer, id);
    const edited = { ...keep(before), ...edit };
    if (isSame(edited, before)) {
      return before;
    }
    if (edit.config !== undefined) {
      await this.#requireNamed(edited);
      await requireWithinLimits(storage, "schedules", edited);
    }
    const signed = { ...edited, lastEditorId: viewer.id, updatedAt: clock.now() };
    const schedule = timed(signed, before, { now, nextDue });
    await storage.schedules.replace(schedule);
    await this.#enqueue(schedule);
    return schedule;
  }

  /**
   * Runs of a schedule belong to its creator and use the creator's secrets. So only the creator and administrators
   * may change it.
   */
  async #lock(viewer: Viewer, id: string): Promise<DueSchedule> {
    const locked = await this.#deps.storage.dueSchedules.lock(id);
    if (locked === undefined || !isOpenTo(ownedOf(locked.schedule), viewer)) {
      throw unknown();
    }
    if (mayChange(locked.schedule.creatorId, viewer)) {
      return locked;
    }
    throw new AppError("not_authorized", "A schedule is changed by its creator and by administrators.", {
      remedy: "Ask one of them, or make a schedule of your own.",
    });
  }

  /**
   * The check uses the creator, also when another user edits the schedule: its runs belong to the creator and never have
   * administrator rights.
   */
  async #requireNamed({ agentUid, config, creatorId, teamId }: Schedule): Promise<void> {
    const { storage } = this.#deps;
    const creator = { id: creatorId, teamId, administrator: false };
    if (config.environment_id !== undefined) {
      await requireEnvironment(storage.environments, creator, config.environment_id);
    }
    await requireTeamMcpServers(storage.mcpServers, teamId, config, "agent_config");
    const [principal] = await storage.people.getMany([creatorId]);
    const agent = await findExecutingAgent(
      storage,
      { ...creator, ...defined({ type: principal ? principal.type : undefined }) },
      agentUid,
    );
    requireAmong(agent?.secretNames ?? [], { config }, "agent_config");
  }

  async #enqueue({ id, nextRunAt }: Schedule): Promise<void> {
    if (nextRunAt !== undefined) {
      await this.#deps.storage.dueSchedules.enqueue(id, nextRunAt);
    }
  }

  #requireDue(cron: string, now: Date): void {
    if (this.#deps.nextDue(cron, now) !== undefined) {
      return;
    }
    const message =
      "must be five fields of a cron expression (minute, hour, day of month, month, day of week; UTC) that comes due";
    throw invalidMember("cron_schedule", message);
  }
}

function mayChange(creatorId: PrincipalId, viewer: Viewer): boolean {
  return viewer.administrator || creatorId === viewer.id;
}

/** A repeated pause or resume changes nothing, not even the last editor. */
function isSame(schedule: Schedule, before: Schedule): boolean {
  return JSON.stringify(schedule) === JSON.stringify(before);
}

function byName(a: Schedule, b: Schedule): number {
  const [left, right] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (left !== right) {
    return left < right ? -1 : 1;
  }
  return a.id < b.id ? -1 : 1;
}

function unknown(): AppError {
  return new AppError("resource_not_found", "There is no such schedule.");
}
