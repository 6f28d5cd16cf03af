import type { Viewer } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import { isEnded } from "../../core/runs/states.ts";
import { isVisible, requireVisible } from "../../core/runs/visibility.ts";
import type { EventStream } from "./event-stream.ts";
import { type Audience, audienceOf } from "./visible-log.ts";

export interface Following {
  readonly viewer: Viewer;
  /** The number of the last event that the viewer has seen. */
  readonly after: number;
  /** Goes on when the run has ended: a follow-up takes it up again. */
  readonly follow: boolean;
}

/** Events as they are sent: the same bytes to everybody of an audience. */
export interface EventPage {
  readonly pieces: readonly Uint8Array[];
  /** The number of the last event among them; undefined: there is none. */
  readonly lastSeq: number | undefined;
}

/** Where followers find what they tell. */
export interface FollowedSource {
  /** The run as it was found last; undefined: there is none any more. */
  readonly latest: Run | undefined;
  /** The events behind `seen`, or the first of them when they are many. */
  readBehind(seen: number, audience: Audience): Promise<EventPage>;
}

/** Tells one stream the events of a run, each once and in order, until the run has ended and all was told. */
export class Follower {
  readonly stream: EventStream;
  readonly #following: Following;
  #seen: number;
  #isTelling = false;

  constructor(stream: EventStream, following: Following) {
    this.stream = stream;
    this.#following = following;
    this.#seen = following.after;
  }

  /** Called with the run after each look at it: tells what is new in it, if anything is. */
  consider(run: Run | undefined, followed: FollowedSource): void {
    if (this.#isTelling || this.stream.isOver || !this.#isConcerned(run)) return;
    this.#isTelling = true;
    this.#tell(run, followed).catch((error: unknown) => this.stream.fail(error));
  }

  #isConcerned(run: Run | undefined): boolean {
    if (run === undefined || !isVisible(run, this.#following.viewer)) return true;
    return run.lastSeq > this.#seen || this.#isDoneWith(run);
  }

  #isDoneWith({ lastSeq, state }: Run): boolean {
    return lastSeq === this.#seen && isEnded(state) && !this.#following.follow;
  }

  async #tell(found: Run | undefined, followed: FollowedSource): Promise<void> {
    for (let run = found; this.#isConcerned(run); run = followed.latest) {
      if (this.#isDoneWith(requireVisible(run, this.#following.viewer))) return this.stream.end();
      const page = await followed.readBehind(this.#seen, audienceOf(this.#following.viewer));
      // It was deleted since; the next look will see that.
      if (page.lastSeq === undefined) break;
      this.#seen = page.lastSeq;
      for (const piece of page.pieces) {
        if (!this.stream.write(piece) && !(await this.stream.drained())) return;
      }
    }
    this.#isTelling = false;
  }
}
