import type { AgentSession } from "../agents/agent-runner.ts";
import type { LeaseWriter } from "../attempts/lease-writer.ts";
import type { Log } from "../ports/log.ts";
import type { FollowUp, Run } from "../runs/run.ts";
import type { RunEdit } from "../runs/run-edit.ts";
import { isWorkedOn } from "../runs/states.ts";

export interface SteeringDeps {
  readonly lease: LeaseWriter;
  readonly log: Log;
  readonly run: Pick<Run, "id">;
  /** Follow-ups that turns of this attempt have taken. */
  readonly taken: Set<string>;
}

/**
 * Gives follow-ups to the running turn. The agent is told first and the turn takes them then: one that is lost in between
 * is given again with its turn, never passed over. Once the agent has refused one, all later ones wait for the next turn.
 */
export class Steering {
  readonly #deps: SteeringDeps;
  #turn: RunningTurn | undefined;
  #offered: readonly FollowUp[] = [];

  constructor(deps: SteeringDeps) {
    this.#deps = deps;
  }

  /** A turn runs; what was offered while none did is given to it. */
  begin(session: AgentSession): void {
    this.#turn = { session };
    this.offer(this.#offered);
  }

  /** All follow-ups that wait and want to steer, in their order. */
  offer(followUps: readonly FollowUp[]): void {
    this.#offered = followUps;
    const turn = this.#turn;
    if (turn === undefined || followUps.length === 0) return;
    turn.giving ??= this.#giveAll(turn).finally(() => {
      turn.giving = undefined;
    });
  }

  /** No turn runs any more. Resolves when it is settled what the turn has taken, which its agent may leave open. */
  async end(): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    await turn?.giving;
  }

  async #giveAll(turn: RunningTurn): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (this.#turn === turn && (await this.#give(turn.session, next))) continue;
      if (this.#turn === turn) this.#turn = undefined;
      return;
    }
  }

  #next(): FollowUp | undefined {
    return this.#offered.find(({ id }) => !this.#deps.taken.has(id));
  }

  async #give(session: AgentSession, { id, message }: FollowUp): Promise<boolean> {
    const { lease, log, run, taken } = this.#deps;
    try {
      // The turn may have been ended without this answer: then the next one has taken it.
      if (!(await session.steer(message)) || taken.has(id)) return false;
      taken.add(id);
      await lease.write((edit) => decideSteered(edit, id));
      return true;
    } catch (error) {
      log.warn("agent.steer.failed", { runId: run.id, error });
      return false;
    }
  }
}

interface RunningTurn {
  readonly session: AgentSession;
  /** While it is given something. */
  giving?: Promise<void> | undefined;
}

/** A run that was cancelled meanwhile keeps the follow-up for its next word. */
export function decideSteered(edit: RunEdit, followUpId: string): void {
  if (!isWorkedOn(edit.run.state) || !edit.run.turnOpen) return;
  if (edit.subject.waiting.some(({ id }) => id === followUpId)) edit.takeSteered(followUpId);
}
