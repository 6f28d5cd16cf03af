import type { AgentSession } from "../agents/agent-runner.ts";
import type { Run } from "../runs/run.ts";
import type { Storage } from "../storage.ts";

type Runs = Pick<Storage, "runs">;

/** The run whose conversation this one goes on with, until it has a turn of its own. */
export async function findPreviousRun({ runs }: Runs, run: Run): Promise<Run | undefined> {
  if (run.continuesId === undefined || hasOwnTurn(run)) return undefined;
  return runs.find({ id: run.continuesId });
}

/** The newest files of the conversation: an earlier run may have ended before it had any. */
export async function findPreviousCheckpoint({ runs }: Runs, run: Run): Promise<string | undefined> {
  for (let id = run.continuesId; id !== undefined; ) {
    const before = await runs.find({ id });
    if (before?.checkpoint !== undefined) return before.checkpoint;
    id = before?.continuesId;
  }
  return undefined;
}

/** The agent's memory to take up: the run's own, or that of the run before, if it was the same agent's. */
export function sessionToResume(run: Run, before: Run | undefined): string | undefined {
  if (run.agentSession !== undefined) return run.agentSession;
  return before?.agent === run.agent ? before.agentSession : undefined;
}

/** Whether the agent's session holds what was said in the conversation so far. */
export function knowsEarlier(
  run: Run,
  { resumed, sessionId }: Pick<AgentSession, "resumed" | "sessionId">,
  before: Run | undefined,
): boolean {
  // A session of this run's own that was lost before its first turn ended was told nothing, or nobody knows how much.
  if (before !== undefined) return resumed && sessionId === before.agentSession;
  return resumed || run.turn === 0;
}

function hasOwnTurn({ turn, turnOpen }: Run): boolean {
  return turn > 1 || (turn === 1 && !turnOpen);
}
