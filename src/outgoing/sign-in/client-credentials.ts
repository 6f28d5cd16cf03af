import { type ClientAuth, ClientSecretBasic, ClientSecretPost } from "openid-client";
import { ClientRefused, refusesClient } from "./issuer-error.ts";

type Method = "client_secret_basic" | "client_secret_post";

/** What an issuer accepts that does not say so (OpenID Connect Discovery 1.0, section 3). */
const DEFAULT: readonly string[] = ["client_secret_basic"];

/**
 * Sends the client's secret in the way that the issuer takes, in a header if it takes both. Issuers list the ways that any
 * client may use, and each client is registered for one. So the first refusal leads to the other way.
 */
export class ClientCredentials {
  readonly #ways: Readonly<Record<Method, ClientAuth>>;
  #method: Method | undefined;

  constructor(secret: string) {
    this.#ways = {
      client_secret_basic: ClientSecretBasic(secret),
      client_secret_post: ClientSecretPost(secret),
    };
  }

  readonly authentication: ClientAuth = (server, client, body, headers) => {
    const listed = server.token_endpoint_auth_methods_supported ?? DEFAULT;
    const onlyInBody = listed.includes("client_secret_post") && !listed.includes("client_secret_basic");
    this.#method ??= onlyInBody ? "client_secret_post" : "client_secret_basic";
    this.#ways[this.#method](server, client, body, headers);
  };

  /** Calls the issuer, and once more in the other way if it refuses the client. A refused client uses no code up. */
  async use<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const former = this.#method;
      if (former === undefined || !refusesClient(error)) {
        throw error;
      }
      this.#method = former === "client_secret_post" ? "client_secret_basic" : "client_secret_post";
      return await this.#inOtherWay(call, former);
    }
  }

  async #inOtherWay<T>(call: () => Promise<T>, former: Method): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (refusesClient(error)) {
        this.#method = former;
        throw new ClientRefused();
      }
      throw error;
    }
  }
}
