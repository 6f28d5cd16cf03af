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
  stop(): Promise<void>;
}

export const OIDC_CLIENT = {
  clientId: "errand",
  clientSecret: "a secret of the client, long enough",
} as const;

/** Starts a real issuer of OpenID Connect on loopback. It asks nobody: the account `next` signs in. */
export async function startOidcIssuer(redirectUri: string): Promise<OidcIssuer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: OidcIssuer = {
    url,
    accounts: new Map(),
    next: "",
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
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    cookies: { keys: ["a key of the test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...issuer.accounts.get(id) }),
    }),
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
    if (request.url?.startsWith("/interaction/") === true) {
      void provider.interactionFinished(request, response, { login: { accountId: issuer.next } });
      return;
    }
    void answer(request, response);
  });
  return issuer;
}
