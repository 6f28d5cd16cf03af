import { beginningOf } from "../basics/clean-text.ts";
import type { Run } from "../model/runs/run.ts";
import type { RunStore } from "../ports/stores/run-store.ts";

/** What the agent answered in the last turn that it finished. */
export interface RunResult {
  readonly text: string;
  readonly turn: number;
  readonly isTruncated: boolean;
  /** The part that the output schema of the run asks for. */
  readonly data?: unknown;
}

const RESULT_BYTES_MAX = 64 * 1_024;

/**
 * Reads the result from the log, so that it exists once and the row of the run stays small. Undefined before the end of
 * the first turn. Threads show another text: they omit the answers of private turns and of failed runs.
 */
export async function findResult(
  runs: Pick<RunStore, "findTurnEnd">,
  { id, turn, turnOpen }: Pick<Run, "id" | "turn" | "turnOpen">,
): Promise<RunResult | undefined> {
  const ended = turn - (turnOpen ? 1 : 0);
  const event = ended > 0 ? await runs.findTurnEnd(id) : undefined;
  if (event?.body.kind !== "turn.ended") {
    return undefined;
  }
  const { answer, data } = event.body;
  const text = beginningOf(answer, RESULT_BYTES_MAX);
  return { text, turn: event.turn, isTruncated: text.length < answer.length, data };
}
