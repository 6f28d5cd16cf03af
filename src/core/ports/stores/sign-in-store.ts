import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import type { DeviceCode, DeviceCodeHashes } from "../../model/people/device-code.ts";
import type { SignIn } from "../../model/people/sign-in.ts";
import type { KnownSignIn } from "../../model/people/sign-in-holder.ts";

/** What is stored with a sign-in and never shown. */
export interface SignInSecrets {
  readonly tokenHash: string;
  /** The attempt that led to the sign-in. */
  readonly attemptHash?: string;
  /** What the identity provider is asked with when it must confirm the person again. */
  readonly sealedRenewal?: string;
}

/** A sign-in whose person the identity provider must confirm again. No other process asks meanwhile. */
export interface ClaimedRenewal {
  readonly signIn: SignIn;
  readonly sealedRenewal: string;
  /** Whether an earlier claim of this renewal ended without an answer. */
  readonly isRepeated: boolean;
}

/** Stores sign-ins under the hashes of their tokens. The tokens themselves are not stored. */
export interface SignInStore {
  /** False, and nothing is stored, if the attempt led to a sign-in before. */
  add(signIn: Omit<SignIn, "isRenewable">, secrets: SignInSecrets): Promise<boolean>;
  findByHash(tokenHash: string): Promise<KnownSignIn | undefined>;
  /**
   * The sign-ins of the team, or of one principal of it, that are open at `now`. Those of ended keys are not. The last
   * seen come first.
   */
  listOpen(whose: SignInOwner, now: Date, limit: number): Promise<readonly SignIn[]>;
  /** Ends the sign-ins that are still open, and deletes their renewals. Returns how many these were. */
  end(which: SignInOwner & { readonly ids?: readonly string[] }, at: Date): Promise<number>;
  /**
   * Throws `authentication_required` if the sign-in has ended. Otherwise it cannot end until the transaction ends, so
   * nothing is written with a sign-in after its end was answered.
   */
  requireOpen(id: string): Promise<void>;
  /** Records that the sign-in was used. */
  touch(id: string, at: Date): Promise<void>;
  /** Claims open sign-ins with a renewal whose last proof is older than `provenBefore`, until `until`. */
  claimRenewals(at: {
    readonly now: Date;
    readonly provenBefore: Date;
    readonly until: Date;
    readonly limit: number;
  }): Promise<readonly ClaimedRenewal[]>;
  /**
   * Stores the outcome of a claim if the sign-in is still open. Without `provenAt`, the time of the last proof stays, and
   * so does the claim if there is a renewal. Without a renewal, the sign-in is no longer renewable.
   */
  renewed(id: string, outcome: { readonly provenAt?: Date; readonly sealedRenewal?: string }): Promise<void>;
  /** Postpones the next proof. Of several concurrent calls, one gets true until the time has passed. */
  postponeProof(id: string, now: Date, until: Date): Promise<boolean>;
  /** Deletes expired sign-ins, a limited number at a time, and returns the number. */
  prune(): Promise<number>;
}

export interface SignInOwner {
  readonly teamId: TeamId;
  /** Default: all principals of the team. */
  readonly principalId?: PrincipalId;
}

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

export interface DeviceCodeStore {
  add(code: DeviceCode, hashes: DeviceCodeHashes): Promise<void>;
  /** Transactions that lock the same network run one after another, so that what they count stays true. */
  lockNetwork(address: string): Promise<void>;
  /** The number of codes of this network that are not expired. */
  countOpen(address: string, now: Date): Promise<number>;
  /** The code with this hash, locked until the transaction ends. */
  lock(which: Partial<DeviceCodeHashes>): Promise<DeviceCode | undefined>;
  update(code: DeviceCode): Promise<void>;
  /** Denies the codes that this principal has approved and whose programs have not got their key. */
  denyApproved(principalId: PrincipalId): Promise<void>;
  /** Deletes expired codes, a limited number at a time, and returns the number. */
  prune(): Promise<number>;
}
