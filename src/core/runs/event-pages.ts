import type { RunId } from "../basics/ids.ts";
import type { RunEvent, RunEventKind } from "../model/runs/events.ts";
import type { RunStore } from "../ports/stores/run-store.ts";

/**
 * A page ends with the event that reaches this size, in bytes of JSON. A single event may have several hundred
 * thousand bytes.
 */
export const EVENTS_LENGTH_MAX = 2 ** 20;
const PAGE = 200;

/** The part of a log to read. */
export interface LogPart {
  readonly id: RunId;
  /** The sequence number of the last event to read. */
  readonly lastSeq: number;
  /** The sequence number before the first event to read. Default: the whole log. */
  readonly after?: number;
  readonly kinds?: readonly RunEventKind[];
}

/** Reads the log of a run up to `lastSeq`, page by page, so that a long log is never in memory as a whole. */
export async function* eventPages(
  runs: Pick<RunStore, "readEvents">,
  { id, lastSeq, after = 0, kinds }: LogPart,
): AsyncGenerator<readonly RunEvent[]> {
  for (let lastRead = after; lastRead < lastSeq; ) {
    const page = await runs.readEvents(id, lastRead, PAGE, kinds);
    const last = page.at(-1);
    if (last === undefined) {
      return;
    }
    yield page.filter(({ seq }) => seq <= lastSeq);
    lastRead = last.seq;
  }
}
