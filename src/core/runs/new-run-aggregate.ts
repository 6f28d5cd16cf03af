import { defined } from "../basics/defined.ts";
import type { Approval, Run, RunDefinition } from "../model/runs/run.ts";
import type { RunAggregate } from "../ports/stores/run-store.ts";
import { approvalMessage } from "./approval.ts";

const TITLE_FROM_PROMPT_LENGTH = 80;

/** The aggregate of a run that does not exist yet, with the approval that it must wait for. */
export function newRunAggregate(
  origin: RunDefinition,
  {
    approval,
    othersWrote,
  }: { readonly approval?: Approval | undefined; readonly othersWrote?: boolean } = {},
): RunAggregate {
  const progress = {
    ...(approval === undefined
      ? ({ state: "QUEUED" } as const)
      : ({ state: "BLOCKED", approval, statusMessage: approvalMessage(approval) } as const)),
    stateSince: origin.createdAt,
    turn: 0,
    turnOpen: false,
    attempt: 0,
    lostAttempts: 0,
    totalTokens: 0,
    ...defined({ othersWrote: othersWrote === true ? othersWrote : undefined }),
  } as const;
  const run: Run = { ...origin, ...progress, updatedAt: origin.createdAt, lastSeq: 0 };
  return { run, waiting: [], taken: [], threads: [], leaseOver: false };
}

export function titleFrom(prompt: string): string {
  const line = prompt.trim().split("\n", 1)[0] ?? "";
  if (line.length <= TITLE_FROM_PROMPT_LENGTH) {
    return line;
  }
  return `${Array.from(line).slice(0, TITLE_FROM_PROMPT_LENGTH).join("")}…`;
}
