import { AppError } from "../../core/errors.ts";
import { parseId } from "../../core/ids.ts";

/** What is no UUID can be nobody's id: the same answer as for an unknown one. `what` is that one's noun. */
export function requireId<Id extends string = string>(text: string, what: string): Id {
  const id = parseId<Id>(text);
  if (id === undefined) throw new AppError("resource_not_found", `There is no such ${what}.`);
  return id;
}
