import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";

export interface OidcIssuer {
  readonly url: string;
  /** The accounts by id, with their claims. */
  readonly accounts: Map<string, Readonly<Record<string, unknown>>>;
  /** The account that signs in next, without any question. */
  next: string;
  /** Whether it gives refresh tokens, each of which works once. */
  givesRefreshTokens: boolean;
  /** Whether it answers everything with 503. */
  isDown: boolean;
  /** What it answers instead of the user info. */
  brokenUserInfo: { readonly status: number; readonly body?: string } | undefined;
  /** How many requests arrived. */
  requests: number;
  /** The bodies of the requests for tokens. */
  readonly tokenRequests: string[];
  /** A token that the issuer's own key signed: of a workflow, if the claims say so. It is valid for five minutes. */
  sign(claims: JWTPayload, options?: SignOptions): Promise<string>;
  stop(): Promise<void>;
}

export interface SignOptions {
  /** Default: the issuer's. A test that signs with another key is an attacker. */
  readonly key?: Parameters<SignJWT["sign"]>[0];
  /** Default: in five minutes. */
  readonly expires?: string | number;
  readonly header?: Partial<JWTHeaderParameters>;
}

const KEY_ID = "a key of the test issuer";

export const OIDC_CLIENT = {
  clientId: "errand",
  clientSecret: "a secret of the client, long enough",
} as const;

export interface IssuerHabits {
  /** The only way in which the client may send its secret. Default: in the body. */
  readonly authMethod?: "client_secret_basic" | "client_secret_post";
  /** The ways that the metadata list. Default: both. */
  readonly listed?: readonly ("client_secret_basic" | "client_secret_post")[];
  /** Whether the ID token has the claims of the person too. Default: only the user info has them. */
  readonly fullToken?: boolean;
  /** Whether the user info is a signed JWT. Default: false. */
  readonly signsUserInfo?: boolean;
}

/** Starts a real issuer of OpenID Connect on loopback. It asks nobody: the account `next` signs in. */
export async function startOidcIssuer(
  redirectUri: string,
  {
    authMethod = "client_secret_post",
    fullToken = false,
    listed = ["client_secret_basic", "client_secret_post"],
    signsUserInfo = false,
  }: IssuerHabits = {},
): Promise<OidcIssuer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const issuer: OidcIssuer = {
    url,
    sign: (claims, { expires = "5m", header, key = privateKey } = {}) =>
      new SignJWT({ iss: url, ...claims })
        .setProtectedHeader({ alg: "RS256", kid: KEY_ID, ...header })
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(key),
    accounts: new Map(),
    next: "",
    givesRefreshTokens: false,
    isDown: false,
    brokenUserInfo: undefined,
    requests: 0,
    tokenRequests: [],
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const provider: Provider = new Provider(url, {
    clients: [
      {
        client_id: OIDC_CLIENT.clientId,
        client_secret: OIDC_CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: authMethod,
        ...(signsUserInfo ? { userinfo_signed_response_alg: "RS256" } : {}),
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: KEY_ID, alg: "RS256", use: "sig" }] },
    clientAuthMethods: [...listed],
    conformIdTokenClaims: !fullToken,
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name", "groups", "realm_access", "cognito:groups", "_claim_names", "_claim_sources"],
    },
    cookies: { keys: ["a key of the test"] },
    features: { devInteractions: { enabled: false }, jwtUserinfo: { enabled: signsUserInfo } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    // An account that was deleted is unknown.
    findAccount: (_context, id) =>
      issuer.accounts.has(id)
        ? { accountId: id, claims: async () => ({ sub: id, ...issuer.accounts.get(id) }) }
        : undefined,
    issueRefreshToken: async () => issuer.givesRefreshTokens,
    rotateRefreshToken: true,
    loadExistingGrant: async (context) => {
      const { Client, Session } = context.oidc.entities;
      const grant = new provider.Grant({
        clientId: Client?.clientId ?? "",
        accountId: Session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    issuer.requests += 1;
    if (issuer.isDown) {
      response.writeHead(503).end();
      return;
    }
    if (issuer.brokenUserInfo !== undefined && request.url === "/me") {
      response.writeHead(issuer.brokenUserInfo.status, { "content-type": "text/html" });
      response.end(issuer.brokenUserInfo.body);
      return;
    }
    if (request.url?.startsWith("/token") === true) {
      request.on("data", (part: Buffer) => issuer.tokenRequests.push(part.toString()));
    }
    if (request.url?.startsWith("/interaction/") === true) {
      void provider.interactionFinished(request, response, { login: { accountId: issuer.next } });
      return;
    }
    void answer(request, response);
  });
  return issuer;
}
