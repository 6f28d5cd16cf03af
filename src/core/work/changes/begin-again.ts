import { defined } from "../../basics/defined.ts";
import { retry, THREE_TRIES, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isSameRepository, type RepositoryName } from "../../model/repositories/repository-name.ts";
import type { Run } from "../../model/runs/run.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { ArtifactBody } from "../../model/workspaces/artifact.ts";
import type { PullRequestReading } from "../../ports/pull-requests.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { isBranchOf } from "../workspaces/branch-name.ts";
import { storedFilesOf } from "../workspaces/turn-checkpoints.ts";

export interface BeginAgainDeps
  extends Pick<AttemptDeps, "changes" | "clock" | "pullRequests" | "run" | "storage"> {
  readonly repositories: readonly RepositoryName[];
  readonly runWorkspace: RunWorkspace;
  readonly problem: (what: string, error: unknown) => void;
}

type PullRequestBody = Extract<ArtifactBody, { readonly type: "PULL_REQUEST" }>;

const COMMIT_CHARS = 8;

/**
 * Repositories whose pull request was merged or closed begin again at the head of its base: with a squash merge the base
 * has the work as another commit, so that the old branch would bring it a second time. Returns a sentence for each.
 */
export async function beginAgain(deps: BeginAgainDeps): Promise<readonly string[]> {
  const { clock, problem, repositories } = deps;
  const known = await retry(clock, WHILE_UNAVAILABLE, () => pullRequestsBehind(deps));
  const sentences: string[] = [];
  const distinct = repositories.filter(
    (each, index) => repositories.findIndex((other) => isSameRepository(each, other)) === index,
  );
  for (const repository of distinct) {
    try {
      sentences.push(...(await beginAgainIn(deps, repository, known)));
    } catch (error) {
      problem(
        `The work in ${repository.owner}/${repository.name} could not begin at its newest commit`,
        error,
      );
    }
  }
  return sentences;
}

async function beginAgainIn(
  { changes, clock, pullRequests, run, runWorkspace }: BeginAgainDeps,
  repository: RepositoryName,
  known: readonly PullRequestBody[],
): Promise<readonly string[]> {
  const path = `/${repository.owner}/${repository.name}/`.toLowerCase();
  const here = known.filter(({ url }) => url.toLowerCase().includes(path));
  const last = here.at(-1);
  if (last === undefined) {
    return [];
  }
  const access = teamAccessOf(run);
  const open = await retry(clock, THREE_TRIES, () => pullRequests.find(access, repository, last.branch));
  const read =
    open === undefined
      ? await retry(clock, THREE_TRIES, () => pullRequests.read(access, last.url))
      : undefined;
  if (read === undefined || !isFinished(read)) {
    return [];
  }
  const own = new Set(here.map(({ branch }) => branch).filter((branch) => isBranchOf(run, branch)));
  const request = { ...access, repository, after: last.url, branchNumber: own.size + 1 };
  const begun = await changes.restart(runWorkspace, { ...request, ...defined({ base: read.base }) });
  return begun === undefined
    ? []
    : [
        `The pull request ${last.url} was ${read.state}, so the work began at the commit ` +
          `${begun.commit.slice(0, COMMIT_CHARS)} of ${begun.base} and goes to a new branch.`,
      ];
}

function isFinished({ state }: PullRequestReading): boolean {
  return state === "merged" || state === "closed";
}

/** The pull requests of the run; of a run without any, those of the earlier run whose files it has. */
async function pullRequestsBehind({ run, storage }: BeginAgainDeps): Promise<readonly PullRequestBody[]> {
  let hasFiles = true;
  for (let each: Run | undefined = run; each !== undefined; ) {
    const artifacts = hasFiles ? await storage.files.artifactsOf([each.id]) : [];
    const bodies = artifacts.flatMap(({ body }) => (body.type === "PULL_REQUEST" ? [body] : []));
    if (bodies.length > 0) {
      return bodies;
    }
    const id: Run["continuesId"] = each.continuesId;
    each = id === undefined ? undefined : await storage.runs.find({ id });
    hasFiles = each !== undefined && storedFilesOf(each) !== undefined;
  }
  return [];
}
