import { defined } from "../basics/defined.ts";
import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requireAllowed } from "../model/policies/evaluate-policies.ts";
import { isEnded, RUN_STATES } from "../model/runs/states.ts";
import type { RunFilters } from "../ports/stores/run-query.ts";
import type { RunStore } from "../ports/stores/run-store.ts";
import { decideCancel } from "../runs/decide-cancel.ts";
import type { PolicyEvaluator } from "../team/policies/run-rules.ts";
import type { RunChanger } from "./run-changer.ts";

export const CANCEL_STATUSES = [
  "cancelled",
  "already_cancelled",
  "ended",
  "not_found",
  "not_authorized",
] as const;
/** What cancelling one of several runs resulted in. */
export type CancelStatus = (typeof CANCEL_STATUSES)[number];

export async function cancelMany(
  changer: RunChanger,
  ids: readonly RunId[],
  viewer: Viewer,
): Promise<ReadonlyMap<RunId, CancelStatus>> {
  const statuses = new Map<RunId, CancelStatus>();
  const evaluate = await changer.evaluator(viewer);
  // In one order, so that two requests for the same runs do not block each other.
  for (const id of [...new Set(ids)].sort()) {
    statuses.set(id, await tryCancel(changer, id, viewer, evaluate));
  }
  return statuses;
}

async function tryCancel(
  changer: RunChanger,
  id: RunId,
  viewer: Viewer,
  evaluate: PolicyEvaluator,
): Promise<CancelStatus> {
  let isChanged = false;
  try {
    await changer.change(id, viewer, (edit) => {
      requireAllowed(evaluate("cancel", edit.run));
      isChanged = decideCancel(edit, viewer);
    });
  } catch (error) {
    return statusOf(error);
  }
  return isChanged ? "cancelled" : "already_cancelled";
}

/** What a refused cancellation says about the run. Any other failure is thrown. */
function statusOf(error: unknown): CancelStatus {
  const code = error instanceof AppError ? error.code : undefined;
  switch (code) {
    case "invalid_request":
      return "ended";
    case "not_authorized":
      return "not_authorized";
    case "resource_not_found":
      return "not_found";
    default:
      throw error;
  }
}

/** More would take too long for one transaction. */
export const CANCELLED_TOGETHER_MAX = 200;
/** The number of runs may change a little between the look and the cancellation. */
const TOLERANCE = 0.1;

/**
 * Finds the runs that a filter matches and that have not ended. Refuses if their number is not about the one that the
 * caller expects: a filter that is wider than the caller thinks must cancel nothing.
 */
export async function findExpected(
  runs: Pick<RunStore, "list">,
  viewer: Viewer,
  filters: RunFilters | undefined,
  expected: number,
): Promise<readonly RunId[]> {
  const ids = await findOpen(runs, viewer, filters);
  if (ids.length > CANCELLED_TOGETHER_MAX) {
    throw unexpected(`more than ${CANCELLED_TOGETHER_MAX} runs`, "Narrow the filter.");
  }
  if (Math.abs(ids.length - expected) > expected * TOLERANCE) {
    const found = ids.length === 1 ? "1 run" : `${ids.length} runs`;
    throw unexpected(
      `${found}, and not ${expected}`,
      "Look at these runs, then send their number.",
      ids.length,
    );
  }
  return ids;
}

function unexpected(found: string, remedy: string, matchingRuns?: number): AppError {
  const message = `The filter matches ${found} that have not ended.`;
  return new AppError("conflict", message, defined({ remedy, matchingRuns }));
}

/** Only exact words count: similar ones would match what the caller did not mean. No filters: nothing can match. */
async function findOpen(
  runs: Pick<RunStore, "list">,
  viewer: Viewer,
  filters: RunFilters | undefined,
): Promise<readonly RunId[]> {
  const states = (filters?.states ?? RUN_STATES).filter((state) => !isEnded(state));
  if (filters === undefined || states.length === 0) {
    return [];
  }
  const query = { viewer, filters: { ...filters, states }, sort: "created_at", order: "asc" } as const;
  const limit = CANCELLED_TOGETHER_MAX + 1;
  let page = await runs.list({ ...query, limit });
  let ids = page.runs.map(({ id }) => id);
  // A page of long runs is shorter.
  while (page.next !== undefined && ids.length < limit) {
    page = await runs.list({ ...query, limit, after: page.next });
    ids = [...ids, ...page.runs.map(({ id }) => id)];
  }
  return ids;
}
