import type { Run } from "../../model/runs/run.ts";
import type { RunEdit } from "../../runs/run-edit.ts";
import { mayWorkOn } from "./decide-attempt.ts";

/** A run that has just failed keeps its attempt for `minutes`, so that a follow-up continues in it. */
export function openDebugWindow(edit: RunEdit, minutes: number): void {
  if (edit.run.state === "FAILED") {
    edit.set({ debugUntil: new Date(edit.now.getTime() + minutes * 60_000) });
  }
}

/** After a turn, only an agent whose session can continue is kept. */
export function openDebugWindowAfterTurn(edit: RunEdit, minutes: number | undefined): void {
  if (minutes !== undefined && edit.run.agentSession !== undefined) {
    openDebugWindow(edit, minutes);
  }
}

/**
 * The attempt of a failed run takes the follow-up that has queued the run again, as if it had claimed it. False: there is
 * none, or another attempt must take it.
 */
export function decideDebugging(
  edit: RunEdit,
  hasPersonalSecrets: boolean,
  started: Pick<Run, "executes">,
): boolean {
  if (edit.run.state !== "QUEUED" || !mayWorkOn(edit.run, hasPersonalSecrets, started)) {
    return false;
  }
  edit.set({ debugUntil: undefined, lostAttempts: edit.run.lostAttempts + 1 });
  edit.moveTo("PENDING");
  return true;
}
