import { useQuery } from "@tanstack/react-query";
import { needsReader } from "../parts/deciders.ts";
import { RUNNING_STATES } from "../parts/state.tsx";
import { client } from "../server/client.ts";
import type { RunsView } from "./runs-search.ts";

/** More are not counted. */
const COUNTED = 100;

/** How many runs the views contain, as text. Only views are counted in which a number calls for an action. */
export function useViewCounts(): Readonly<Partial<Record<RunsView, string>>> {
  const { data } = useQuery({
    queryKey: ["runs", "counts"],
    queryFn: ({ signal }) => client.runs.list({ state: [...RUNNING_STATES], limit: COUNTED }, { signal }),
  });
  if (data === undefined) {
    return {};
  }
  const { runs, page_info } = data;
  const more = page_info.has_next_page ? "+" : "";
  const needs = runs.filter(needsReader).length;
  return { needs: `${needs}${needs === 0 ? "" : more}`, running: `${runs.length}${more}` };
}
