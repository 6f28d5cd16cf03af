import type { PrincipalId } from "../ids.ts";
import type { IdempotentResponse } from "./idempotent-response.ts";

/** Answers to writes that carried an idempotency key. */
export interface IdempotencyStore {
  find(principalId: PrincipalId, key: string): Promise<IdempotentResponse | undefined>;
  /** Throws `UniqueConflict` when the key has an answer already. */
  remember(answer: IdempotentResponse): Promise<void>;
  /** Forgets answers that are older than a day, some thousand of them; how many. */
  prune(): Promise<number>;
}
