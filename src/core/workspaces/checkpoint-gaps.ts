import type { Run } from "../runs/run.ts";
import type { RunEdit } from "../runs/run-edit.ts";
import type { LeftOutFile } from "./workspace.ts";

/** What a run loses when it continues without the files of its last worker. The user is told it in these words. */

export function notStoredText(turn: number, reason: string): string {
  return `The files of turn ${turn} could not be stored: ${reason}`;
}

export function leftOutText(files: readonly LeftOutFile[]): string {
  const list = files.map(({ path, reason }) => `${path} (${reason})`).join(", ");
  return `Some files could not be stored with the workspace: ${list}`;
}

/** Keeps what the newest checkpoint lacks, and tells it in the threads of the run unless they know it (`told`). */
export function decideGaps(edit: RunEdit, gaps: string | undefined, told: string | undefined): void {
  if (gaps !== undefined && gaps !== told) {
    const text = `${gaps}\nThey stay on their worker. If the run continues on another one, they will be missing.`;
    edit.postNote(text);
  }
  edit.set({ checkpointGaps: gaps });
}

/**
 * What a run that is about to continue has lost, in words for its user and its agent. Undefined: nothing.
 * `isOwnCopy`: the files were still on the worker.
 */
export function lostFiles(
  { checkpoint, checkpointAt, checkpointGaps, lostAttempts, turn, turnOpen }: Run,
  isOwnCopy: boolean,
): string | undefined {
  const time = checkpointAt === undefined ? undefined : timeText(checkpointAt);
  if (isOwnCopy || turn === 0) {
    return undefined;
  }
  const lost = [
    ...(checkpointGaps === undefined ? [] : [checkpointGaps]),
    ...(turnOpen && lostAttempts > 1
      ? [
          `The worker was lost during turn ${turn}. What it changed ${time === undefined ? "in it" : `after ${time}`} was not stored.`,
        ]
      : []),
  ];
  if (lost.length === 0) {
    return undefined;
  }
  const stored = time === undefined ? "as they were last stored" : `as they were stored at ${time}`;
  const state = checkpoint === undefined ? "as they were before the first turn" : stored;
  return [...lost, `The run continues with the files ${state}.`].join("\n");
}

function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
