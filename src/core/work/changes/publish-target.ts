import { defined } from "../../basics/defined.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import {
  isCommitId,
  isSameRepository,
  type RepositoryName,
} from "../../model/repositories/repository-name.ts";
import { type HomeRepository, homeRepositoryOf, isPatchOnly } from "../../model/runs/home-repository.ts";
import { isReview } from "../../model/runs/review.ts";
import type { Run } from "../../model/runs/run.ts";
import { type RunRepository, runRepositoryOf } from "../../model/runs/run-repository.ts";
import type { WorkspacePlan } from "../../model/workspaces/workspace.ts";
import type { Restart } from "../../ports/change-tracker.ts";

/** The repository in which Errand opens the pull request of a run. */
export interface PublishTarget extends RepositoryName {
  /** The branch to merge into. Undefined: the default branch of the repository. */
  readonly base?: string;
  /** Work goes onto `base` itself: the branch of the pull request in which it was asked for. */
  readonly ontoBase?: true;
  readonly setting: PullRequestSetting;
  /** Nobody asked for it: without credentials there is none. */
  readonly isOptional?: true;
  /** Which of the branches of the run gets the work. Absent: the first. */
  readonly branchNumber?: number;
}

/** A run, and in which repositories it works. */
export interface Publisher {
  readonly run: Pick<Run, "config" | "provenance">;
  readonly plan: Pick<WorkspacePlan, "repositories">;
}

/**
 * The repository that the configuration names together with `pull_request`, otherwise the one in which the run was
 * requested, with the setting of the configuration or of the operator, otherwise those of the environment. Empty:
 * nothing is pushed.
 */
export function publishTargetsOf(
  { plan, run }: Publisher,
  usual: PullRequestSetting,
): readonly PublishTarget[] {
  if (isPatchOnly(run) || isReview(run)) {
    return [];
  }
  const { pull_request: setting = "off", ref, repository } = run.config;
  const optional = defined({
    isOptional: run.provenance.config_layers?.pull_request === "default" ? (true as const) : undefined,
  });
  const home = homeRepositoryOf(run);
  if (repository === undefined && home === undefined) {
    const [base] = ref === undefined || isCommitId(ref) ? [] : [ref];
    return setting === "off"
      ? []
      : plan.repositories.map((each) => ({ ...target(each, setting, base), ...optional }));
  }
  const named = namedTargetOf(run, { home, usual });
  return named === undefined ? [] : [{ ...named, ...optional }];
}

/** After a restart, the work goes to a new branch, also if it went onto the branch of a pull request before. */
export function restartedTarget(target: PublishTarget, restart: Restart | undefined): PublishTarget {
  const { ontoBase: _, ...rest } = target;
  return restart === undefined ? target : { ...rest, ...restart };
}

/** The same as if the request had named a pull request. */
export function askingForPullRequest({ plan, run }: Publisher): Publisher {
  const { config, provenance } = run;
  const { pull_request: setting = "off" } = config;
  const layers = { ...provenance.config_layers, pull_request: "request" as const };
  return {
    plan,
    run: {
      config: { ...config, pull_request: setting === "off" ? "draft" : setting },
      provenance: { ...provenance, config_layers: layers },
    },
  };
}

function namedTargetOf(
  run: Publisher["run"],
  { home, usual }: { readonly home: HomeRepository | undefined; readonly usual: PullRequestSetting },
): PublishTarget | undefined {
  // A file of the repository says what becomes of work there. It asks for no pull request beside another one.
  const isUsual = run.provenance.config_layers?.pull_request === "repository_file";
  const own: RunRepository | undefined =
    runRepositoryOf(run.config) ?? (run.config.pull_request === undefined || isUsual ? undefined : home);
  const isHome = home !== undefined && own !== undefined && isSameRepository(home, own);
  const setting = own && run.config.pull_request;
  if (own === undefined || setting === undefined || (setting === "off" && !isHome)) {
    return (
      home && {
        ...target(
          home,
          (isUsual ? run.config.pull_request : undefined) ?? usual,
          home.branch ?? home.fork?.base,
        ),
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
