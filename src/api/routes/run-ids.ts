import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import { parseRunId, type RunId } from "../../core/ids.ts";

export const RunParams = z.object({ runId: z.string().describe("A UUID.") });

/** What is no UUID can be no run's id: the same answer as for an unknown one. */
export function requireRunId(text: string): RunId {
  const id = parseRunId(text);
  if (id === undefined) throw new AppError("resource_not_found", "There is no such run.");
  return id;
}
