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

/** The orders other than the default, in which the last changed run stands first. */
export const SORTS = {
  newest: { name: "Newest", query: { sort_by: "created_at", sort_order: "desc" } },
  oldest: { name: "Oldest", query: { sort_by: "created_at", sort_order: "asc" } },
  title: { name: "Title", query: { sort_by: "title", sort_order: "asc" } },
  agent: { name: "Agent", query: { sort_by: "agent", sort_order: "asc" } },
} as const;

/** The filters of the list, as they stand in the address. */
export interface RunsSearch {
  readonly view?: Exclude<RunsView, "all">;
  readonly q?: string;
  readonly state?: RunState;
  readonly source?: RunSourceType;
  /** The uid of the member who started the run. */
  readonly person?: string;
  readonly repository?: string;
  readonly environment?: string;
  /** The uid of the named agent that executes the run. */
  readonly agent?: string;
  readonly model?: string;
  readonly since?: "day" | "week" | "month";
  readonly sort?: keyof typeof SORTS;
  readonly layout?: "board";
}

const TEXTS = ["q", "person", "repository", "environment", "agent", "model"] as const;

/** Reads the filters from an address. What is not understood is left out. */
export function runsSearch(query: Readonly<Record<string, unknown>>): RunsSearch {
  const { layout, view, state, source, since, sort } = query;
  const texts = TEXTS.filter((key) => typeof query[key] === "string" && query[key] !== "");
  return {
    ...Object.fromEntries(texts.map((key) => [key, query[key]])),
    ...(view === "mine" || view === "needs" || view === "running" ? { view } : {}),
    ...(typeof state === "string" && state in STATES ? { state: state as RunState } : {}),
    ...(OFFERED_SOURCES.includes(source as RunSourceType) ? { source: source as RunSourceType } : {}),
    ...(since === "day" || since === "week" || since === "month" ? { since } : {}),
    ...(typeof sort === "string" && Object.hasOwn(SORTS, sort) ? { sort: sort as keyof typeof SORTS } : {}),
    ...(layout === "board" ? { layout } : {}),
  };
}

const SINCE_DAYS = { day: 1, week: 7, month: 30 } as const;
const DAY_MS = 86_400_000;

/** Returns the request for the filters. `me` is the uid of the user. */
export function runsFilter(search: RunsSearch, me: string): ListRunsQuery {
  const { view, q, source, repository, environment, agent, model, since, sort } = search;
  const states = statesOf(search);
  const creator = view === "mine" ? me : search.person;
  // Rounded to the hour, so that the same filter is the same request.
  const from =
    since && new Date(Math.floor((Date.now() - SINCE_DAYS[since] * DAY_MS) / 3_600_000) * 3_600_000);
  return {
    ...(states && { state: states }),
    ...(creator && { creator }),
    ...(q && { q }),
    ...(source && { source }),
    ...(repository && { repository }),
    ...(environment && { environment_id: environment }),
    ...(agent && { executor: agent }),
    ...(model && { model_id: model }),
    ...(from && { created_after: from.toISOString() }),
    ...(sort && SORTS[sort].query),
  };
}

function statesOf({ state, view }: RunsSearch): RunState[] | undefined {
  if (state !== undefined) {
    return [state];
  }
  if (view === "needs") {
    return ["BLOCKED"];
  }
  return view === "running" ? [...RUNNING_STATES] : undefined;
}
