import type { PrincipalId } from "../../basics/ids.ts";
import type { IdempotentResponse } from "./idempotent-response.ts";

/** Stores responses to writes that carried an idempotency key. */
export interface IdempotencyStore {
  find(principalId: PrincipalId, key: string): Promise<IdempotentResponse | undefined>;
  /** Throws `UniqueConflict` when the key already has a response. */
  remember(answer: IdempotentResponse): Promise<void>;
  /** Deletes some thousand responses that are older than a day, and returns how many. */
  prune(): Promise<number>;
}
