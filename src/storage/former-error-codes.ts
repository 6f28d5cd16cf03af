import type { ErrorCode, FailureReason } from "../core/basics/errors.ts";

interface Current {
  readonly errorCode: ErrorCode;
  readonly reason: FailureReason;
}

/** Codes of an earlier version, which are reasons now. */
const FORMER_CODES: ReadonlyMap<unknown, Current> = new Map([
  ["agent_process_failed", { errorCode: "internal_error", reason: "agent_process_failed" }],
  ["infrastructure_timeout", { errorCode: "resource_unavailable", reason: "infrastructure_timeout" }],
]);

/**
 * Returns a stored status message with a code of this version. Rows are converted when they are read and not by a
 * migration, because a process of the earlier version may still write them during an upgrade.
 */
export function withCurrentCode(stored: unknown): unknown {
  const current = FORMER_CODES.get(Object(stored).errorCode);
  return current === undefined ? stored : { ...Object(stored), ...current };
}
