import type { PrincipalId, TeamId } from "../ids.ts";

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
