import type { RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { pullRequestUrl } from "../parts/pull-request.tsx";
import { client } from "../server/client.ts";
import { queries } from "../server/queries.ts";

const EVERY_MS = 60_000;
/** After a look at the run, the server has read the platform by then. */
const SOON_MS = 3_000;

/**
 * A list has the stored status of pull requests. To look at a run makes the server ask the platform, so this is done only
 * while the row is on the screen, and once a minute. The second look has what the platform said.
 */
export function useOpenPullRequest(run: RunItem, row: RefObject<HTMLElement | null>): void {
  const { pull_request_status: status, run_id: id } = run;
  const isOpen =
    pullRequestUrl(run) !== undefined && status?.state !== "merged" && status?.state !== "closed";
  const isOnScreen = useIsOnScreen(row, isOpen);
  const { data } = useQuery({
    queryKey: ["open pull request", id],
    queryFn: async ({ signal }) => textOf(await client.runs.retrieve(id, { signal })),
    enabled: isOpen && isOnScreen,
    staleTime: EVERY_MS,
    refetchInterval: ({ state }) => (state.dataUpdateCount % 2 === 1 ? SOON_MS : EVERY_MS),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: The list may have a newer status than the last look.
  useEffect(() => {
    if (data !== undefined && data !== textOf(run)) {
      void queries.invalidateQueries({ queryKey: ["runs"] });
    }
  }, [data]);
}

function textOf({ pull_request_status: status }: RunItem): string {
  return status === undefined ? "" : JSON.stringify([status.url, status.state, Object.values(status.checks)]);
}

function useIsOnScreen(row: RefObject<HTMLElement | null>, isWanted: boolean): boolean {
  const [isOnScreen, setOnScreen] = useState(false);
  useEffect(() => {
    if (row.current === null || !isWanted) {
      return;
    }
    const observer = new IntersectionObserver((entries) =>
      setOnScreen(entries.at(-1)?.isIntersecting === true),
    );
    observer.observe(row.current);
    return () => observer.disconnect();
  }, [row, isWanted]);
  return isOnScreen;
}
