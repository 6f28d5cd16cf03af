import type { KeyedSemaphore } from "../../core/basics/keyed-semaphore.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { EventLogPosition } from "../../core/ports/stores/event-log.ts";
import type { ApiDeps } from "../api-deps.ts";
import { ChangeSignal } from "./change-signal.ts";
import { loggedEventText } from "./event-text.ts";
import type { LogCursors } from "./log-cursor.ts";

const PAGE = 200;
/** The wait for events that are held back until an earlier transaction ends. */
const HELD_BACK_MS = 25;

export interface FollowingAll {
  readonly viewer: Viewer;
  readonly after: EventLogPosition;
  readonly pollMs: number;
  readonly signal: AbortSignal;
  readonly cursors: Pick<LogCursors, "encode">;
  /**
   * Lets each principal read one page at a time, however many streams it has. A stream of a principal that sees few
   * runs reads page after page without a pause, and would otherwise keep the database from other callers.
   */
  readonly reads: KeyedSemaphore;
}

/** Yields the events of all runs that the viewer can see, behind `after`, each once and in the order of the log. */
export async function* followAll(
  { storage, pubsub }: Pick<ApiDeps, "storage" | "pubsub">,
  { after, cursors, pollMs, reads, signal, viewer }: FollowingAll,
): AsyncGenerator<string> {
  const changes = new ChangeSignal();
  const notify = (): void => changes.notify();
  const unsubscribe = pubsub.subscribe(CHANNELS.log, notify);
  signal.addEventListener("abort", notify);
  let position = after;
  try {
    while (!signal.aborted) {
      const page = await reads.pass(viewer.id, () => storage.eventLog.read(position, PAGE, viewer));
      for (const logged of page.events) {
        yield loggedEventText(logged, cursors);
      }
      position = page.next;
      if (!page.hasMore) {
        await changes.wait(page.isHeldBack ? HELD_BACK_MS : pollMs);
      }
    }
  } finally {
    signal.removeEventListener("abort", notify);
    unsubscribe();
  }
}
