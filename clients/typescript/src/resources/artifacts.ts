import type { ApiClient } from "../api-client.ts";
import type { ArtifactDetails } from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Artifacts: files, screenshots and plans that runs have produced. */
export class Artifacts {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Gets an artifact: a plan with its text, a file or a screenshot with an address for its download. */
  retrieve(artifactUid: string, options?: RequestOptions): ApiPromise<ArtifactDetails> {
    return this.#client.get(path`/agent/artifacts/${artifactUid}`, options);
  }

  /**
   * Downloads the file of an artifact. The body of the response has not been read.
   *
   * @example
   * const response = await client.artifacts.download(uid);
   * const bytes = new Uint8Array(await response.arrayBuffer());
   */
  download(artifactUid: string, options?: RequestOptions): Promise<Response> {
    return this.#client.get(path`/agent/artifacts/${artifactUid}/download`, options).asResponse();
  }
}
