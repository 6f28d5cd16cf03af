import type { Digest, SecretBox } from "../../basics/crypto.ts";
import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import type { IdentityLink } from "../../model/people/identity.ts";
import type { Principal } from "../../model/people/principal.ts";

/** Two principals of one person. Everything of `from` becomes that of `into`. */
export interface PrincipalJoin {
  readonly from: Principal;
  readonly into: Principal;
}

/** The accounts of one person in a team. The person wrote with the first of them. */
export interface PersonAccounts {
  readonly teamId: TeamId;
  readonly subjects: readonly string[];
}

export interface JoinResult {
  readonly isJoined: boolean;
  /** The principal that the first account has now. */
  readonly principalId: PrincipalId | undefined;
}

/** Seals values anew that are bound to their owner, and makes ids of it. */
export interface RebindTools {
  readonly box: Pick<SecretBox, "open" | "seal">;
  readonly digest: Digest;
}

/** Joins principals of one person. */
export interface PrincipalJoinStore {
  /**
   * Joins the two principals that `choose` returns of those of the accounts, all of which it gets with their links, in one
   * transaction. The principal that was joined has no account any more, and is disabled. Its larger tables may be moved in
   * part only.
   */
  join(
    accounts: PersonAccounts,
    choose: (principals: readonly Principal[], links: readonly IdentityLink[]) => PrincipalJoin | undefined,
    tools: RebindTools,
  ): Promise<JoinResult>;
  /**
   * Moves what joined principals still have: the rest of large tables, and what was stored during the join. Returns how
   * many rows were moved. Zero: none is left.
   */
  moveRest(tools: RebindTools): Promise<number>;
}
