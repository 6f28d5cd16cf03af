import { defined } from "../basics/defined.ts";
import type { Log } from "../basics/log.ts";
import type { Run } from "../model/runs/run.ts";
import { isEnded } from "../model/runs/states.ts";

/**
 * Writes the one log line about the end of a run. Nothing if the run continues. Without a worker, none had it at its
 * end.
 */
export function logRunEnd(log: Log, run: Run, worker?: string): void {
  if (!isEnded(run.state)) {
    return;
  }
  const { agent, agentVersion, attempt, costUsd, endedAt, id, startedAt, state, statusMessage, totalTokens } =
    run;
  const code = statusMessage?.errorCode;
  const reason = statusMessage?.reason;
  log.info("run.ended", {
    runId: id,
    state,
    ...defined({
      code,
      reason,
      durationMs:
        startedAt === undefined || endedAt === undefined
          ? undefined
          : endedAt.getTime() - startedAt.getTime(),
    }),
    costUsd: costUsd ?? 0,
    tokens: totalTokens,
    agent,
    ...defined({ agentVersion, worker }),
    attempt,
  });
}
