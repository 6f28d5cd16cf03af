import type { RunId } from "../../core/basics/ids.ts";
import type { Run } from "../../core/model/runs/run.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { ApiDeps } from "../api-deps.ts";
import { eventText } from "./event-text.ts";
import type { EventPage, FollowedSource, Follower } from "./follower.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type Audience, visibleLog } from "./visible-log.ts";

export type FollowDeps = Pick<ApiDeps, "runs" | "storage" | "pubsub">;

const PAGE = 200;
/** The maximum size of a piece, except for a single long event. Between pieces, a slow reader can be noticed. */
const PIECE_LENGTH = 2 ** 16;

/**
 * A run with all its followers in this process. A thousand followers need the same data at the same time. Therefore
 * they share one query of the run and one page of formatted events, and only followers with new events are notified.
 * Its life:
 *
 * 1. The first follower of a run creates it. It subscribes to the channel of the run, and polls beside that.
 * 2. Each notification reads the run once. Every follower compares it with what it has sent.
 * 3. A follower that is behind asks for the page after its position. Followers at the same position share the read.
 * 4. A failed read ends the streams of all followers, whose clients connect again.
 * 5. `FollowedRuns` closes it when the last follower has left.
 */
export class FollowedRun implements FollowedSource {
  readonly #deps: FollowDeps;
  readonly #id: RunId;
  readonly #followers = new Set<Follower>();
  /** The pages that are being read, by audience and start. */
  readonly #pages = new Map<string, Promise<EventPage>>();
  readonly #unsubscribe: () => void;
  readonly #poll: NodeJS.Timeout;
  #latest: Run | undefined;

  /** Reads the run at once, after each notification, and every `pollMs`, because notifications can be lost. */
  constructor(deps: FollowDeps, run: Run, pollMs: number) {
    this.#deps = deps;
    this.#id = run.id;
    this.#latest = run;
    const refresh = oneAtATime(() => this.#refresh());
    this.#unsubscribe = deps.pubsub.subscribe(CHANNELS.run(run.id), refresh);
    this.#poll = setInterval(refresh, pollMs);
    refresh();
  }

  get latest(): Run | undefined {
    return this.#latest;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** `run` may be newer or older than the one that this object has read. */
  join(follower: Follower, run: Run): void {
    this.#followers.add(follower);
    follower.consider(run, this);
    follower.consider(this.#latest, this);
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  readBehind(after: number, audience: Audience): Promise<EventPage> {
    const key = `${audience} ${after}`;
    const joined = this.#pages.get(key);
    if (joined !== undefined) {
      return joined;
    }
    const page = this.#read(after, audience).finally(() => this.#pages.delete(key));
    this.#pages.set(key, page);
    return page;
  }

  close(): void {
    clearInterval(this.#poll);
    this.#unsubscribe();
  }

  async #refresh(): Promise<void> {
    try {
      this.#latest = await this.#deps.storage.runs.find({ id: this.#id });
      for (const follower of this.#followers) {
        follower.consider(this.#latest, this);
      }
    } catch (error) {
      for (const follower of this.#followers) {
        follower.stream.fail(error);
      }
    }
  }

  async #read(after: number, audience: Audience): Promise<EventPage> {
    const events = await visibleLog(this.#deps.runs, audience).readEvents(this.#id, after, PAGE);
    return { pieces: piecesOf(events.map(eventText)), lastSeq: events.at(-1)?.seq };
  }
}

function piecesOf(texts: readonly string[]): readonly Uint8Array[] {
  const pieces: string[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + text.length <= PIECE_LENGTH) {
      pieces[pieces.length - 1] = last + text;
    } else {
      pieces.push(text);
    }
  }
  return pieces.map((piece) => Buffer.from(piece));
}
