import type { ApiClient } from "../api-client.ts";
import type {
  ApplyPlatformAppRequest,
  Installation,
  ListInstallationGuidesResponse,
  ListInstallationsResponse,
  PlatformApp,
  Success,
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

  /** Gets an installation. */
  retrieve(installationId: string, options?: RequestOptions): ApiPromise<Installation> {
    return this.#client.get(path`/agent/installations/${installationId}`, options);
  }

  /** Gets the steps that connect Slack, GitHub and the like with the server. Only for operators. */
  guides(options?: RequestOptions): ApiPromise<ListInstallationGuidesResponse> {
    return this.#client.get("/agent/installations/guides", options);
  }

  /** Creates the app on a platform with a token, or updates it. Only for operators. */
  applyApp(
    adapter: string,
    body: ApplyPlatformAppRequest = {},
    options?: RequestOptions,
  ): ApiPromise<PlatformApp> {
    return this.#client.put(path`/agent/installations/guides/${adapter}/app`, { ...options, body });
  }

  /** Removes what the server stored when it created the app of a platform, which is then off. Only for operators. */
  removeSettings(adapter: string, options?: RequestOptions): ApiPromise<Success> {
    return this.#client.delete(path`/agent/installations/guides/${adapter}/settings`, options);
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
