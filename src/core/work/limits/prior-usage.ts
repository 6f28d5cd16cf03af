import type { RunEvent } from "../../model/runs/events.ts";
import type { Run } from "../../model/runs/run.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { readLog } from "../lease/read-log.ts";
import { costIn } from "./usage-meter.ts";

type EventLogDeps = Pick<AttemptDeps, "clock" | "storage">;

/** Only the end of a long log is read. */
const EVENTS_MAX = 5_000;

/**
 * The cost that a resumed agent session has reported before, in this run or in the previous run. It is read from the
 * log, because the total of the run also counts what only the gateway measured.
 */
export async function priorCostUsd(deps: EventLogDeps, run: Run, before: Run | undefined): Promise<number> {
  const reporter = run.agentSession === undefined ? before : run;
  if (reporter === undefined) {
    return 0;
  }
  const { id, lastSeq } = reporter;
  const after = Math.max(0, lastSeq - EVENTS_MAX);
  let costUsd = 0;
  for await (const { body } of readLog(deps, { id, lastSeq, after, kinds: ["agent.usage"] })) {
    costUsd = costIn(body) ?? costUsd;
  }
  return costUsd;
}

/**
 * How long agents worked on the run, according to its log. Time spent waiting for a person, a worker or a slot does not
 * count.
 */
export async function priorWorkMs(
  deps: EventLogDeps,
  { id, lastSeq, slotWaitMs = 0 }: Pick<Run, "id" | "lastSeq" | "slotWaitMs">,
): Promise<number> {
  let workedMs = -slotWaitMs;
  let since: Date | undefined;
  for await (const event of readLog(deps, { id, lastSeq, kinds: ["run.state"] })) {
    if (since !== undefined) {
      workedMs += Math.max(0, event.at.getTime() - since.getTime());
    }
    since = beginsWork(event) ? event.at : undefined;
  }
  return Math.max(0, workedMs);
}

function beginsWork({ body }: RunEvent): boolean {
  return body.kind === "run.state" && body.to === "INPROGRESS";
}
