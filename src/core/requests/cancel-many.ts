import { AppError } from "../basics/errors.ts";
import type { RunId } from "../basics/ids.ts";
import type { Viewer } from "../model/people/principal.ts";
import { requireAllowed } from "../model/policies/evaluate-policies.ts";
import { decideCancel } from "../runs/decide-cancel.ts";
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
  // In one order, so that two requests for the same runs do not block each other.
  for (const id of [...new Set(ids)].sort()) {
    statuses.set(id, await tryCancel(changer, id, viewer));
  }
  return statuses;
}

async function tryCancel(changer: RunChanger, id: RunId, viewer: Viewer): Promise<CancelStatus> {
  let isChanged = false;
  const evaluate = await changer.evaluator(viewer);
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
