import type { RunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { isVisible, requireVisible } from "../../core/model/policies/visibility.ts";
import type { Run } from "../../core/model/runs/run.ts";
import { isEnded } from "../../core/model/runs/states.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { EventStream } from "./event-stream.ts";
import { eventText } from "./event-text.ts";
import { oneAtATime } from "./notifications.ts";
import { type Audience, audienceOf, visibleLog } from "./visible-log.ts";

/** The runs that have followers in this process. */
export class FollowedRuns {
  readonly #deps: FollowDeps;
  readonly #pollMs: number;
  readonly #runs = new Map<RunId, FollowedRun>();

  constructor(deps: FollowDeps, pollMs: number) {
    this.#deps = deps;
    this.#pollMs = pollMs;
  }

  /** Writes the events of `run` to `stream` until the run or the stream ends. */
  follow(run: Run, stream: EventStream, following: Following): void {
    const followed = this.#runs.get(run.id) ?? new FollowedRun(this.#deps, run, this.#pollMs);
    this.#runs.set(run.id, followed);
    const follower = new Follower(stream, following);
    followed.join(follower, run);
    stream.onceOver(() => this.#leave(run.id, followed, follower));
  }

  #leave(id: RunId, followed: FollowedRun, follower: Follower): void {
    followed.leave(follower);
    if (followed.isFollowed || this.#runs.get(id) !== followed) {
      return;
    }
    followed.close();
    this.#runs.delete(id);
  }
}

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

export interface Following {
  readonly viewer: Viewer;
  /** The number of the last event that the reader has received. */
  readonly after: number;
  /** Whether the stream continues after the end of the run, because a follow-up may continue the run. */
  readonly follow: boolean;
}

/** Formatted events. They are the same for all readers of an audience. */
export interface EventPage {
  readonly pieces: readonly Uint8Array[];
  /** The number of the last event of the page. undefined if the page is empty. */
  readonly lastSeq: number | undefined;
}

/** The source of a follower's data. */
export interface FollowedSource {
  /** The run as it was last read. undefined if it no longer exists. */
  readonly latest: Run | undefined;
  /** Returns the first page of events behind `lastSeq`. */
  readBehind(lastSeq: number, audience: Audience): Promise<EventPage>;
}

/** Writes the events of a run to one stream, each once and in order, until the run has ended. */
export class Follower {
  readonly stream: EventStream;
  readonly #following: Following;
  #lastSeq: number;
  #isWriting = false;

  constructor(stream: EventStream, following: Following) {
    this.stream = stream;
    this.#following = following;
    this.#lastSeq = following.after;
  }

  /** Called each time the run was read. Writes the new events, if there are any. */
  consider(run: Run | undefined, followed: FollowedSource): void {
    if (this.#isWriting || this.stream.isOver || !this.#hasChanges(run)) {
      return;
    }
    this.#isWriting = true;
    this.#write(run, followed).catch((error: unknown) => this.stream.fail(error));
  }

  #hasChanges(run: Run | undefined): boolean {
    if (run === undefined || !isVisible(run, this.#following.viewer)) {
      return true;
    }
    return run.lastSeq > this.#lastSeq || this.#isDoneWith(run);
  }

  #isDoneWith({ lastSeq, state }: Run): boolean {
    return lastSeq === this.#lastSeq && isEnded(state) && !this.#following.follow;
  }

  async #write(latest: Run | undefined, followed: FollowedSource): Promise<void> {
    for (let run = latest; this.#hasChanges(run); run = followed.latest) {
      if (run === undefined) {
        // The run was deleted.
        return this.stream.end();
      }
      if (this.#isDoneWith(requireVisible(run, this.#following.viewer))) {
        return this.stream.end();
      }
      const page = await followed.readBehind(this.#lastSeq, audienceOf(this.#following.viewer));
      // The run was deleted in the meantime. The next read handles that.
      if (page.lastSeq === undefined) {
        break;
      }
      this.#lastSeq = page.lastSeq;
      for (const piece of page.pieces) {
        if (!this.stream.write(piece) && !(await this.stream.drained())) {
          return;
        }
      }
    }
    this.#isWriting = false;
  }
}
