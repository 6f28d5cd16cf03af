import type { ListRunsQuery, RunSourceType, RunState } from "@errand/client";
import { OFFERED_SOURCES } from "../parts/source.ts";
import { RUNNING_STATES, STATES } from "../parts/state.tsx";

export type RunsView = "mine" | "needs" | "running" | "all";

export const VIEWS: readonly { readonly id: RunsView; readonly name: string }[] = [
  { id: "mine", name: "Mine" },
  { id: "needs", name: "Needs you" },
  { id: "running", name: "Running" },
  { id: "all", name: "All" },
];

/** The filters of the list, as they stand in the address. */
export interface RunsSearch {
  readonly view?: Exclude<RunsView, "all">;
  readonly q?: string;
  readonly state?: RunState;
  readonly source?: RunSourceType;
  readonly environment?: string;
  readonly since?: "day" | "week" | "month";
}

/** Reads the filters from an address. What is not understood is left out. */
export function runsSearch(query: Readonly<Record<string, unknown>>): RunsSearch {
  const { view, q, state, source, environment, since } = query;
  return {
    ...(view === "mine" || view === "needs" || view === "running" ? { view } : {}),
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(typeof state === "string" && state in STATES ? { state: state as RunState } : {}),
    ...(OFFERED_SOURCES.includes(source as RunSourceType) ? { source: source as RunSourceType } : {}),
    ...(typeof environment === "string" && environment !== "" ? { environment } : {}),
    ...(since === "day" || since === "week" || since === "month" ? { since } : {}),
  };
}

const SINCE_DAYS = { day: 1, week: 7, month: 30 } as const;
const DAY_MS = 86_400_000;

/** Returns the request for the filters. `me` is the uid of the user. */
export function runsFilter(
  { view, q, state, source, environment, since }: RunsSearch,
  me: string,
): ListRunsQuery {
  const states: RunState[] | undefined =
    state !== undefined
      ? [state]
      : view === "needs"
        ? ["BLOCKED"]
        : view === "running"
          ? [...RUNNING_STATES]
          : undefined;
  // Rounded to the hour, so that the same filter is the same request.
  const from =
    since && new Date(Math.floor((Date.now() - SINCE_DAYS[since] * DAY_MS) / 3_600_000) * 3_600_000);
  return {
    ...(states && { state: states }),
    ...(view === "mine" ? { creator: me } : {}),
    ...(q && { q }),
    ...(source && { source }),
    ...(environment && { environment_id: environment }),
    ...(from && { created_after: from.toISOString() }),
  };
}
