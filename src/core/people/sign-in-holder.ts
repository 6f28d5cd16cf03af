import { type ApiKey, hasScope, isAlive, type KeyHolder, type Scope } from "./api-key.ts";
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
  return isOfLivingKey ? { principal, scopes: key.scopes, key, signIn } : undefined;
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
  return administrator ? ["admin"] : ["runs:write", "settings:write"];
}
