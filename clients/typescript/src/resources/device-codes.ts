import type { ApiClient } from "../api-client.ts";
import type { DeviceCodeRequest, DeviceCodeResponse, IssuedApiKey } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { RequestOptions } from "../http/request.ts";

/** Keys for programs whose user signs in with a browser. These calls need no key. */
export class DeviceCodes {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Starts to sign the program in. Show `user_code` and `verification_uri` to the user. */
  create(request: DeviceCodeRequest = {}, options?: RequestOptions): ApiPromise<DeviceCodeResponse> {
    return this.#client.post("/agent/device-codes", { ...options, body: request });
  }

  /**
   * Gets the key after the user has allowed the program. Until then it throws a `BadRequestError`, whose `problem` has
   * the `reason`. Call this again after `interval` seconds while the reason is `authorization_pending` or `slow_down`.
   */
  token(deviceCode: string, options?: RequestOptions): ApiPromise<IssuedApiKey> {
    return this.#client.post("/agent/device-codes/token", { ...options, body: { device_code: deviceCode } });
  }
}
