import type { ListRunsResponse } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { OFFERED_SOURCES, sourceOf } from "../parts/source.ts";
import { STATES } from "../parts/state.tsx";
import {
  catalogueQuery,
  environmentsQuery,
  namedAgentsQuery,
  principalsQuery,
  queries,
} from "../server/queries.ts";
import type { FilterOption, UseOptions } from "./filter.tsx";
import { type RunsSearch, SORTS } from "./runs-search.ts";

const SINCE = { day: "Last day", week: "Last week", month: "Last month" } as const;

const SOURCES = OFFERED_SOURCES.map((id) => ({ id, name: sourceOf(id).name }));

export interface FilterPlace {
  readonly key: Exclude<keyof RunsSearch, "q" | "view" | "layout">;
  readonly name: string;
  /** Stands below "More filters" until it has a value. */
  readonly isRare?: true;
  readonly useOptions: UseOptions;
}

export const FILTERS: readonly FilterPlace[] = [
  { key: "state", name: "State", useOptions: fixed(STATES, ({ word }) => word) },
  { key: "person", name: "Person", useOptions: usePeople },
  { key: "repository", name: "Repository", useOptions: useRepositories },
  { key: "source", name: "Source", isRare: true, useOptions: () => SOURCES },
  { key: "environment", name: "Environment", isRare: true, useOptions: useEnvironments },
  { key: "agent", name: "Agent", isRare: true, useOptions: useAgents },
  { key: "model", name: "Model", isRare: true, useOptions: useModels },
  { key: "since", name: "Created", isRare: true, useOptions: fixed(SINCE, (name) => name) },
  { key: "sort", name: "Sort", useOptions: fixed(SORTS, ({ name }) => name) },
];

function fixed<Value>(values: Readonly<Record<string, Value>>, nameOf: (value: Value) => string) {
  const options = Object.entries(values).map(([id, value]) => ({ id, name: nameOf(value) }));
  return () => options;
}

function usePeople(enabled: boolean): ReturnType<UseOptions> {
  const { data } = useQuery({ ...principalsQuery, enabled });
  return data?.principals.map(({ uid, display_name: name, email }) => ({
    id: uid,
    name: name ?? email ?? uid,
  }));
}

function useEnvironments(enabled: boolean): ReturnType<UseOptions> {
  const { data } = useQuery({ ...environmentsQuery, enabled });
  return data?.environments.map(({ uid, config }) => ({ id: uid, name: config.name }));
}

function useAgents(enabled: boolean): ReturnType<UseOptions> {
  const { data } = useQuery({ ...namedAgentsQuery, enabled });
  return data?.agents.map(({ uid, name }) => ({ id: uid, name }));
}

function useModels(enabled: boolean): ReturnType<UseOptions> {
  const { data } = useQuery({ ...catalogueQuery, enabled });
  return data && distinct(data.agents.flatMap(({ models }) => models.map(({ id }) => id)));
}

/** The repositories of the environments, and those of the runs that the browser has read. */
function useRepositories(enabled: boolean): ReturnType<UseOptions> {
  const { data } = useQuery({ ...environmentsQuery, enabled });
  const ofEnvironments = (data?.environments ?? []).flatMap(({ config }) =>
    (config.github_repos ?? []).map(({ owner, repo }) => `${owner}/${repo}`),
  );
  const lists = enabled
    ? queries.getQueriesData<{ readonly pages?: readonly ListRunsResponse[] }>({ queryKey: ["runs"] })
    : [];
  const ofRuns = lists
    .flatMap(([, list]) => list?.pages ?? [])
    .flatMap(({ runs }) => runs.flatMap(({ agent_config: config }) => config?.repository ?? []));
  return data && distinct([...ofEnvironments, ...ofRuns].toSorted());
}

function distinct(values: readonly string[]): readonly FilterOption[] {
  return [...new Set(values)].map((id) => ({ id, name: id }));
}
