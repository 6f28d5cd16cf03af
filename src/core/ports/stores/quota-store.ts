import type { TeamId } from "../../basics/ids.ts";
import type { Quota, QuotaUse } from "../../model/usage/quota.ts";

/** The moment, and the API key whose runs count for the quotas of a key. */
export interface QuotaCount {
  readonly at: Date;
  readonly apiKeyId?: string | undefined;
}

/**
 * Stores the quotas of teams. The creation of a run checks them in its transaction (`RunStore.create`), so that
 * concurrent requests cannot exceed them.
 */
export interface QuotaStore {
  /** The quotas of the team with their use, which is counted from its runs. */
  list(teamId: TeamId, count: QuotaCount): Promise<readonly QuotaUse[]>;
  /** They replace all quotas of the team. False: there is no such team. */
  replace(teamId: TeamId, quotas: readonly Quota[]): Promise<boolean>;
}
