import type { Viewer } from "../model/people/principal.ts";
import type { Run } from "../model/runs/run.ts";
import type { TransactionExtras } from "../runs/transaction-extras.ts";
import type { PolicyEvaluator } from "../team/policies/run-rules.ts";
import type { RunChanger } from "./run-changer.ts";

interface ApprovalRights {
  readonly evaluate: PolicyEvaluator;
  /** What the person is in a thread of the run, if that gives the right. */
  readonly decidedAs?: string;
}

/**
 * A person may approve on the page what that person may approve in a thread of the run. A policy of the team that denies it on
 * the page counts.
 */
export async function approvalRights(
  changer: Pick<RunChanger, "evaluator">,
  viewer: Viewer,
  { from, provenFrom }: Pick<TransactionExtras, "from" | "provenFrom">,
  readRun: () => Promise<Run>,
): Promise<ApprovalRights> {
  const evaluate = await changer.evaluator(viewer, from);
  // In a thread, the platform has already said who the person is.
  if (provenFrom === undefined) {
    return { evaluate };
  }
  const run = await readRun();
  const { effect, policy } = evaluate("approve", run);
  const others = effect === "deny" && policy.builtin === true ? await provenFrom() : [];
  for (const other of others) {
    const there = await changer.evaluator(viewer, other);
    if (there("approve", run).effect === "allow") {
      return { evaluate: there, decidedAs: `${other.roles?.join(", ")} in ${other.place}` };
    }
  }
  return { evaluate };
}
