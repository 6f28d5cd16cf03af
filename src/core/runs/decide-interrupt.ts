import { AppError } from "../basics/errors.ts";
import type { Viewer } from "../model/people/principal.ts";
import { isPaused, STATE_PHRASES } from "../model/runs/states.ts";
import type { RunEdit } from "./run-edit.ts";

/**
 * Ends the current turn, but not the run: an open question is withdrawn, and a live attempt cancels its agent's turn.
 * Then the next follow-up that may be given starts a turn; without any, the run is BLOCKED until one comes. Interrupting
 * twice changes nothing.
 */
export function decideInterrupt(
  edit: RunEdit,
  { displayName, id }: Pick<Viewer, "displayName" | "id">,
): void {
  const { lease, pause, permission, state } = edit.run;
  if (pause !== undefined) {
    return;
  }
  const isAsking = state === "BLOCKED" && permission !== undefined;
  if (state !== "INPROGRESS" && !isAsking) {
    throw new AppError("conflict", `There is no turn to interrupt: the run ${STATE_PHRASES[state]}.`, {
      remedy: "Send a follow-up, or cancel the run.",
      retryable: false,
    });
  }
  if (isAsking) {
    edit.set({ permission: undefined });
    edit.moveTo("INPROGRESS", { reason: "Its question was withdrawn." });
  }
  edit.set({ pause: displayName === undefined ? { by: id } : { by: id, name: displayName } });
  if (lease === undefined) {
    pauseNow(edit);
  }
}

/** The turn has ended. True: a follow-up waits that starts the next one. */
export function pauseNow(edit: RunEdit): boolean {
  const { lease, pause } = edit.run;
  if (edit.deliverable.length > 0) {
    edit.set({ pause: undefined });
    if (lease === undefined) {
      edit.moveTo("QUEUED", { reason: "A follow-up was waiting." });
    }
    return true;
  }
  const by = pause?.name === undefined ? "" : ` by ${pause.name}`;
  edit.moveTo("BLOCKED", { status: { message: `Paused${by}. Write what to do next.` } });
  return false;
}

/** A paused run continues with a follow-up that may be given: at once while its agent lives, otherwise with a new attempt. */
export function resumePaused(edit: RunEdit): void {
  if (isPaused(edit.run) && edit.deliverable.length > 0) {
    edit.set({ pause: undefined });
    edit.moveTo(edit.run.lease === undefined ? "QUEUED" : "INPROGRESS", { reason: "A follow-up came." });
  }
}
