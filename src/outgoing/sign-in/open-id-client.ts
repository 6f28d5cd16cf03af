import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  refreshTokenGrant,
} from "openid-client";
import { defined } from "../../core/basics/defined.ts";
import { PersonNeeded, type SignInAttempt, unproven } from "../../core/ports/sign-in-provider.ts";
import { ClientCredentials } from "./client-credentials.ts";
import { errorCodeOf, namesAnother, reasonOf, textFor, UserInfoFailed } from "./issuer-error.ts";
import type { OidcConfig } from "./oidc-config.ts";

interface OpenIdSettings extends Pick<OidcConfig, "issuer" | "clientId" | "clientSecret" | "scopes"> {
  /** Whether the claims of an ID token are enough if the user info cannot be read. */
  readonly suffices: (claims: Claims) => boolean;
}

/** What the issuer says about the person. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** What the issuer said in a sign-in, and what it can be asked with later. */
export interface Proof {
  readonly claims: Claims;
  readonly refreshToken: string | undefined;
  /** Why claims may be missing. */
  readonly gaps?: readonly string[];
}

/** Whom a refresh token belongs to. */
export type Refreshable = Pick<Claims, "iss" | "sub"> & { readonly refreshToken: string };

/** `unclear`: the issuer gives no claims without the browser. `unanswered`: the next question needs `refreshToken`. */
export type Refreshed =
  | (Proof & { readonly outcome: "proven" })
  | { readonly outcome: "refused" | "unclear"; readonly reason: string }
  | { readonly outcome: "unanswered"; readonly reason: string; readonly refreshToken: string };

const TIMEOUT_SECONDS = 10;
/** By so much the clocks of the issuer and of this server may differ. */
const CLOCK_TOLERANCE_SECONDS = 60;
/** A page waits for this, so it is short. */
const PROBE_MS = 3_000;

/** The answers to a silent sign-in by which the issuer does not confirm the person in this browser. */
const PERSON_NEEDED: ReadonlySet<string | undefined> = new Set([
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
  "access_denied",
]);
/** The answers to a refresh token that concern the person. Others concern the client or the issuer. */
const REFUSED: ReadonlySet<string | undefined> = new Set([
  "invalid_grant",
  "access_denied",
  "login_required",
  "interaction_required",
  "consent_required",
  // Of the user info, for an access token that the issuer has just given.
  "invalid_token",
]);
/** The client may not refresh at all. */
const NOT_OFFERED: ReadonlySet<string | undefined> = new Set([
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
]);

/** One issuer of OpenID Connect. Its addresses are read at the first sign-in, so that Errand starts without it. */
export class OpenIdClient {
  readonly #settings: OpenIdSettings;
  readonly #credentials: ClientCredentials;
  #known: Promise<Configuration> | undefined;

  constructor(settings: OpenIdSettings) {
    this.#settings = settings;
    this.#credentials = new ClientCredentials(settings.clientSecret);
  }

  async authorizationUrl({ isSilent, nonce, redirectUri, state, verifier }: SignInAttempt): Promise<URL> {
    return buildAuthorizationUrl(
      await this.#configuration(),
      defined({
        redirect_uri: redirectUri,
        scope: this.#settings.scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        prompt: isSilent === true ? "none" : undefined,
      }),
    );
  }

  /**
   * Exchanges the code of the callback and returns the claims of the verified ID token, with those of the user info
   * that it does not have. The library compares state, nonce, issuer, audience and times, and verifies the signature.
   */
  async prove(callback: URL, { nonce, state, verifier }: SignInAttempt): Promise<Proof> {
    const configuration = await this.#configuration();
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    try {
      const tokens = await this.#credentials.use(() =>
        authorizationCodeGrant(configuration, callback, checks),
      );
      const claims = tokens.claims();
      if (claims === undefined) {
        throw new Error("The issuer sent no ID token.");
      }
      return {
        ...(await this.#complete(configuration, tokens.access_token, claims)),
        refreshToken: tokens.refresh_token,
      };
    } catch (error) {
      if (error instanceof AuthorizationResponseError && PERSON_NEEDED.has(error.error)) {
        throw new PersonNeeded(new Error(reasonOf(error)));
      }
      throw unproven(textFor(error), new Error(reasonOf(error)));
    }
  }

  /** Asks for the claims of the person again. Does not throw. */
  async refresh({ iss, refreshToken: former, sub }: Refreshable): Promise<Refreshed> {
    let refreshToken = former;
    try {
      const configuration = await this.#configuration();
      const tokens = await this.#credentials.use(() => refreshTokenGrant(configuration, former));
      refreshToken = tokens.refresh_token ?? former;
      const claims = tokens.claims();
      if (claims !== undefined && claims.sub !== sub) {
        return { outcome: "refused", reason: "The issuer answered for another person." };
      }
      if (claims !== undefined) {
        const completed = await this.#complete(configuration, tokens.access_token, claims);
        return { outcome: "proven", ...completed, refreshToken };
      }
      const info = await userInfo(configuration, tokens.access_token, sub);
      return info === undefined
        ? { outcome: "unclear", reason: "The issuer names no claims without the browser." }
        : { outcome: "proven", claims: mergeClaims(info, { iss, sub }), refreshToken };
    } catch (error) {
      return failedRefresh(error, refreshToken);
    }
  }

  /**
   * Adds the claims of the user info to those of the ID token. It is not needed if the token says everything, and a
   * failure counts only if the token does not say enough.
   */
  async #complete(
    configuration: Configuration,
    accessToken: string,
    claims: Claims,
  ): Promise<Pick<Proof, "claims" | "gaps">> {
    const isEnough = this.#settings.suffices(claims);
    if (isEnough && claims.name !== undefined && claims.email !== undefined) {
      return { claims };
    }
    try {
      return { claims: mergeClaims((await userInfo(configuration, accessToken, claims.sub)) ?? {}, claims) };
    } catch (error) {
      if (!isEnough || namesAnother(error)) {
        throw new UserInfoFailed(error);
      }
      return { claims, gaps: [reasonOf(new UserInfoFailed(error))] };
    }
  }

  /** Whether the issuer answers. */
  async answers(): Promise<boolean> {
    try {
      const configuration = await this.#configuration();
      const { authorization_endpoint: page } = configuration.serverMetadata();
      const signal = AbortSignal.timeout(PROBE_MS);
      const response = await fetch(page ?? this.#settings.issuer, {
        method: "HEAD",
        redirect: "manual",
        signal,
      });
      return response.status < 500;
    } catch {
      return false;
    }
  }

  /** A failure is not cached. */
  #configuration(): Promise<Configuration> {
    this.#known ??= this.#discover().catch((error: unknown) => {
      this.#known = undefined;
      throw error;
    });
    return this.#known;
  }

  async #discover(): Promise<Configuration> {
    const { clientId, clientSecret, issuer } = this.#settings;
    const url = new URL(issuer);
    // The configuration allows plain HTTP on this machine only.
    const insecure = url.protocol === "http:" ? [allowInsecureRequests] : [];
    const client = { client_secret: clientSecret, [clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    return discovery(url, clientId, client, this.#credentials.authentication, {
      execute: [...insecure, enableNonRepudiationChecks],
      timeout: TIMEOUT_SECONDS,
    });
  }
}

/** The user info of a new access token. Undefined if the issuer has none. */
async function userInfo(configuration: Configuration, accessToken: string, sub: string) {
  const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
  return endpoint === undefined ? undefined : fetchUserInfo(configuration, accessToken, sub);
}

function failedRefresh(error: unknown, refreshToken: string): Refreshed {
  const code = errorCodeOf(error);
  const reason = reasonOf(error);
  if (REFUSED.has(code)) {
    return { outcome: "refused", reason };
  }
  return NOT_OFFERED.has(code)
    ? { outcome: "unclear", reason }
    : { outcome: "unanswered", reason, refreshToken };
}

/** That an address is verified counts only for the address beside it. */
function mergeClaims(info: Readonly<Record<string, unknown>>, claims: Claims): Claims {
  const { email: _email, email_verified: _verified, ...others } = info;
  return "email" in claims
    ? { ...others, ...claims }
    : { ...claims, ...info, iss: claims.iss, sub: claims.sub };
}
