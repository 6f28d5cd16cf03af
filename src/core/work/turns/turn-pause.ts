import type { Stop } from "../../basics/clock.ts";
import { isPaused } from "../../model/runs/states.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { waitWithoutSlot } from "../slots/wait-without-slot.ts";

/** After that, the agent of an interrupted turn is stopped. */
const GRACE_MS = 10_000;

/** An interruption: first its turn has to end, and then the run waits for a person to write what to do next. */
export class TurnPause {
  readonly #services: Pick<AttemptServices, "abort" | "deps" | "lease" | "slot">;
  /** Set while the agent of an interrupted turn has time to end it. */
  #stopGrace: Stop | undefined;
  /** Set while the run is paused. */
  #resume: (() => void) | undefined;

  constructor(services: Pick<AttemptServices, "abort" | "deps" | "lease" | "slot">) {
    this.#services = services;
  }

  /** False: the agent has been asked to end this turn before. */
  begin(): boolean {
    const { abort, deps } = this.#services;
    if (this.#stopGrace !== undefined) {
      return false;
    }
    this.#stopGrace = deps.clock.after(GRACE_MS, () => abort.abort({ kind: "paused" }));
    return true;
  }

  turnEnded(): void {
    this.#stopGrace?.();
    this.#stopGrace = undefined;
  }

  resume(): void {
    this.#resume?.();
  }

  /** Meanwhile the run has no slot, and its agent is kept like one that waits for an answer. False: it was given up. */
  async untilResumed(): Promise<boolean> {
    const { abort, lease } = this.#services;
    const resumed = new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    const stopWait = waitWithoutSlot(this.#services, () => abort.abort({ kind: "paused" }));
    // The follow-up may have come before the promise above existed.
    if (!isPaused((await lease.getAggregate()).run)) {
      this.resume();
    }
    await Promise.race([resumed, abort.aborted]);
    this.#resume = undefined;
    stopWait();
    return abort.reason === undefined;
  }
}
