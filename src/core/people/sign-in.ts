import type { PrincipalId, TeamId } from "../ids.ts";
import { type ApiKey, isAlive, type KeyHolder, type Scope } from "./api-key.ts";
import type { Principal } from "./principal.ts";

/** How a principal can sign in to the pages: with an API key, an outside account, OpenID Connect or a one-time link. */
export const SIGN_IN_METHODS = ["api_key", "slack", "github", "oidc", "link"] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** A browser that is signed in to the pages. Its token is in the browser's cookie and is not stored. */
export interface SignIn {
  readonly id: string;
  readonly teamId: TeamId;
  readonly principalId: PrincipalId;
  readonly method: SignInMethod;
  /** The API key of a sign-in by `api_key`. The sign-in ends with this key and allows what its scopes allow. */
  readonly keyId?: string;
  readonly createdAt: Date;
  /** Accurate to a few minutes. */
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  /** The address and the user agent of the request that signed in. */
  readonly address?: string;
  readonly userAgent?: string;
  readonly endedAt?: Date;
}

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

/** What a principal may do that signed in without a key. */
function scopesOfRole({ administrator }: Principal): readonly Scope[] {
  return administrator ? ["admin"] : ["runs:write", "settings:write"];
}
