import { invalidMember } from "../../basics/errors.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { ConfigLayer } from "../../model/runs/run.ts";
import { requireRunRepository, runRepositoryOf, uselessMembers } from "../../model/runs/run-repository.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import type { NewRun } from "./new-run.ts";
import { mayOpenPullRequest, requirePullRequestAccess } from "./requirements.ts";

/** The layers that an environment precedes. */
const BELOW_ENVIRONMENT: readonly (ConfigLayer | undefined)[] = ["place_default", "person_default"];

/**
 * Checks `repository`, `ref` and `pull_request`, and adds what happens to changes if neither the request nor a rule says
 * it. What the request itself says must have an effect. What comes from elsewhere is left out where it has none, and
 * where the team has no credentials for pull requests.
 */
export async function withChangeSettings(
  draft: { readonly request: NewRun; readonly environment?: Environment },
  pullRequests: Pick<PullRequests, "isAllowed">,
): Promise<NewRun> {
  const { config = {}, ownConfig = config, provenance = {} } = draft.request;
  requireRunRepository(config, "config");
  const environment = draft.environment?.config.repositories ?? [];
  const home = homeRepositoryOf({ provenance });
  const useless = uselessMembers(config, { environment, home });
  for (const [member, problem] of Object.entries(useless)) {
    if (ownConfig[member] !== undefined) {
      throw invalidMember(`config.${member}`, problem);
    }
  }
  const request = withSetting(without(draft.request, Object.keys(useless)), draft.environment);
  const { pull_request: setting = "off" } = request.config ?? {};
  const named = runRepositoryOf(config);
  const repositories = named === undefined ? environment : [named];
  if (setting === "off" || repositories.length === 0 || (named === undefined && home !== undefined)) {
    return request;
  }
  if (config.pull_request !== undefined && (named ?? ownConfig.pull_request) !== undefined) {
    await requirePullRequestAccess(pullRequests, request, "config", repositories);
    return request;
  }
  // No request fails because a host does not answer. The credentials are checked again when there are changes.
  const isAllowed = await mayOpenPullRequest(pullRequests, request, repositories).catch(() => true);
  if (isAllowed) {
    return request;
  }
  const { provenance: before, ...off } = without(request, ["pull_request"]);
  return { ...off, provenance: { ...before, may_open_pull_request: false } };
}

/** The setting of the environment or, for a request that brings one, its default. */
function withSetting(request: NewRun, environment: Environment | undefined): NewRun {
  const { changesDefault, config = {}, provenance = {} } = request;
  const isHome = homeRepositoryOf({ provenance }) !== undefined;
  const ofEnvironment = config.repository === undefined ? environment?.config.pullRequest : undefined;
  const isBelow =
    config.pull_request === undefined || BELOW_ENVIRONMENT.includes(provenance.config_layers?.pull_request);
  // Work on an issue or a pull request has its own default, so an environment only turns it off.
  if (ofEnvironment !== undefined && isBelow && (!isHome || ofEnvironment === "off")) {
    return having(request, ofEnvironment);
  }
  const works = config.repository !== undefined || (environment?.config.repositories ?? []).length > 0;
  return changesDefault === undefined || config.pull_request !== undefined || isHome || !works
    ? request
    : having(request, changesDefault);
}

function having(request: NewRun, pull_request: PullRequestSetting): NewRun {
  const { config = {}, ownConfig = config, provenance = {} } = request;
  return {
    ...request,
    ownConfig,
    config: { ...config, pull_request },
    provenance: { ...provenance, config_layers: { ...provenance.config_layers, pull_request: "default" } },
  };
}

function without(request: NewRun, members: readonly string[]): NewRun {
  const { config = {}, provenance = {} } = request;
  const kept = <T>(value: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !members.includes(name)));
  const { config_layers: layers = {} } = provenance;
  return members.length === 0
    ? request
    : { ...request, config: kept(config), provenance: { ...provenance, config_layers: kept(layers) } };
}
