import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
  /** The bodies of the requests for tokens. */
  readonly tokenRequests: string[];
  stop(): Promise<void>;
}

export const OIDC_CLIENT = {
  clientId: "errand",
  clientSecret: "a secret of the client, long enough",
} as const;

/** Starts a real issuer of OpenID Connect on loopback. It asks nobody: the account `next` signs in. */
export async function startOidcIssuer(
  redirectUri: string,
  authMethod: "client_secret_basic" | "client_secret_post" = "client_secret_post",
): Promise<OidcIssuer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: OidcIssuer = {
    url,
    accounts: new Map(),
    next: "",
    givesRefreshTokens: false,
    isDown: false,
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
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    cookies: { keys: ["a key of the test"] },
    features: { devInteractions: { enabled: false } },
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
    if (issuer.isDown) {
      response.writeHead(503).end();
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
