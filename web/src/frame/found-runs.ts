import type { ListRunsQuery, RunItem } from "@errand/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { client } from "../server/client.ts";

/** So many runs are read at once, and searched without a request. */
const RECENT = 50;
const SHOWN = 6;
const PAUSE_MS = 150;
const REPOSITORY = /^[^\s/]+\/[^\s/]+$/;

interface FoundRuns {
  readonly runs: readonly RunItem[];
  readonly isSearching: boolean;
  readonly error: Error | null;
}

/**
 * The runs of which the text is a part of the title, the id or the repository, the last changed first. Behind them
 * stands what the server finds in all runs; it finds a repository only by its full name. Without a text: the last ones.
 */
export function useFoundRuns(text: string): FoundRuns {
  const words = text.trim();
  const settled = useSettled(words);
  const recent = useRuns({ limit: RECENT }, true);
  const found = useRuns(
    { limit: SHOWN, ...(REPOSITORY.test(settled) ? { repository: settled } : { q: settled }) },
    settled !== "",
  );
  const near = (recent.data?.runs ?? []).filter((run) => hasWords(run, words)).slice(0, SHOWN);
  // What was found with other words does not stay.
  const far = words === "" || words !== settled ? [] : (found.data?.runs ?? []);
  const others = far.filter(({ run_id: id }) => !near.some((run) => run.run_id === id));
  return {
    runs: [...near, ...others],
    isSearching: recent.isFetching || words !== settled || found.isFetching,
    error: recent.error ?? (words === settled ? found.error : null),
  };
}

/** Not below the key of the runs: the list does not change while a person chooses from it. */
function useRuns(query: ListRunsQuery, enabled: boolean) {
  return useQuery({
    queryKey: ["commands", query],
    queryFn: ({ signal }) => client.runs.list(query, { signal }),
    enabled,
    gcTime: 0,
  });
}

function hasWords({ agent_config: config, run_id: id, title }: RunItem, words: string): boolean {
  const text = [title, id, config?.repository].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The text, once nothing was typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
