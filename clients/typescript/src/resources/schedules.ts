import type { ApiClient } from "../api-client.ts";
import type {
  ListSchedulesResponse,
  ScheduledAgentItem,
  ScheduleRequest,
  ScheduleUpdateRequest,
  Success,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Schedules: runs that start at times given by a cron expression. */
export class Schedules {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Creates a schedule. Its runs have your rights, except the administrator right.
   *
   * @example
   * await client.schedules.create({ name: "Nightly", cron_schedule: "0 3 * * *", prompt: "Update the dependencies" });
   */
  create(body: ScheduleRequest, options?: RequestOptions): ApiPromise<ScheduledAgentItem> {
    return this.#client.post("/agent/schedules", { ...options, body });
  }

  /** Gets a schedule. */
  retrieve(scheduleId: string, options?: RequestOptions): ApiPromise<ScheduledAgentItem> {
    return this.#client.get(path`/agent/schedules/${scheduleId}`, options);
  }

  /** Lists the schedules of the team. */
  list(options?: RequestOptions): ListPromise<ListSchedulesResponse, ScheduledAgentItem> {
    return this.#client.list("/agent/schedules", (page: ListSchedulesResponse) => page.schedules, options);
  }

  /** Replaces a schedule. */
  replace(
    scheduleId: string,
    body: ScheduleUpdateRequest,
    options?: RequestOptions,
  ): ApiPromise<ScheduledAgentItem> {
    return this.#client.put(path`/agent/schedules/${scheduleId}`, { ...options, body });
  }

  /** Deletes a schedule. Its runs are kept. */
  delete(scheduleId: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/schedules/${scheduleId}`, options);
  }

  /** Pauses a schedule. Pausing a paused one is not an error. */
  pause(scheduleId: string, options?: RequestOptions): ApiPromise<ScheduledAgentItem> {
    return this.#client.post(path`/agent/schedules/${scheduleId}/pause`, options);
  }

  /** Resumes a paused schedule. Due times during the pause are not made up. */
  resume(scheduleId: string, options?: RequestOptions): ApiPromise<ScheduledAgentItem> {
    return this.#client.post(path`/agent/schedules/${scheduleId}/resume`, options);
  }
}
