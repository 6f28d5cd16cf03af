import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { retry, THREE_TRIES } from "../../basics/retry.ts";
import { isNameTaken } from "../../model/repositories/host-words.ts";
import { isSameRepository, type RepositoryName } from "../../model/repositories/repository-name.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { BranchPush, PushedWork } from "../../ports/change-tracker.ts";
import type { PullRequest } from "../../ports/pull-requests.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { branchOf, flatBranchOf } from "../workspaces/branch-name.ts";
import { commitSigning } from "./commit-signing.ts";
import type { PathRules, PushRules } from "./path-rules.ts";
import type { PublishTarget } from "./publish-target.ts";
import { commitMessageOf } from "./pull-request-text.ts";

export interface WorkPusherDeps
  extends Pick<AttemptDeps, "changes" | "clock" | "log" | "pullRequests" | "run" | "writer"> {
  readonly runWorkspace: RunWorkspace;
  readonly rules: PathRules;
  readonly clean: <T>(value: T) => T;
  /** Takes what the answer says about a push. */
  readonly remark: (words: string) => void;
}

/** Pushes the work that the agent did not push. */
export class WorkPusher {
  readonly #deps: WorkPusherDeps;

  constructor(deps: WorkPusherDeps) {
    this.#deps = deps;
  }

  /** To the branch of the run. On a host with a branch that has our prefix as its name, it gets another name. */
  async pushOwn(target: PublishTarget): Promise<PushedWork | undefined> {
    const { run } = this.#deps;
    try {
      return await this.#push(target, { branch: branchOf(run, target.branchNumber) });
    } catch (error) {
      const words = this.hostRefusal(target) ?? (error instanceof AppError ? error.message : "");
      if (!isNameTaken(words)) {
        throw error;
      }
      return this.#push(target, { branch: flatBranchOf(run, target.branchNumber) });
    }
  }

  /**
   * To the branch of the pull request in which the work was asked for. No pull request: the work has to go to a branch of
   * its own, for example because another person pushed meanwhile.
   */
  async pushOntoBase(
    target: PublishTarget,
  ): Promise<{ readonly work?: PushedWork | undefined; readonly found?: PullRequest | undefined }> {
    const { clock, log, pullRequests, run } = this.#deps;
    const { base, ontoBase } = target;
    if (ontoBase !== true || base === undefined) {
      return {};
    }
    try {
      const work = await this.#push(target, { branch: base, isShared: true });
      const find = () => pullRequests.find(teamAccessOf(run), target, base);
      return { work, found: await retry(clock, THREE_TRIES, find) };
    } catch (error) {
      log.warn("pull_request.branch_not_extended", { runId: run.id, branch: base, error });
      return {};
    }
  }

  /** The words of the host, if it refused the newest push to the repository. */
  hostRefusal(repository: RepositoryName): string | undefined {
    const { refusedPushes } = this.#deps.runWorkspace.gateway.traffic;
    return refusedPushes.find((each) => isSameRepository(each, repository))?.message;
  }

  #push(
    { name, owner }: PublishTarget,
    to: Pick<BranchPush, "branch" | "isShared">,
  ): Promise<PushedWork | undefined> {
    const { changes, clean, remark, rules, run, runWorkspace, writer } = this.#deps;
    const words = { sessionLink: writer.sessionLink(run), coAuthor: writer.coAuthorOf(run) };
    const message = clean(commitMessageOf(run, words));
    const repository = { owner, name };
    const push = ({ hostSigns, signsOff }: PushRules) => {
      const signing = hostSigns ? commitSigning(this.#deps, repository, remark) : undefined;
      const how = defined({ signsOff, signing });
      return changes.push(runWorkspace, { repository, message, ...to, ...how });
    };
    return rules.push(runWorkspace, repository, push);
  }
}
