import { defined } from "../../basics/defined.ts";
import {
  isCommitId,
  isSameRepository,
  type RepositoryName,
} from "../../model/repositories/repository-name.ts";
import { homeRepositoryOf, isPatchOnly } from "../../model/runs/home-repository.ts";
import type { PullRequestSetting, Run } from "../../model/runs/run.ts";
import { type RunRepository, runRepositoryOf } from "../../model/runs/run-repository.ts";

/** The repository in which Errand opens the pull request of a run. */
export interface PublishTarget extends RepositoryName {
  /** The branch to merge into. Undefined: the default branch of the repository. */
  readonly base?: string;
  /** Work goes onto `base` itself: the branch of the pull request in which it was asked for. */
  readonly ontoBase?: true;
  readonly setting: PullRequestSetting;
}

/**
 * The repository that the configuration names together with `pull_request`, otherwise the one in which the run was
 * requested, with the setting of the configuration or of the operator. Undefined: neither, or nothing is pushed.
 */
export function publishTargetOf(
  run: Pick<Run, "config" | "provenance">,
  usual: PullRequestSetting,
): PublishTarget | undefined {
  if (isPatchOnly(run)) {
    return undefined;
  }
  const home = homeRepositoryOf(run);
  const own: RunRepository | undefined =
    runRepositoryOf(run.config) ?? (run.config.pull_request === undefined ? undefined : home);
  const isHome = home !== undefined && own !== undefined && isSameRepository(home, own);
  const setting = own && run.config.pull_request;
  if (own === undefined || setting === undefined || (setting === "off" && !isHome)) {
    return (
      home && {
        ...target(home, usual, home.branch ?? home.fork?.base),
        ...defined({ ontoBase: home.mayPush === true ? true : undefined }),
      }
    );
  }
  // A commit is no branch to merge into. The platform replaces a tag by the default branch.
  const branch = own.ref === undefined || isCommitId(own.ref) ? undefined : own.ref;
  return target(own, setting, branch ?? (isHome ? (home.branch ?? home.fork?.base) : undefined));
}

function target(
  { name, owner }: RepositoryName,
  setting: PullRequestSetting,
  base: string | undefined,
): PublishTarget {
  return defined({ owner, name, setting, base });
}
