import type { Viewer } from "../../core/people/principal.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { EventLogPosition } from "../../core/runs/event-log.ts";
import type { ApiDeps } from "../api-deps.ts";
import { ChangeSignal } from "./change-signal.ts";
import { loggedEventText } from "./event-text.ts";

const PAGE = 200;
/** What cannot show yet waits for a transaction that is about to end. */
const HELD_BACK_MS = 25;

export interface FollowingAll {
  readonly viewer: Viewer;
  readonly after: EventLogPosition;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/** The events of all runs the viewer sees, behind `after` and on, each once and in the log's order. */
export async function* followAll(
  { storage, pubsub }: Pick<ApiDeps, "storage" | "pubsub">,
  { after, pollMs, signal, viewer }: FollowingAll,
): AsyncGenerator<string> {
  const bell = new ChangeSignal();
  const ring = (): void => bell.ring();
  const silence = pubsub.subscribe(CHANNELS.log, ring);
  signal.addEventListener("abort", ring);
  let seen = after;
  try {
    while (!signal.aborted) {
      const page = await storage.log.read(seen, PAGE, viewer);
      for (const logged of page.events) yield loggedEventText(logged);
      seen = page.next;
      if (!page.hasMore) await bell.wait(page.isHeldBack ? HELD_BACK_MS : pollMs);
    }
  } finally {
    signal.removeEventListener("abort", ring);
    silence();
  }
}
