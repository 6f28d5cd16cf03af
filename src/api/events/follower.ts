import type { Viewer } from "../../core/model/people/principal.ts";
import { isVisible, requireVisible } from "../../core/model/policies/visibility.ts";
import type { Run } from "../../core/model/runs/run.ts";
import { isEnded } from "../../core/model/runs/states.ts";
import type { EventStream } from "./event-stream.ts";
import { type Audience, audienceOf } from "./visible-log.ts";

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
