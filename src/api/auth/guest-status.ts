import type { ErrorCode } from "../../core/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";

/**
 * The status of a run as guests are told it: of what kind it is. Its own words name people, costs and what the team has set
 * up. Undefined: no more than the state itself says.
 */
export function statusForGuest<Status extends { readonly message: string }>(
  status: Status | undefined,
  code: ErrorCode | undefined,
): Status | undefined {
  if (status === undefined || code === undefined) return undefined;
  return { ...status, message: ERROR_TABLE[code].title };
}
