import type { RunItem, RunState } from "@errand/client";
import { needsReader } from "../parts/deciders.ts";
import { hasEnded } from "../parts/state.tsx";
import type { RunsSearch } from "./runs-search.ts";
import type { Lists } from "./use-runs.ts";

export interface RunsGroup {
  readonly name: string;
  readonly runs: readonly RunItem[];
}

type Known = Pick<Lists, "active" | "ended">;

/** The columns of the board behind those that wait for a person. */
const COLUMNS: readonly (readonly [name: string, ...states: RunState[]])[] = [
  ["Waiting", "QUEUED", "PENDING", "CLAIMED"],
  ["Working", "INPROGRESS"],
  ["Failed", "FAILED", "ERROR"],
  ["Done", "SUCCEEDED"],
  ["Stopped", "CANCELLED"],
];

/** The runs as the page shows them: what needs the user stands first. */
export function groupsOf({ active, ended }: Known, { layout, sort }: RunsSearch): readonly RunsGroup[] {
  const running = active.filter(({ state }) => !hasEnded(state));
  const blocked = running.filter(({ state }) => state === "BLOCKED");
  const waiting = [
    { name: "Needs you", runs: blocked.filter(needsReader) },
    { name: "Needs another person", runs: blocked.filter((run) => !needsReader(run)) },
  ];
  if (layout === "board") {
    const all = [...running, ...ended];
    return [
      ...waiting,
      ...COLUMNS.map(([name, ...states]) => ({
        name,
        runs: all.filter(({ state }) => states.includes(state)),
      })),
    ];
  }
  return [
    ...waiting,
    { name: "Running", runs: running.filter(({ state }) => state !== "BLOCKED") },
    ...(sort === undefined ? byDay(ended) : [{ name: "Ended", runs: ended }]),
  ];
}

/** Another order mixes the days. */
function byDay(ended: readonly RunItem[]): readonly RunsGroup[] {
  return [
    { name: "Ended today", runs: ended.filter(({ updated_at: at }) => isToday(at)) },
    { name: "Earlier", runs: ended.filter(({ updated_at: at }) => !isToday(at)) },
  ];
}

function isToday(time: string): boolean {
  return new Date(time).toDateString() === new Date().toDateString();
}
