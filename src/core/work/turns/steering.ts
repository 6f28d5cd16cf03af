import type { Log } from "../../basics/log.ts";
import { isSameCopy } from "../../model/runs/executed-config.ts";
import type { FollowUp } from "../../model/runs/follow-up.ts";
import type { Run } from "../../model/runs/run.ts";
import { isWorkedOn } from "../../model/runs/states.ts";
import type { AgentSession } from "../../ports/agent-runner.ts";
import { deliverable } from "../../runs/approval.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import type { LeaseWriter } from "../lease/lease-writer.ts";

export interface SteeringDeps {
  readonly lease: LeaseWriter;
  readonly log: Log;
  readonly run: Pick<Run, "id">;
  /** Follow-ups that turns of this attempt have taken. */
  readonly taken: Set<string>;
}

/**
 * The follow-ups before the first that this agent may not have. An agent with personal secrets receives only what their
 * owner wrote, and each agent only what was not approved with another copy of the configuration. The rest waits for an
 * agent that may have it.
 */
export function forThisAgent(
  followUps: readonly FollowUp[],
  { creatorId, executes }: Pick<Run, "creatorId" | "executes">,
  hasPersonalSecrets: boolean,
): readonly FollowUp[] {
  const end = followUps.findIndex(
    ({ approval, authorId, byGuest }) =>
      (hasPersonalSecrets && (byGuest === true || authorId !== creatorId)) ||
      (approval?.executes !== undefined && !isSameCopy(approval.executes, executes)),
  );
  return end === -1 ? followUps : followUps.slice(0, end);
}

/**
 * Gives follow-ups to the running turn. The agent receives a follow-up first, and then the turn takes it. If the
 * worker is lost in between, the turn gives it again, so no follow-up is skipped. Once the agent has refused one, it and
 * all later ones wait for the next turn, and the log says so.
 */
export class Steering {
  readonly #deps: SteeringDeps;
  #turn: RunningTurn | undefined;
  #offered: readonly FollowUp[] = [];
  /** Follow-ups of which the log says that they wait. */
  readonly #queued = new Set<string>();

  constructor(deps: SteeringDeps) {
    this.#deps = deps;
  }

  /** A turn starts. It receives the follow-ups that were offered while no turn was running. */
  begin(session: AgentSession): void {
    this.#turn = { session };
    this.offer(this.#offered);
  }

  /** All waiting follow-ups with delivery `steer`, in their order. */
  offer(followUps: readonly FollowUp[]): void {
    this.#offered = followUps;
    const turn = this.#turn;
    if (turn === undefined || followUps.length === 0) {
      return;
    }
    turn.giving ??= this.#giveAll(turn).finally(() => {
      turn.giving = undefined;
    });
  }

  /**
   * The turn has ended. Resolves when it is known which follow-ups the turn has taken; the agent may leave that open.
   */
  async end(): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    await turn?.giving;
  }

  async #giveAll(turn: RunningTurn): Promise<void> {
    for (let next = await this.#next(turn); next !== undefined; next = await this.#next(turn)) {
      if (turn.hasRefused !== true && this.#turn === turn) {
        turn.hasRefused = !(await this.#give(turn.session, next));
      }
      if (this.#turn !== turn || (turn.hasRefused === true && !(await this.#sayQueued()))) {
        return;
      }
    }
  }

  /** Says of all follow-ups that they wait. False: there is nothing new to say. */
  async #sayQueued(): Promise<boolean> {
    const { lease, log, run, taken } = this.#deps;
    try {
      const { value } = await lease.write((edit) => {
        const waiting = edit.run.turnOpen ? steerable(edit.aggregate.waiting) : [];
        const ids = waiting.map(({ id }) => id).filter((id) => !taken.has(id) && !this.#queued.has(id));
        for (const followUpId of ids) {
          edit.record({ kind: "followup.queued", followUpId });
        }
        return ids;
      });
      for (const id of value) {
        this.#queued.add(id);
      }
      return value.length > 0;
    } catch (error) {
      log.warn("agent.steer.failed", { runId: run.id, error });
      return false;
    }
  }

  /**
   * The offer may be older than a change of the follow-up, which may need approval now. While a turn is open, an
   * offered follow-up cannot be changed, so what is read here holds until the agent has it.
   */
  async #next({ hasRefused }: RunningTurn): Promise<FollowUp | undefined> {
    const { lease, log, run, taken } = this.#deps;
    const isNew = ({ id }: FollowUp) => !taken.has(id) && !(hasRefused === true && this.#queued.has(id));
    try {
      while (this.#offered.some(isNew)) {
        const offered = this.#offered;
        const next = steerable((await lease.getAggregate()).waiting).find(isNew);
        if (next !== undefined || this.#offered === offered) {
          return next;
        }
      }
    } catch (error) {
      log.warn("agent.steer.failed", { runId: run.id, error });
    }
    return undefined;
  }

  async #give(session: AgentSession, { id, message }: FollowUp): Promise<boolean> {
    const { lease, log, run, taken } = this.#deps;
    try {
      // The turn may have ended before this answer arrived. Then the next turn has taken the follow-up.
      if (!(await session.steer(message)) || taken.has(id)) {
        return false;
      }
      taken.add(id);
      await lease.write((edit) => decideSteered(edit, id));
      return true;
    } catch (error) {
      log.warn("agent.steer.failed", { runId: run.id, error });
      return false;
    }
  }
}

/** The follow-ups for the running turn that it may be given, in order. */
export function steerable(waiting: readonly FollowUp[]): readonly FollowUp[] {
  return deliverable(waiting).filter(({ delivery }) => delivery === "steer");
}

interface RunningTurn {
  readonly session: AgentSession;
  /** The agent takes nothing more during this turn. */
  hasRefused?: boolean;
  /** Set while the turn is given follow-ups. */
  giving?: Promise<void> | undefined;
}

/** When the run was cancelled meanwhile, the follow-up was withdrawn. */
export function decideSteered(edit: RunEdit, followUpId: string): void {
  if (!isWorkedOn(edit.run.state) || !edit.run.turnOpen) {
    return;
  }
  if (deliverable(edit.aggregate.waiting).some(({ id }) => id === followUpId)) {
    edit.takeSteered(followUpId);
  }
}
