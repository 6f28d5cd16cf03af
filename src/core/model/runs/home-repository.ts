import { defined } from "../../basics/defined.ts";
import { isCommitId, type RepositoryName } from "../repositories/repository-name.ts";
import type { Run } from "./run.ts";

/** The repository of the issue or pull request in which a run was requested. */
export interface HomeRepository extends RepositoryName {
  /** The branch of the pull request, if it is a branch of this repository. */
  readonly branch?: string;
  /** Work may be pushed to that branch: the requester may do so, and it is not the default branch. */
  readonly mayPush?: true;
  /** Where the head of the pull request is, if it is in another repository. */
  readonly fork?: Fork;
  /** The number of the issue. Absent: the run was requested in a pull request. */
  readonly issue?: number;
}

/** The head of a pull request from a fork. The repository of the pull request has its commits, but no branch for them. */
export interface Fork {
  /** `owner/name`; absent if it was deleted. */
  readonly name?: string;
  readonly commit: string;
  /** The branch that the pull request is to be merged into. */
  readonly base: string;
  /** Who requested the run may write to the repository of the pull request. */
  readonly requestedByWriter?: true;
}

/**
 * Whether the work must not be pushed, because the run works in the pull request of a fork. Workflows of a repository
 * trust its branches: they would run the code of the fork with the secrets of the repository. Only a person with write
 * permission decides otherwise, by a request for a pull request. A default or a routing rule is no decision about the
 * code of this fork.
 */
export function isPatchOnly(run: Pick<Run, "config" | "provenance">): boolean {
  const { pull_request: setting = "off" } = run.config;
  const { config_layers: layers = {} } = run.provenance;
  const isRequested = setting !== "off" && layers.pull_request === "request";
  const fork = homeRepositoryOf(run)?.fork;
  return fork !== undefined && !(isRequested && fork.requestedByWriter === true);
}

/** The repository that the adapter proved when the run was requested. Undefined for other runs. */
export function homeRepositoryOf({ provenance }: Pick<Run, "provenance">): HomeRepository | undefined {
  const [owner, name, ...more] = textIn(provenance.repository, "full_name")?.split("/") ?? [];
  if (!owner || !name || more.length > 0) {
    return undefined;
  }
  const branch = textIn(provenance.head, "branch");
  const fork = forkIn(provenance.head);
  const issue = issueIn(provenance.object);
  return defined({
    owner,
    name,
    branch,
    mayPush: valueIn(provenance.head, "may_push") === true ? true : undefined,
    fork,
    issue,
  });
}

function forkIn(head: unknown): Fork | undefined {
  const [base, commit, name] = ["base", "commit", "fork"].map((member) => textIn(head, member));
  return base === undefined || commit === undefined || !isCommitId(commit)
    ? undefined
    : {
        base,
        commit,
        ...defined({
          name,
          requestedByWriter: valueIn(head, "requested_by_writer") === true ? true : undefined,
        }),
      };
}

function issueIn(object: unknown): number | undefined {
  const number = valueIn(object, "number");
  const isIssue = valueIn(object, "in") === "issue" && Number.isSafeInteger(number);
  return isIssue ? Number(number) : undefined;
}

function textIn(value: unknown, member: string): string | undefined {
  const text = valueIn(value, member);
  return typeof text === "string" && text !== "" ? text : undefined;
}

function valueIn(value: unknown, member: string): unknown {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  return Object.entries(value).find(([name]) => name === member)?.[1];
}
