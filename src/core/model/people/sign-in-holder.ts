import {
  type ApiKey,
  hasScope,
  holderOfKey,
  isAlive,
  type KeyHolder,
  MEMBER_SCOPES,
  type Scope,
} from "./api-key.ts";
import type { Principal } from "./principal.ts";
import type { SignIn } from "./sign-in.ts";

/** A known sign-in with its principal and, if it was made with a key, that key. */
export interface KnownSignIn {
  readonly signIn: SignIn;
  readonly principal: Principal;
  readonly key?: ApiKey;
}

/** What the sign-in allows now. Undefined if it has ended, or if its key or its principal has. */
export function holderOfSignIn({ key, principal, signIn }: KnownSignIn, now: Date): KeyHolder | undefined {
  if (signIn.endedAt !== undefined || signIn.expiresAt <= now || principal.disabled) {
    return undefined;
  }
  if (signIn.keyId === undefined) {
    return { principal, scopes: scopesOfRole(principal), signIn };
  }
  const isOfLivingKey = key !== undefined && isAlive({ key, principal }, now);
  return isOfLivingKey ? { ...holderOfKey({ key, principal }), signIn } : undefined;
}

/** The age of a proof at which the next page that the browser opens asks the identity provider again. */
export const PROOF_MS = 3_600_000;

/** Whether the browser must prove again who the person is. A renewable sign-in is renewed without the browser. */
export function isProofDue(
  { createdAt, isRenewable, method, provenAt, renewAfter }: SignIn,
  now: Date,
): boolean {
  if (method !== "oidc" || isRenewable === true || (renewAfter !== undefined && renewAfter > now)) {
    return false;
  }
  return (provenAt ?? createdAt).getTime() + PROOF_MS <= now.getTime();
}

/** Whether the holder may do all that a sign-in without a key allows, and not only until its key expires. */
export function isUnrestricted(holder: KeyHolder): boolean {
  return (
    holder.key?.expiresAt === undefined &&
    scopesOfRole(holder.principal).every((scope) => hasScope(holder, scope))
  );
}

/** What a principal may do that signed in without a key. */
function scopesOfRole({ administrator }: Principal): readonly Scope[] {
  return administrator ? ["admin"] : MEMBER_SCOPES;
}
