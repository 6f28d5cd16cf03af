import { AppError, endStateOf } from "../../basics/errors.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isInDebugWindow } from "../../model/runs/debug-window.ts";
import type { Run } from "../../model/runs/run.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { ChangeCollector } from "../changes/change-collector.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { decideFailure } from "../context/decide-attempt.ts";
import { decideDebugging, openDebugWindow, openDebugWindowAfterTurn } from "../context/decide-debug.ts";
import { runFailureOf } from "../lease/attempt-abort.ts";
import { waitWithoutSlot } from "../slots/wait-without-slot.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { patchesAtEnd, storeEnd } from "./store-end.ts";

/**
 * The time in which a failed run keeps its attempt, because its environment asks for it. Its life:
 *
 * 1. The run fails, and everything is stored as at the end of any run. The agent lives, or the workspace is as the failed
 *    setup command left it.
 * 2. The attempt waits without a slot, like one whose agent waits for an answer.
 * 3. A follow-up queues the run, and the attempt takes it with the next free slot. Otherwise the attempt ends: the time is
 *    over, the run is cancelled, the worker stops, or the memory is needed.
 */
export class DebugWindow {
  readonly #services: AttemptServices;
  readonly #minutes: number;
  readonly #hasPersonalSecrets: boolean;
  /** Set while the attempt waits. */
  #close: ((isFollowedUp: boolean) => void) | undefined;

  constructor(services: AttemptServices, minutes: number, hasPersonalSecrets: boolean) {
    this.#services = services;
    this.#minutes = minutes;
    this.#hasPersonalSecrets = hasPersonalSecrets;
  }

  /** The follow-up may also have come before the attempt waits. */
  followedUp(): void {
    this.#close?.(true);
  }

  /** True: a follow-up continues in the workspace, which now is the run's. False: the workspace is removed. */
  async afterFailedSetup(error: AppError): Promise<boolean> {
    const { abort, clean, deps, lease } = this.#services;
    const { clock, run, workspaces } = deps;
    await lease.write((edit) => {
      decideFailure(edit, runFailureOf(error, clean));
      openDebugWindow(edit, this.#minutes);
    });
    const isContinued = await this.#untilFollowUp(() => undefined);
    // Another attempt may be preparing the workspace.
    if (abort.reason?.kind !== "lost") {
      await retry(clock, WHILE_UNAVAILABLE, () => workspaces.endFailedSetup(run.id, isContinued));
    }
    return isContinued;
  }

  /** Runs the next turn. True: another one follows, of a follow-up to the failed run if need be. */
  async nextTurn(
    turns: Pick<TurnRunner, "failed" | "next">,
    changes: ChangeCollector | undefined,
  ): Promise<boolean> {
    try {
      if (await turns.next()) {
        return true;
      }
    } catch (error) {
      turns.failed(await this.#failTurn(error, changes));
    }
    return this.#untilFollowUp((edit) => edit.moveTo("CLAIMED"));
  }

  /** Throws the error if the attempt must end with it. */
  async #failTurn(error: unknown, changes: ChangeCollector | undefined): Promise<Run> {
    const { abort, clean, lease } = this.#services;
    const failure = error instanceof AppError ? runFailureOf(error, clean) : undefined;
    const isFailed = failure !== undefined && endStateOf(failure.errorCode) === "FAILED";
    if (!isFailed || abort.reason !== undefined) {
      throw error;
    }
    // Without a session that can continue, the next turn needs another agent.
    if ((await lease.getAggregate()).run.agentSession === undefined) {
      throw error;
    }
    const patches = await patchesAtEnd(this.#services, changes);
    return storeEnd(
      this.#services,
      (edit) => {
        decideFailure(edit, failure);
        openDebugWindowAfterTurn(edit, this.#minutes);
      },
      patches,
    );
  }

  /** False: the run has not failed, or no follow-up came in time, or another attempt must take it. */
  async #untilFollowUp(proceed: (edit: RunEdit) => void): Promise<boolean> {
    const { abort, deps, lease, slot } = this.#services;
    const closed = new Promise<boolean>((resolve) => {
      this.#close = resolve;
    });
    const { run } = await lease.getAggregate();
    if (!isInDebugWindow(run)) {
      return false;
    }
    const stopWait = waitWithoutSlot(this.#services, () => this.#close?.(false), this.#minutes);
    if (run.state === "QUEUED") {
      this.followedUp();
    }
    const isFollowedUp = await Promise.race([closed, abort.aborted.then(() => false)]);
    this.#close = undefined;
    stopWait();
    if (!isFollowedUp || !(await slot.reacquire())) {
      return false;
    }
    const { value } = await lease.write((edit) => {
      const isTaken = decideDebugging(edit, this.#hasPersonalSecrets, deps.run);
      if (isTaken) {
        proceed(edit);
      }
      return isTaken;
    });
    return value;
  }
}
