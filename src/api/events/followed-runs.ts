import type { RunId } from "../../core/basics/ids.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { EventStream } from "./event-stream.ts";
import { type FollowDeps, FollowedRun } from "./followed-run.ts";
import { Follower, type Following } from "./follower.ts";

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
