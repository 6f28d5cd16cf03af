import { AppError } from "../../basics/errors.ts";
import { runRepositoryOf } from "../../model/runs/run-repository.ts";
import { GIT_TOKEN, teamAccessOf } from "../../model/secrets/git-token.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import { type NewRun, secretNamesOf } from "./new-run.ts";

/**
 * Rejects a configuration with a pull request that the team could not open, before the work is done. `member` is the
 * caller's name for the configuration.
 */
export async function requirePullRequestAccess(
  pullRequests: Pick<PullRequests, "isAllowed">,
  { config = {}, creator, namedAgent }: Pick<NewRun, "config" | "creator" | "namedAgent">,
  member: string,
): Promise<void> {
  const repository = runRepositoryOf(config);
  const setting = config.pull_request ?? "off";
  if (repository === undefined || setting === "off") {
    return;
  }
  const { name, owner } = repository;
  const secretNames = secretNamesOf(namedAgent);
  if (
    await pullRequests.isAllowed({ owner, name, ...teamAccessOf({ teamId: creator.teamId, secretNames }) })
  ) {
    return;
  }
  const message = `Your team has no credentials to open a pull request in ${owner}/${name}.`;
  throw new AppError("integration_not_configured", message, {
    remedy: `Install this server's app in ${owner}/${name}, or set the team secret ${GIT_TOKEN}.`,
    issues: [{ path: `${member}.pull_request`, message: "needs credentials for the repository" }],
  });
}
