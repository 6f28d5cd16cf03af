import { listText } from "../../basics/list-text.ts";
import type { Run } from "../../model/runs/run.ts";
import type { GoneFiles, LeftOutFile, PreparedWorkspace } from "../../model/workspaces/workspace.ts";
import type { RunEdit } from "../../runs/run-edit.ts";

/** How many files a text names. */
const NAMED_MAX = 20;

/** Texts for users about what a run loses when it continues without the files of its last worker. */

export function notStoredText(turn: number, reason: string): string {
  return `The files of turn ${turn} could not be stored: ${reason}`;
}

export function onlyWorkText(turn: number, reason: string): string {
  return `After turn ${turn}, files that git ignores and the home directory could not be stored: ${reason}`;
}

/** `count`: of all files, of which `files` are the first. */
export function leftOutText(files: readonly LeftOutFile[], count = files.length): string {
  const names = files.slice(0, NAMED_MAX).map(({ path, reason }) => `${path} (${reason})`);
  return `Some files could not be stored with the workspace: ${listText(names, count)}`;
}

/** Posts what the newest checkpoint lacks in the threads of the run. */
export function postGaps(edit: RunEdit, gaps: string): void {
  const text = `${gaps}\nThey stay on their worker. If the run continues on another one, they will be missing.`;
  edit.notices.postNote(text);
}

/** What a run that is about to continue has lost, in words for its user and its agent. Undefined: nothing. */
export function lostFiles(
  run: Run,
  { gone, isOwnCopy }: Pick<PreparedWorkspace, "gone" | "isOwnCopy">,
): string | undefined {
  const texts = isOwnCopy ? [] : [lostSince(run), goneText(gone)].filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("\n");
}

function lostSince({
  checkpoint,
  checkpointAt,
  checkpointGaps,
  lostAttempts,
  turn,
  turnOpen,
}: Run): string | undefined {
  const time = checkpointAt === undefined ? undefined : timeText(checkpointAt);
  const lost = [
    ...(checkpointGaps === undefined ? [] : [checkpointGaps]),
    ...(turnOpen && lostAttempts > 1
      ? [
          `The worker was lost during turn ${turn}. What it changed ${time === undefined ? "in it" : `after ${time}`} was not stored.`,
        ]
      : []),
  ];
  if (lost.length === 0 || turn === 0) {
    return undefined;
  }
  const stored = time === undefined ? "as they were last stored" : `as they were stored at ${time}`;
  const state = checkpoint === undefined ? "as they were before the first turn" : stored;
  return [...lost, `The run continues with the files ${state}.`].join("\n");
}

function goneText(gone: GoneFiles | undefined): string | undefined {
  if (gone === undefined) {
    return undefined;
  }
  return gone.restored === "checkpoint"
    ? "What changed within the last turn is no longer stored. The run continues with the files from before."
    : `Only the work is still stored: commits, changes, and new files that git does not ignore. The repositories were cloned again and the setup was repeated. Missing are ${missingText(gone.paths)}the home directory, and the session of the agent, which starts a new one.`;
}

function missingText(paths: readonly string[]): string {
  const names = listText(paths.slice(0, NAMED_MAX), paths.length);
  return names === "" ? "" : `ignored files (${names}), `;
}

function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
