import type { Clock, Stop } from "../../../core/basics/clock.ts";
import type { Log } from "../../../core/basics/log.ts";
import type { AgentStart } from "../../../core/ports/agent-runner.ts";
import type { WarmAgent } from "./warm-agent.ts";

const LOOK_MS = 10_000;
/** Then another one is started, so that no waiting process grows old. */
const AGE_MAX_MS = 10 * 60_000;
/** After a failure, and after memory was short. Otherwise such a machine would start agents all the time. */
const PAUSE_MS = 10 * 60_000;

export interface WarmAgentsDeps {
  /** Undefined: the agent is not installed. Rejects soon after the signal. */
  readonly start: (signal: AbortSignal) => Promise<WarmAgent | undefined>;
  /** Whether the machine or the container of this process has little memory left. */
  readonly isMemoryShort: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps one initialized agent for the next run of this worker. Its life:
 *
 * 1. `start` starts the first one, and looks every few seconds whether there is still one.
 * 2. `take` gives it to a run that it is for. `fill` starts the next one, when that run no longer needs the processor.
 * 3. One that is too old, or that waits while memory is short, is ended. After a failure none is started for a while.
 * 4. `stop` ends the one that waits. A killed worker leaves none, because sandboxes end with their worker.
 */
export class WarmAgents {
  readonly #deps: WarmAgentsDeps;
  readonly #stopping = new AbortController();
  #waiting: WarmAgent | undefined;
  #waitsSinceMs = 0;
  #notBeforeMs = 0;
  #looking: Promise<void> | undefined;
  #unwatch: Stop | undefined;

  constructor(deps: WarmAgentsDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#unwatch = this.#deps.clock.every(LOOK_MS, () => void this.fill());
    void this.fill();
  }

  async stop(): Promise<void> {
    this.#unwatch?.();
    this.#stopping.abort();
    await this.#looking;
    await this.#end();
  }

  /**
   * Gives the agent that waits to a run. Undefined: it is not for this run, or could not be given. The run then has its
   * folders as before.
   */
  async take(
    run: Pick<AgentStart, "gateway" | "workspace">,
    isFor: (warm: WarmAgent) => boolean,
  ): Promise<WarmAgent | undefined> {
    const warm = this.#waiting;
    if (warm === undefined || !isFor(warm)) {
      return undefined;
    }
    this.#waiting = undefined;
    try {
      await warm.giveTo(run);
      return warm;
    } catch (error) {
      this.#failed(error);
    }
    await warm.takeBack();
    return undefined;
  }

  /** Never rejects. */
  fill(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { clock } = this.#deps;
    if (await this.#deps.isMemoryShort()) {
      this.#notBeforeMs = clock.elapsedMs() + PAUSE_MS;
      await this.#end();
    }
    if (clock.elapsedMs() - this.#waitsSinceMs > AGE_MAX_MS) {
      await this.#end();
    }
    const { signal } = this.#stopping;
    if (this.#waiting !== undefined || signal.aborted || clock.elapsedMs() < this.#notBeforeMs) {
      return;
    }
    const warm = await this.#deps.start(signal);
    this.#waiting = warm;
    this.#waitsSinceMs = clock.elapsedMs();
    if (warm !== undefined) {
      this.#deps.log.info("agent.warm.ready");
    }
    void warm?.ended.then(() => this.#onEnd(warm));
  }

  #onEnd(warm: WarmAgent): void {
    if (this.#waiting === warm) {
      this.#failed("It ended.");
      void this.#end();
    }
  }

  async #end(): Promise<void> {
    const warm = this.#waiting;
    this.#waiting = undefined;
    await warm?.close();
  }

  #failed(error: unknown): void {
    if (!this.#stopping.signal.aborted) {
      this.#notBeforeMs = this.#deps.clock.elapsedMs() + PAUSE_MS;
      this.#deps.log.warn("agent.warm.failed", { error });
    }
  }
}
