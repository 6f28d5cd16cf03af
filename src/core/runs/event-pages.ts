import type { RunId } from "../ids.ts";
import type { RunEvent, RunEventKind } from "./events.ts";
import type { RunStore } from "./run-store.ts";

/** A page ends with the event that reaches this, in bytes of JSON: one may hold some hundred thousand, and a page hundreds. */
export const EVENTS_LENGTH_MAX = 2 ** 20;
const PAGE = 200;

/** Where a reading of a log begins and ends. */
export interface LogPart {
  readonly id: RunId;
  /** The number of the last event that is told. */
  readonly lastSeq: number;
  /** The number of the event behind which it begins. Default: the whole log. */
  readonly after?: number;
  readonly kinds?: readonly RunEventKind[];
}

/** The log of a run as it stood when `lastSeq` was read, page by page: however long it is, little of it is held at once. */
export async function* eventPages(
  runs: Pick<RunStore, "readEvents">,
  { id, lastSeq, after = 0, kinds }: LogPart,
): AsyncGenerator<readonly RunEvent[]> {
  for (let seen = after; seen < lastSeq; ) {
    const page = await runs.readEvents(id, seen, PAGE, kinds);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.filter(({ seq }) => seq <= lastSeq);
    seen = last.seq;
  }
}
