import type { Clock } from "../ports/clock.ts";
import { withTimeout } from "../with-timeout.ts";
import type { WorkerStore } from "./worker-store.ts";

const KEPT_MS = 1_000;
const WAIT_MS = 250;
/** Callers make the names up; what is kept of them has a bound. */
const KEPT_MAX = 1_000;

interface Kept {
  readonly isFull: Promise<boolean | undefined>;
  readonly untilMs: number;
}

/** Whether a new run would have to wait for a worker, as it was a second ago at most. */
export class Capacity {
  readonly #workers: Pick<WorkerStore, "load">;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor({ workers, clock }: { readonly workers: Pick<WorkerStore, "load">; readonly clock: Clock }) {
    this.#workers = workers;
    this.#clock = clock;
  }

  /** Undefined where it cannot be known: nobody waits or fails for it. */
  isFull(host: string | undefined): Promise<boolean | undefined> {
    const nowMs = this.#clock.now().getTime();
    const kept = this.#kept.get(host ?? "");
    if (kept !== undefined && kept.untilMs > nowMs) return kept.isFull;
    if (this.#kept.size >= KEPT_MAX) this.#kept.clear();
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
