import type { PrincipalId, TeamId } from "../../basics/ids.ts";

/** Signs one principal in, once. Its token is in its address and is not stored. */
export interface SignInLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly principalId: PrincipalId;
  /** The account on another platform that asked for it. A person who is signed in can join it with their principal. */
  readonly subject?: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt?: Date;
}

/** Stores links under the hashes of their tokens. */
export interface SignInLinkStore {
  /** False: there is a link with this id, and nothing was stored. */
  add(link: SignInLink, tokenHash: string): Promise<boolean>;
  /** The link if it is neither used nor expired. */
  findByHash(tokenHash: string, now: Date): Promise<SignInLink | undefined>;
  /** As `findByHash`, and uses the link up: of several calls, exactly one gets the link. */
  use(tokenHash: string, now: Date): Promise<SignInLink | undefined>;
  /** Deletes expired links, a limited number at a time, and returns the number. */
  prune(): Promise<number>;
}
