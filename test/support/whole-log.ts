import type { RunId } from "../../src/core/basics/ids.ts";
import type { RunEvent } from "../../src/core/model/runs/events.ts";
import type { RunStore } from "../../src/core/ports/stores/run-store.ts";
import { eventPages } from "../../src/core/runs/event-pages.ts";

/** All events of a run, read page by page. */
export async function wholeLog(runs: Pick<RunStore, "readEvents">, id: RunId): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const page of eventPages(runs, { id, lastSeq: Infinity })) {
    events.push(...page);
  }
  return events;
}
