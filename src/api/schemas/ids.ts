import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import { parseId, type RunId } from "../../core/basics/ids.ts";

/**
 * Returns the id, or throws the same 404 as for an unknown id, because no record can have an id that is not a UUID.
 * `noun` names the record.
 */
export function requireId<Id extends string = string>(text: string, noun: string): Id {
  const id = parseId<Id>(text);
  if (id === undefined) {
    throw new AppError("resource_not_found", `There is no such ${noun}.`);
  }
  return id;
}

export const RunParams = z.object({ runId: z.string().describe("A UUID.") });
export const ConversationParams = z.object({ conversationId: z.string().describe("A UUID.") });

export function requireRunId(text: string): RunId {
  return requireId(text, "run");
}
