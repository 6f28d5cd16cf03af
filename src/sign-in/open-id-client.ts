import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from "openid-client";
import type { OidcConfig } from "../config/sign-in.ts";
import { type SignInAttempt, unproven } from "../core/people/sign-in-provider.ts";

type OpenIdSettings = Pick<OidcConfig, "issuer" | "clientId" | "clientSecret" | "scopes">;

/** What the issuer says about the person. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

const TIMEOUT_SECONDS = 10;

/** One issuer of OpenID Connect. Its addresses are read at the first sign-in, so that Errand starts without it. */
export class OpenIdClient {
  readonly #settings: OpenIdSettings;
  #known: Promise<Configuration> | undefined;

  constructor(settings: OpenIdSettings) {
    this.#settings = settings;
  }

  async authorizationUrl({ nonce, redirectUri, state, verifier }: SignInAttempt): Promise<URL> {
    return buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
  }

  /**
   * Exchanges the code of the callback and returns the claims of the verified ID token, with those of the user info
   * that it does not have. The library compares state, nonce, issuer, audience and times, and verifies the signature.
   */
  async claims(callback: URL, { nonce, state, verifier }: SignInAttempt): Promise<Claims> {
    const configuration = await this.#configuration();
    try {
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) {
        throw unproven("The issuer sent no ID token.");
      }
      const { userinfo_endpoint: hasUserInfo } = configuration.serverMetadata();
      const info =
        hasUserInfo === undefined ? {} : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return mergeClaims(info, claims);
    } catch (error) {
      throw unproven("The issuer did not confirm this sign-in.", error);
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
    return discovery(url, clientId, clientSecret, undefined, {
      execute: [...insecure, enableNonRepudiationChecks],
      timeout: TIMEOUT_SECONDS,
    });
  }
}

/** That an address is verified counts only for the address beside it. */
function mergeClaims(info: Readonly<Record<string, unknown>>, claims: Claims): Claims {
  const { email: _email, email_verified: _verified, ...others } = info;
  return "email" in claims
    ? { ...others, ...claims }
    : { ...claims, ...info, iss: claims.iss, sub: claims.sub };
}
