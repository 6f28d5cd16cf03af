import type { PrincipalId } from "../ids.ts";

/** The answer to a write that carried an idempotency key. */
export interface IdempotentResponse {
  readonly principalId: PrincipalId;
  readonly key: string;
  /** Hash of method, route and body: the same key with another request is refused. */
  readonly requestHash: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly body: unknown;
}
