import type { RunAggregate } from "../../ports/stores/run-store.ts";
import { deliverable } from "../../runs/approval.ts";
import type { ChangeCollector } from "../changes/change-collector.ts";
import type { AttemptContext } from "../context/attempt-context.ts";
import type { AttemptServices } from "../context/attempt-services.ts";
import { decideTurnEnd, decideTurnStart } from "../context/decide-attempt.ts";

const END = { stopReason: "end_turn" } as const;
const NOTHING_TO_MERGE = "There is no pull request, because the repositories of the run have no changes.";

/** Whether the next turn only makes the pull request that a person asked for, which needs no agent. */
export function asksOnlyForPullRequest({ run, taken, waiting }: RunAggregate): boolean {
  const followUps = [...(run.turnOpen ? taken : []), ...deliverable(waiting)];
  return (
    run.turn > 0 &&
    followUps.length > 0 &&
    followUps.every(({ asksForPullRequest }) => asksForPullRequest === true)
  );
}

/**
 * Makes the pull request of an ended run in a turn without an agent, if that is all that is asked for. False: nothing is
 * left to do.
 */
export async function makePullRequest(
  { abort, deps, lease, saver }: AttemptServices,
  attemptContext: AttemptContext,
  work: ChangeCollector | undefined,
): Promise<boolean> {
  const isFirst = deps.run.turn === 0;
  if (isFirst || abort.reason !== undefined || !asksOnlyForPullRequest(await lease.getAggregate())) {
    return true;
  }
  await work?.beforeTurn();
  const { run, value } = await lease.write((edit) =>
    asksOnlyForPullRequest(edit.aggregate) ? decideTurnStart(edit, false, deps.run) : undefined,
  );
  if (value === undefined) {
    return true;
  }
  saver.touch(attemptContext);
  const kept = await abort.unless(
    work?.afterTurn(run, END, deps.run.answer ?? "") ?? Promise.resolve(undefined),
  );
  if (abort.reason !== undefined && kept === undefined) {
    return false;
  }
  const { refused = [], remarks = [] } = kept ?? {};
  const urls = (kept?.landed ?? []).flatMap(({ pullRequest }) => pullRequest ?? []);
  const isNothing = urls.length === 0 && refused.length === 0;
  const result = { ...kept, remarks: isNothing ? [...remarks, NOTHING_TO_MERGE] : remarks };
  const { value: hasMore } = await saver.saveWith(
    (edit) => decideTurnEnd(edit, END, answerOf(urls), result),
    kept,
  );
  return hasMore;
}

function answerOf(urls: readonly string[]): string {
  return urls.length === 0 ? "" : `The pull request: ${urls.join(", ")}`;
}
