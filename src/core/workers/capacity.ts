import type { Clock } from "../ports/clock.ts";
import { withTimeout } from "../with-timeout.ts";
import type { WorkerStore } from "./worker-store.ts";

const KEPT_MS = 1_000;
const WAIT_MS = 250;
/** Callers choose the names, so the cache is limited. */
const KEPT_MAX = 1_000;

interface Kept {
  readonly isFull: Promise<boolean | undefined>;
  readonly untilMs: number;
}

/** Tells whether a new run would have to wait for a worker, at most a second late. */
export class Capacity {
  readonly #workers: Pick<WorkerStore, "load">;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor({ workers, clock }: { readonly workers: Pick<WorkerStore, "load">; readonly clock: Clock }) {
    this.#workers = workers;
    this.#clock = clock;
  }

  /** Undefined when it is unknown. No request waits or fails for it. */
  isFull(host: string | undefined): Promise<boolean | undefined> {
    const nowMs = this.#clock.now().getTime();
    const kept = this.#kept.get(host ?? "");
    if (kept !== undefined && kept.untilMs > nowMs) {
      return kept.isFull;
    }
    if (this.#kept.size >= KEPT_MAX) {
      this.#kept.clear();
    }
    const isFull = withTimeout(this.#look(host), WAIT_MS, { clock: this.#clock });
    this.#kept.set(host ?? "", { isFull, untilMs: nowMs + KEPT_MS });
    return isFull;
  }

  async #look(host: string | undefined): Promise<boolean | undefined> {
    try {
      const { slots, taken } = await this.#workers.load(host);
      return taken >= slots;
    } catch {
      return undefined;
    }
  }
}
