import type { PrincipalId, TeamId } from "../../basics/ids.ts";

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
  /** When the identity provider last confirmed the person. Absent: when the sign-in was created. */
  readonly provenAt?: Date;
  /** Before that time the identity provider is not asked again. */
  readonly renewAfter?: Date;
  /** Whether the server asks the identity provider again by itself, without the browser. */
  readonly isRenewable?: true;
}

/** What the sealed renewal of a sign-in is bound to. */
export function renewalOwner(signInId: string): string {
  return `sign-in ${signInId}`;
}
