import type { Clock } from "../ports/clock.ts";
import { withTimeout } from "../with-timeout.ts";
import type { HostLoad, WorkerStore } from "./worker-store.ts";

const KEPT_MS = 1_000;
const WAIT_MS = 250;

/**
 * Whether workers can take a run: some can, all are busy, all that are not busy lack disk space, or none is connected.
 */
export type Availability = "free" | "busy" | "crowded" | "absent";
/** Undefined when it is unknown. */
export type AvailabilityOf = (host: string | undefined) => Availability | undefined;

/** Tells whether a run has to wait for a worker, at most a second late. */
export class Capacity {
  readonly #workers: Pick<WorkerStore, "listLoads">;
  readonly #clock: Clock;
  #kept: { readonly loads: Promise<readonly HostLoad[] | undefined>; readonly untilMs: number } | undefined;

  constructor({
    workers,
    clock,
  }: {
    readonly workers: Pick<WorkerStore, "listLoads">;
    readonly clock: Clock;
  }) {
    this.#workers = workers;
    this.#clock = clock;
  }

  /** Requests neither wait for this read nor fail with it. */
  async look(): Promise<AvailabilityOf> {
    const loads = await this.#loads();
    return (host) => loads && availabilityOf(loads, host);
  }

  #loads(): Promise<readonly HostLoad[] | undefined> {
    const nowMs = this.#clock.now().getTime();
    if (this.#kept === undefined || this.#kept.untilMs <= nowMs) {
      const loads = withTimeout(this.#read(), WAIT_MS, { clock: this.#clock });
      this.#kept = { loads, untilMs: nowMs + KEPT_MS };
    }
    return this.#kept.loads;
  }

  async #read(): Promise<readonly HostLoad[] | undefined> {
    try {
      return await this.#workers.listLoads();
    } catch {
      return undefined;
    }
  }
}

/** Any worker takes a run that names no host. */
function availabilityOf(loads: readonly HostLoad[], host: string | undefined): Availability {
  const usable = loads.filter((load) => host === undefined || load.host === host);
  const [slots, taken] = [sumOf(usable, "slots"), sumOf(usable, "taken")];
  const crowded = sumOf(usable, "crowdedSlots");
  if (slots === 0) {
    return "absent";
  }
  if (taken >= slots) {
    return "busy";
  }
  return taken >= slots - crowded ? "crowded" : "free";
}

function sumOf(loads: readonly HostLoad[], member: "slots" | "taken" | "crowdedSlots"): number {
  return loads.reduce((sum, load) => sum + (load[member] ?? 0), 0);
}
