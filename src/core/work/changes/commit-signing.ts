import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { retry, UNTIL_FREE } from "../../basics/retry.ts";
import type { RepositoryName } from "../../model/repositories/repository-name.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { CommitSigning } from "../../ports/change-tracker.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";

/**
 * Has the host make the commits of a push, one after the other. Until the branch is pushed, none of them is visible, so an
 * attempt that ends in between leaves nothing.
 */
export function commitSigning(
  {
    changes,
    clock,
    pullRequests,
    run,
    writer,
  }: Pick<AttemptDeps, "changes" | "clock" | "pullRequests" | "run" | "writer">,
  repository: RepositoryName,
  remark: (words: string) => void,
): CommitSigning {
  const access = teamAccessOf(run);
  return {
    ...defined({ coAuthor: writer.coAuthorOf(run) }),
    make: async (commits) => {
      const made = new Map<string, string>();
      for (const commit of commits) {
        const parents = commit.parents.map((parent) => made.get(parent) ?? parent);
        const make = () => pullRequests.makeCommit(access, repository, { ...commit, parents });
        made.set(commit.id, (await retry(clock, UNTIL_FREE, make)) ?? withoutCredentials());
      }
      return made.get(commits.at(-1)?.id ?? "") ?? "";
    },
    notSigned: (reason) => {
      const { name, owner } = repository;
      remark(
        `${changes.host} did not sign the new commits in ${owner}/${name}, because ${reason.replace(/[.\s]+$/, "")}.`,
      );
    },
  };
}

function withoutCredentials(): never {
  throw new AppError("integration_not_configured", "the team has no credentials for it");
}
