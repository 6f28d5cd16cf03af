import type { PrincipalId, RunId } from "../../basics/ids.ts";

/** Stores responses to writes that carried an idempotency key. */
export interface IdempotencyStore {
  find(principalId: PrincipalId, key: string): Promise<IdempotentResponse | undefined>;
  /** Throws `UniqueConflict` when the key already has a response. */
  remember(answer: IdempotentResponse): Promise<void>;
  /** Deletes some thousand responses that are older than a day, and returns how many. */
  prune(): Promise<number>;
}

/** The response to a write that carried an idempotency key. */
export interface IdempotentResponse {
  readonly principalId: PrincipalId;
  readonly key: string;
  /** A hash of method, route and body. The same key with another request is refused. */
  readonly requestHash: string;
  /** The HTTP status of the response, or `RUN_DELETED`. */
  readonly status: number;
  readonly body: unknown;
  /** The run that the response is about. With the run, all is deleted except the key, its hash and the fact. */
  readonly runId?: RunId;
}

/** The status of a response whose run was deleted. A repeat must not make the run again. */
export const RUN_DELETED = 410;

/** What a response with a secret is bound to, when it is sealed. */
export function answerOwner({ principalId, key }: Pick<IdempotentResponse, "principalId" | "key">): string {
  return `answer:${principalId}:${key}`;
}
