import type { RunId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { News } from "../../core/ports/news.ts";
import type { RunEvent } from "../../core/runs/events.ts";
import { isEnded } from "../../core/runs/states.ts";
import { Doorbell } from "./doorbell.ts";
import type { SharedLooks } from "./shared-looks.ts";

const PAGE = 200;

export interface Following {
  readonly runId: RunId;
  readonly viewer: Viewer;
  readonly after: number;
  /** Goes on when the run has ended: a follow-up takes it up again. */
  readonly follow: boolean;
  readonly pollMs: number;
  readonly signal: AbortSignal;
}

export interface FollowParts {
  readonly looks: SharedLooks;
  readonly news: News;
}

/**
 * A run's events from `after` on, each once and in order, until the run has ended and all was told. News is only
 * a hint to look at once: what is told comes from the log, by sequence number.
 */
export async function* followLog(
  { looks, news }: FollowParts,
  { signal, ...following }: Following,
): AsyncGenerator<RunEvent> {
  const bell = new Doorbell();
  const ring = (): void => bell.ring();
  const silence = news.on(`run:${following.runId}`, () => {
    looks.forget(following.runId);
    ring();
  });
  signal.addEventListener("abort", ring);
  try {
    for await (const event of readOn(looks, following, bell)) {
      if (signal.aborted) return;
      if (event !== undefined) yield event;
    }
  } finally {
    signal.removeEventListener("abort", ring);
    silence();
  }
}

/** Yields undefined after each wait, so that the caller can look whether anybody still listens. */
async function* readOn(
  looks: SharedLooks,
  { runId, viewer, after, follow, pollMs }: Omit<Following, "signal">,
  bell: Doorbell,
): AsyncGenerator<RunEvent | undefined> {
  let seen = after;
  while (true) {
    const { state, lastSeq } = await looks.get(runId, viewer);
    if (lastSeq > seen) {
      const events = await looks.readEvents(runId, seen, PAGE);
      yield* events;
      seen = events.at(-1)?.seq ?? seen;
      continue;
    }
    if (isEnded(state) && !follow) return;
    await bell.wait(pollMs);
    yield undefined;
  }
}
