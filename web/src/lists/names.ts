import { useQuery } from "@tanstack/react-query";
import { environmentsQuery, principalsQuery } from "../server/queries.ts";

/** The names of environments, people and programs, by uid. */
export function useNames(): ReadonlyMap<string, string> {
  const { data: environments } = useQuery(environmentsQuery);
  const { data: principals } = useQuery(principalsQuery);
  return new Map([
    ...(environments?.environments ?? []).map(({ uid, config }) => [uid, config.name] as const),
    ...(principals?.principals ?? []).map(
      ({ uid, display_name: name, email }) => [uid, name ?? email ?? uid] as const,
    ),
  ]);
}
