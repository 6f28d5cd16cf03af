import type { RunItem } from "@errand/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { hasEnded, RUNNING_STATES } from "../parts/state.tsx";
import { runsQuery } from "../server/queries.ts";
import { type RunsSearch, runsFilter } from "./runs-search.ts";

const ENDED_STATES = (["SUCCEEDED", "FAILED", "ERROR", "CANCELLED"] as const).slice();
const NO_RUNS: readonly RunItem[] = [];

/** The runs that have not ended, and those that have. The list shows them when both are known, so that no row moves. */
export interface Lists {
  readonly active: readonly RunItem[];
  readonly ended: readonly RunItem[];
  readonly problem: Error | null;
  readonly isLoading: boolean;
  readonly isEmpty: boolean;
  readonly hasMore: boolean;
  readonly hasMoreEnded: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
  readonly retry: () => void;
}

/** `me` is the uid of the user. Nothing is read before it is known. */
export function useRuns(search: RunsSearch, me: string | undefined): Lists {
  const filter = runsFilter(search, me ?? "");
  const wantsRunning = filter.state === undefined || filter.state.some((state) => !hasEnded(state));
  const wantsEnded = filter.state === undefined || filter.state.some(hasEnded);
  const state = filter.state ?? [...RUNNING_STATES];
  const running = useInfiniteQuery({
    ...runsQuery({ sort_by: "created_at", ...filter, state, limit: 100 }),
    enabled: wantsRunning && me !== undefined,
  });
  const ended = useInfiniteQuery({
    ...runsQuery({ ...filter, state: filter.state ?? [...ENDED_STATES] }),
    enabled: wantsEnded && me !== undefined,
  });
  const active = running.data ?? NO_RUNS;
  const old = (wantsEnded && ended.data) || NO_RUNS;
  const problem = running.error ?? ended.error;
  const isPending =
    me === undefined || (wantsRunning && running.isPending) || (wantsEnded && ended.isPending);
  return {
    active,
    ended: old,
    problem,
    isLoading: isPending && problem === null,
    isEmpty: !isPending && problem === null && active.length + old.length === 0,
    hasMore: ended.hasNextPage || running.hasNextPage,
    hasMoreEnded: ended.hasNextPage,
    isReadingMore: ended.isFetchingNextPage || running.isFetchingNextPage,
    readMore: () => void (running.hasNextPage ? running.fetchNextPage() : ended.fetchNextPage()),
    retry: () => void Promise.all([running.refetch(), ended.refetch()]),
  };
}
