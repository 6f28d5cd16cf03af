import type { ApiClient } from "../api-client.ts";
import type {
  ApiKey,
  CreateKeyRequest,
  ExchangeKeyRequest,
  IssuedApiKey,
  ListKeysQuery,
  ListKeysResponse,
  RevokedKeys,
  RevokeKeyQuery,
  RotateKeyRequest,
  Success,
  UpdateKeyRequest,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions, withQuery } from "../http/request.ts";

/** API keys. A key cannot allow more than the key that creates it. */
export class Keys {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /**
   * Creates a key. Only this response contains the key itself.
   *
   * @example
   * const { key } = await client.keys.create({ name: "CI", scopes: ["runs:write"] });
   */
  create(body: CreateKeyRequest, options?: RequestOptions): ApiPromise<IssuedApiKey> {
    return this.#client.post("/agent/keys", { ...options, body });
  }

  /**
   * Exchanges the OpenID Connect token of a CI workflow's job for a key of at most an hour. A policy says which workflows
   * get one. The client needs no key for this.
   */
  exchange(body: ExchangeKeyRequest, options?: RequestOptions): ApiPromise<IssuedApiKey> {
    return this.#client.post("/agent/keys/exchange", { ...options, body });
  }

  /** Gets a key, without the key itself. */
  retrieve(keyId: string, options?: RequestOptions): ApiPromise<ApiKey> {
    return this.#client.get(path`/agent/keys/${keyId}`, options);
  }

  /** Lists your keys, or those of another principal. */
  list(query: ListKeysQuery = {}, options?: RequestOptions): ListPromise<ListKeysResponse, ApiKey> {
    return this.#client.list("/agent/keys", (page: ListKeysResponse) => page.keys, withQuery(query, options));
  }

  /** Renames a key or changes its expiry. */
  update(keyId: string, body: UpdateKeyRequest, options?: RequestOptions): ApiPromise<ApiKey> {
    return this.#client.patch(path`/agent/keys/${keyId}`, { ...options, body });
  }

  /** Revokes a key. With `descendants`, the keys that were created with it end too. */
  revoke(keyId: string, query: RevokeKeyQuery = {}, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/keys/${keyId}`, withQuery(query, options));
  }

  /** Revokes all keys of a principal. */
  revokeAll(principalUid: string, options?: RequestOptions): ApiPromise<RevokedKeys> {
    return this.#client.delete(path`/agent/principals/${principalUid}/keys`, options);
  }

  /** Replaces a key by a new one with the same name, scopes and expiry. Only this response contains the new key. */
  rotate(keyId: string, body: RotateKeyRequest = {}, options?: RequestOptions): ApiPromise<IssuedApiKey> {
    return this.#client.post(path`/agent/keys/${keyId}/rotate`, { ...options, body });
  }
}
