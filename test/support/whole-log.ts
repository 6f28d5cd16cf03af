import type { RunId } from "../../src/core/ids.ts";
import { eventPages } from "../../src/core/runs/event-pages.ts";
import type { RunEvent } from "../../src/core/runs/events.ts";
import type { RunStore } from "../../src/core/runs/run-store.ts";

/** All events of a run, read page by page. */
export async function wholeLog(runs: Pick<RunStore, "readEvents">, id: RunId): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const page of eventPages(runs, { id, lastSeq: Infinity })) {
    events.push(...page);
  }
  return events;
}
