import type { Stop } from "../../basics/clock.ts";
import { isInDebugWindow } from "../../model/runs/debug-window.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import { isWorkedOn, type RunState } from "../../model/runs/states.ts";
import { CHANNELS, type Unsubscribe } from "../../ports/pubsub.ts";
import type { RunAggregate } from "../../ports/stores/run-store.ts";
import { deliverable } from "../../runs/approval.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import type { LeaseWriter } from "../lease/lease-writer.ts";
import { steerable } from "../turns/steering.ts";

/** What can happen to a run from outside while an attempt works on it. */
export interface WatchedChanges {
  lost(): void;
  /**
   * The run has ended: it was cancelled, and perhaps queued again since. Also called for a run that this attempt has
   * ended itself.
   */
  ended(): void;
  /** A follow-up to the ended run waits until this attempt gives it up. */
  queuedAgain(): void;
  /** A follow-up asks to stop the current turn and to take it instead. */
  interrupted(followUpId: string): void;
  /** Called with the waiting follow-ups that are meant for the running turn, each time the run is read. */
  steered(followUps: readonly FollowUp[]): void;
  answered(permissionId: string, optionId: string | null): void;
  /** A person interrupts the turn. Called each time the run is read, until the turn has ended. */
  paused(): void;
  /** The run is in its turn, or its next one may start. */
  working(): void;
  /** A follow-up has queued the failed run, whose attempt waits for it. */
  followedUp(): void;
}

/**
 * Holds the lease and reads the run: at once when notified of a change by others, otherwise when a renewal of the lease finds
 * that it has changed. It also reports with every renewal, because an attempt that was not ready for a report gets it again.
 */
export class RunWatch {
  readonly #deps: AttemptDeps;
  readonly #lease: LeaseWriter;
  readonly #changes: WatchedChanges;
  readonly #interrupts = new Set<string>();
  #stops: (Stop | Unsubscribe)[] = [];
  #reading: Promise<void> | undefined;
  #again = false;

  constructor(deps: AttemptDeps, lease: LeaseWriter, changes: WatchedChanges) {
    this.#deps = deps;
    this.#lease = lease;
    this.#changes = changes;
  }

  start(): void {
    const { pubsub, renewals, run, token } = this.#deps;
    const renewed = (version: string) => this.#look(version);
    const lost = () => this.#changes.lost();
    this.#stops = [
      renewals.hold({ runId: run.id, token, renewed, lost }),
      pubsub.subscribe(CHANNELS.attempt(run.id), () => this.#read()),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) {
      stop();
    }
  }

  #look(version: string): void {
    const { latest } = this.#lease;
    if (latest?.version === version) {
      this.#report(latest);
      return;
    }
    this.#read();
  }

  #read(): void {
    if (this.#reading !== undefined) {
      this.#again = true;
      return;
    }
    this.#reading = this.#readOnce().finally(() => {
      this.#reading = undefined;
      if (!this.#again) {
        return;
      }
      this.#again = false;
      this.#read();
    });
  }

  async #readOnce(): Promise<void> {
    const { log, run } = this.#deps;
    try {
      this.#report(await this.#lease.read());
    } catch (error) {
      log.warn("run.read.failed", { runId: run.id, error: String(error) });
    }
  }

  #report({ run, waiting }: RunAggregate): void {
    if (run.lease?.token !== this.#deps.token) {
      this.#changes.lost();
    } else if (isInDebugWindow(run)) {
      this.#reportDebugging(run.state);
    } else if (!isWorkedOn(run.state)) {
      this.#changes.ended();
      if (run.state === "QUEUED") {
        this.#changes.queuedAgain();
      }
    } else if (run.permission?.answer !== undefined) {
      this.#changes.answered(run.permission.permissionId, run.permission.answer);
    } else if (run.state === "INPROGRESS" && run.pause !== undefined) {
      this.#changes.paused();
    } else {
      this.#reportWork(run.state, waiting);
    }
  }

  #reportDebugging(state: RunState): void {
    if (state === "QUEUED") {
      this.#changes.followedUp();
    }
  }

  #reportWork(state: RunState, waiting: RunAggregate["waiting"]): void {
    if (state === "INPROGRESS") {
      this.#changes.working();
    }
    if (waiting.length > 0) {
      this.#changes.steered(steerable(waiting));
      this.#reportInterrupt(state, deliverable(waiting));
    }
  }

  /** Each follow-up interrupts once. While the agent's question is open, it waits like any other. */
  #reportInterrupt(state: RunState, waiting: RunAggregate["waiting"]): void {
    if (state === "BLOCKED") {
      return;
    }
    const interrupt = waiting.find(
      ({ delivery, id }) => delivery === "interrupt" && !this.#interrupts.has(id),
    );
    if (interrupt === undefined) {
      return;
    }
    this.#interrupts.add(interrupt.id);
    this.#changes.interrupted(interrupt.id);
  }
}
