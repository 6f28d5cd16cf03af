import type { Viewer } from "../../core/people/principal.ts";
import type { LogPlace } from "../../core/ports/event-log.ts";
import { TOPICS } from "../../core/ports/news.ts";
import type { ApiParts } from "../api-parts.ts";
import { Doorbell } from "./doorbell.ts";
import { loggedEventText } from "./event-text.ts";

const PAGE = 200;
/** What cannot show yet waits for a transaction that is about to end. */
const HELD_BACK_MS = 25;

export interface FollowingAll {
  readonly viewer: Viewer;
  readonly after: LogPlace;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

/** The events of all runs the viewer sees, behind `after` and on, each once and in the log's order. */
export async function* followAll(
  { storage, news }: Pick<ApiParts, "storage" | "news">,
  { after, pollMs, signal, viewer }: FollowingAll,
): AsyncGenerator<string> {
  const bell = new Doorbell();
  const ring = (): void => bell.ring();
  const silence = news.on(TOPICS.log, ring);
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
