import type { PrincipalId, RunId } from "../ids.ts";

/** The response to a write that carried an idempotency key. */
export interface IdempotentResponse {
  readonly principalId: PrincipalId;
  readonly key: string;
  /** A hash of method, route and body. The same key with another request is refused. */
  readonly requestHash: string;
  /** The HTTP status of the response. */
  readonly status: number;
  readonly body: unknown;
  /** The run that the response is about. It is deleted with the run. */
  readonly runId?: RunId;
}

/** What a response with a secret is bound to, when it is sealed. */
export function answerOwner({ principalId, key }: Pick<IdempotentResponse, "principalId" | "key">): string {
  return `answer:${principalId}:${key}`;
}
