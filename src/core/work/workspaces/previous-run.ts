import type { Run } from "../../model/runs/run.ts";
import type { StoredFiles } from "../../model/workspaces/workspace.ts";
import type { AgentSession } from "../../ports/agent-runner.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { storedFilesOf } from "./turn-checkpoints.ts";

type Runs = Pick<Storage, "runs">;

/** The previous run of the conversation, until this run has a turn of its own. */
export async function findPreviousRun({ runs }: Runs, run: Run): Promise<Run | undefined> {
  if (run.continuesId === undefined || hasOwnTurn(run)) {
    return undefined;
  }
  return runs.find({ id: run.continuesId });
}

/** The newest files of the conversation. An earlier run may have ended before any were stored. */
export async function findPreviousFiles({ runs }: Runs, run: Run): Promise<StoredFiles | undefined> {
  for (let id = run.continuesId; id !== undefined; ) {
    const before = await runs.find({ id });
    const stored = before === undefined ? undefined : storedFilesOf(before);
    if (stored !== undefined) {
      return stored;
    }
    id = before?.continuesId;
  }
  return undefined;
}

/** The run with the agent session to resume: this run, or the previous run if it used the same agent. */
export function runToResume(run: Run, before: Run | undefined): Run | undefined {
  const holder = run.agentSession === undefined && before?.agent === run.agent ? before : run;
  return holder.agentSession === undefined ? undefined : holder;
}

/** Whether the agent's session contains the conversation so far. */
export function knowsConversation(
  run: Run,
  { resumed, sessionId }: Pick<AgentSession, "resumed" | "sessionId">,
  before: Run | undefined,
): boolean {
  // If this run's own session was lost before its first turn ended, it is unknown how much of the conversation it
  // contains.
  if (before !== undefined) {
    return resumed && sessionId === before.agentSession;
  }
  return resumed || run.turn === 0;
}

function hasOwnTurn({ turn, turnOpen }: Run): boolean {
  return turn > 1 || (turn === 1 && !turnOpen);
}
