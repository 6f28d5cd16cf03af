import type { ApiClient } from "../api-client.ts";
import type { DoctorResponse } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { RequestOptions } from "../http/request.ts";

/** The doctor: what works on the server, and what to do about the rest. */
export class Doctor {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Checks the server. Only for operators. */
  retrieve(options?: RequestOptions): ApiPromise<DoctorResponse> {
    return this.#client.get("/agent/doctor", options);
  }
}
