import type { ApiClient } from "../api-client.ts";
import type {
  Installation,
  ListInstallationGuidesResponse,
  ListInstallationsResponse,
  UpdateInstallationRequest,
} from "../generated/types.ts";
import type { ApiPromise } from "../http/api-promise.ts";
import type { ListPromise } from "../http/list-promise.ts";
import { path, type RequestOptions } from "../http/request.ts";

/** Installations: the Slack workspaces and GitHub organizations that the service is connected to. */
export class Installations {
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** Lists the installations of the team; operators get those of all teams. */
  list(options?: RequestOptions): ListPromise<ListInstallationsResponse, Installation> {
    return this.#client.list(
      "/agent/installations",
      (page: ListInstallationsResponse) => page.installations,
      options,
    );
  }

  /** Gets the steps that connect Slack, GitHub and the like with the server. Only for operators. */
  guides(options?: RequestOptions): ApiPromise<ListInstallationGuidesResponse> {
    return this.#client.get("/agent/installations/guides", options);
  }

  /** Renames an installation, enables or disables it, or assigns it to another team. */
  update(
    installationId: string,
    body: UpdateInstallationRequest,
    options?: RequestOptions,
  ): ApiPromise<Installation> {
    return this.#client.patch(path`/agent/installations/${installationId}`, { ...options, body });
  }
}
