import type { Clock, Stop } from "../../basics/clock.ts";
import type { Log } from "../../basics/log.ts";

const LOOK_MS = 10_000;

export interface WaitingAgentsDeps {
  /** How many agents may wait for a person in this process. */
  readonly max: number;
  /** Whether the machine or the container of this process has little memory left. */
  readonly isMemoryShort: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The agents of this process that wait for a person without a slot. There are at most `max`, and fewer while memory is
 * short: the one that has waited longest is stopped first. Its run stays BLOCKED, and an answer resumes its session.
 */
export class WaitingAgents {
  readonly #deps: WaitingAgentsDeps;
  /** How each agent is stopped, the longest wait first. */
  readonly #stops = new Set<() => void>();
  #unwatch: Stop | undefined;
  #isLooking = false;

  constructor(deps: WaitingAgentsDeps) {
    this.#deps = deps;
  }

  /** An agent begins to wait. Call the returned function when its wait is over. */
  add(stop: () => void): Stop {
    this.#stops.add(stop);
    this.#unwatch ??= this.#deps.clock.every(LOOK_MS, () => void this.#look());
    if (this.#stops.size > this.#deps.max) {
      this.#stopOldest("ERRAND_WAITING_AGENTS");
    }
    void this.#look();
    return () => this.#remove(stop);
  }

  /** Stops one agent in each look, because its memory becomes free only when its processes have ended. */
  async #look(): Promise<void> {
    const { isMemoryShort, log } = this.#deps;
    if (this.#isLooking || this.#stops.size === 0) {
      return;
    }
    this.#isLooking = true;
    try {
      if (await isMemoryShort()) {
        this.#stopOldest("memory");
      }
    } catch (error) {
      log.warn("worker.memory.not_read", { error });
    } finally {
      this.#isLooking = false;
    }
  }

  #stopOldest(limit: string): void {
    const [oldest] = this.#stops;
    if (oldest === undefined) {
      return;
    }
    this.#deps.log.info("worker.waiting_agent.stopped", { limit, waiting: this.#stops.size });
    this.#remove(oldest);
    oldest();
  }

  #remove(stop: () => void): void {
    this.#stops.delete(stop);
    if (this.#stops.size === 0) {
      this.#unwatch?.();
      this.#unwatch = undefined;
    }
  }
}
