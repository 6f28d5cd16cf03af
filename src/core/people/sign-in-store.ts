import type { PrincipalId, TeamId } from "../ids.ts";
import type { SignIn } from "./sign-in.ts";
import type { KnownSignIn } from "./sign-in-holder.ts";

/** Stores sign-ins under the hashes of their tokens. The tokens themselves are not stored. */
export interface SignInStore {
  add(signIn: SignIn, tokenHash: string): Promise<void>;
  findByHash(tokenHash: string): Promise<KnownSignIn | undefined>;
  /**
   * The sign-ins of the team, or of one principal of it, that are open at `now`. Those of ended keys are not. The last
   * seen come first.
   */
  listOpen(whose: SignInOwner, now: Date, limit: number): Promise<readonly SignIn[]>;
  /** Ends the sign-ins that are still open. Returns how many these were. */
  end(which: SignInOwner & { readonly ids?: readonly string[] }, at: Date): Promise<number>;
  /**
   * Throws `authentication_required` if the sign-in has ended. Otherwise it cannot end until the transaction ends, so
   * nothing is written with a sign-in after its end was answered.
   */
  requireOpen(id: string): Promise<void>;
  /** Records that the sign-in was used. */
  touch(id: string, at: Date): Promise<void>;
  /** Deletes expired sign-ins, a limited number at a time, and returns the number. */
  prune(): Promise<number>;
}

export interface SignInOwner {
  readonly teamId: TeamId;
  /** Default: all principals of the team. */
  readonly principalId?: PrincipalId;
}
