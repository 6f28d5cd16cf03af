import type { RunEvent } from "../../../../src/core/model/runs/events.ts";
import { EVENTS_LENGTH_MAX } from "../../../../src/core/runs/event-pages.ts";

/**
 * The events that fit into a page; always at least the first. An item for which `eventOf` returns undefined has no
 * length.
 */
export function withinLength<T>(
  page: readonly T[],
  eventOf: (item: T) => RunEvent | undefined,
): readonly T[] {
  let before = 0;
  const end = page.findIndex((item) => {
    if (before >= EVENTS_LENGTH_MAX) {
      return true;
    }
    const body = eventOf(item)?.body;
    if (body !== undefined) {
      before += Buffer.byteLength(JSON.stringify(body));
    }
    return false;
  });
  return end === -1 ? page : page.slice(0, end);
}
