import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import type { RunId } from "../../core/basics/ids.ts";
import { isEnded } from "../../core/model/runs/states.ts";
import { CHANNELS } from "../../core/ports/pubsub.ts";
import type { ApiDeps } from "../api-deps.ts";
import { oneAtATime } from "./notifications.ts";
import type { OpenStreams } from "./open-streams.ts";

type WaiterDeps = Pick<ApiDeps, "pubsub" | "storage">;

/** Requests that are answered when their run has ended or is BLOCKED. Those of one run share its subscription. */
export class RunWaiters {
  readonly #deps: WaiterDeps;
  readonly #streams: OpenStreams;
  readonly #runs = new Map<RunId, WaitedRun>();

  constructor(deps: WaiterDeps, streams: OpenStreams) {
    this.#deps = deps;
    this.#streams = streams;
  }

  /**
   * Resolves when the run has ended or is BLOCKED, after `ms` at the latest, and before that when the caller disconnects,
   * its key changes, or the server stops. Counts as an open stream of the caller.
   */
  async wait(request: FastifyRequest, { raw }: FastifyReply, id: RunId, ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const release = this.#streams.hold(request, { end: resolve });
    const timer = setTimeout(resolve, ms);
    const unsubscribe = request.caller?.onAccessChange(async () => {
      if ((await request.caller?.isStillAuthenticated().catch(() => false)) === false) {
        resolve();
      }
    });
    raw.once("close", resolve);
    const leave = this.#join(id, resolve);
    await promise;
    leave();
    raw.off("close", resolve);
    unsubscribe?.();
    clearTimeout(timer);
    release();
    if ((await request.caller?.isStillAuthenticated()) === false) {
      throw new AppError("authentication_required", "The key was revoked while the request waited.");
    }
  }

  #join(id: RunId, resolve: () => void): () => void {
    const joined = this.#runs.get(id) ?? new WaitedRun(this.#deps, id);
    this.#runs.set(id, joined);
    joined.add(resolve);
    return () => {
      if (joined.remove(resolve) && this.#runs.get(id) === joined) {
        this.#runs.delete(id);
      }
    };
  }
}

/** A run with all requests of this process that wait for it. It is read once for each notification. */
class WaitedRun {
  readonly #waiters = new Set<() => void>();
  readonly #look: () => void;
  readonly #unsubscribe: () => void;

  constructor({ pubsub, storage }: WaiterDeps, id: RunId) {
    this.#look = oneAtATime(async () => {
      // A failure is reported by the request that reads the run next.
      const run = await storage.runs.find({ id }).catch(() => undefined);
      if (run === undefined || isEnded(run.state) || run.state === "BLOCKED") {
        for (const resolve of this.#waiters) {
          resolve();
        }
      }
    });
    this.#unsubscribe = pubsub.subscribe(CHANNELS.run(id), this.#look);
  }

  /** Looks at once, because the run may have changed before the subscription. */
  add(resolve: () => void): void {
    this.#waiters.add(resolve);
    this.#look();
  }

  /** True: nothing waits for the run any longer. */
  remove(resolve: () => void): boolean {
    this.#waiters.delete(resolve);
    if (this.#waiters.size > 0) {
      return false;
    }
    this.#unsubscribe();
    return true;
  }
}
