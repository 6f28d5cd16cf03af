import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { RepositoryName } from "../../model/repositories/repository-name.ts";
import type { RunConfig, RunDefinition } from "../../model/runs/run.ts";
import { runRepositoryOf } from "../../model/runs/run-repository.ts";
import { mcpServerNamed } from "../../model/secrets/mcp-server.ts";
import { GIT_TOKEN, teamAccessOf } from "../../model/secrets/secret.ts";
import { secretNamesOf } from "../../model/secrets/secret-names.ts";
import { hasImages, isRestricted, type LiveWorker } from "../../model/workers/worker.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import type { McpServerStore } from "../../ports/stores/record-store.ts";
import type { WorkerStore } from "../../ports/stores/worker-store.ts";
import type { AgentChoice, NewRun } from "./new-run.ts";

/** A request, as far as its pull requests are concerned. */
type Publishing = Pick<NewRun, "config" | "creator" | "namedAgent">;

/** Whether the team has credentials for a pull request in at least one of these repositories. */
export async function mayOpenPullRequest(
  pullRequests: Pick<PullRequests, "isAllowed">,
  request: Publishing,
  repositories: readonly RepositoryName[],
): Promise<boolean> {
  const { teamId } = request.creator;
  const access = teamAccessOf({ teamId, secretNames: secretNamesOf(request) });
  for (const { name, owner } of repositories) {
    if (await pullRequests.isAllowed({ owner, name, ...access })) {
      return true;
    }
  }
  return false;
}

/**
 * Rejects a configuration with a pull request that the team could not open, before the work is done. `member` is the
 * caller's name for the configuration. `repositories`: where its changes are. Default: the one that it names.
 */
export async function requirePullRequestAccess(
  pullRequests: Pick<PullRequests, "isAllowed">,
  request: Publishing,
  member: string,
  repositories?: readonly RepositoryName[],
): Promise<void> {
  const { config = {} } = request;
  const named = runRepositoryOf(config);
  const all = repositories ?? (named === undefined ? [] : [named]);
  const isOff = (config.pull_request ?? "off") === "off";
  if (isOff || all.length === 0 || (await mayOpenPullRequest(pullRequests, request, all))) {
    return;
  }
  const names = all.map(({ name, owner }) => `${owner}/${name}`).join(", ");
  const message = `Your team has no credentials to open a pull request in ${names}.`;
  throw new AppError("integration_not_configured", message, {
    remedy: `Install this server's app in ${names}, or set the team secret ${GIT_TOKEN}.`,
    issues: [{ path: `${member}.pull_request`, message: "needs credentials for the repository" }],
  });
}

/** Throws `resource_not_found` if the configuration names a server that the team does not have. */
export async function requireTeamMcpServers(
  store: McpServerStore,
  teamId: TeamId,
  { mcp_servers: servers = {} }: RunConfig,
  member = "config",
): Promise<void> {
  const named = Object.entries(servers).filter(([, { warp_id }]) => warp_id !== undefined);
  const known = named.length === 0 ? [] : await store.list(teamId);
  for (const [name, { warp_id: warpId = "" }] of named) {
    if (mcpServerNamed(known, warpId) === undefined) {
      const path = `${member}.mcp_servers.${name}.warp_id`;
      throw new AppError(
        "resource_not_found",
        `MCP server "${name}" names "${warpId}", which does not exist.`,
        {
          issues: [{ path, message: "must be the uid or the name of an MCP server of the team" }],
          remedy: "GET /api/v1/agent/mcp-servers lists the MCP servers of the team.",
        },
      );
    }
  }
}

/**
 * Rejects a run whose agent needs a sandbox, or whose environment has an image, while no worker that could take the run
 * has it. Without any worker the run is accepted, because such a worker may start later.
 */
export async function requireSandbox(
  workers: Pick<WorkerStore, "listLive">,
  agents: AgentChoice,
  run: RunDefinition,
  image: string | undefined,
): Promise<void> {
  const needsSandbox = run.preparesOnly !== true && agents.needsSandbox(run.agent);
  if (!needsSandbox && image === undefined) {
    return;
  }
  const { worker_host: host } = run.config;
  const live = await workers.listLive();
  const able = live.filter((worker) => host === undefined || worker.host === host);
  if (able.length === 0) {
    return;
  }
  if (needsSandbox && able.every(isRestricted)) {
    throw noSandbox(run.agent);
  }
  if (image !== undefined && !able.some(hasImages)) {
    throw noImages(image, able);
  }
}

function noSandbox(agent: string): AppError {
  return new AppError("invalid_request", `The agent ${agent} needs a sandbox, and no worker has one.`, {
    remedy:
      "Install bubblewrap or docker where the worker runs. Or set ERRAND_SANDBOX=local there, which lets every run read and change the worker's files and keys.",
    issues: [{ path: "config.harness.type", message: "needs a sandbox, and no worker has one" }],
  });
}

function noImages(image: string, able: readonly LiveWorker[]): AppError {
  const names = [...new Set(able.map(({ sandbox }) => sandbox.name))].join(", ");
  const message = `The environment wants the image ${image}, and no worker for this run has images (sandboxes: ${names}).`;
  return new AppError("invalid_request", message, {
    remedy:
      "Start a worker with ERRAND_SANDBOX=docker, name its worker_host, or take the image out of the environment.",
    issues: [{ path: "config.environment_id", message: "has an image, and no worker has images" }],
  });
}
