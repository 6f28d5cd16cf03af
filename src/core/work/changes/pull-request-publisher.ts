import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { retry, THREE_TRIES, UNTIL_FREE, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isBranchProtected, isWriteForbidden, remedyOf } from "../../model/repositories/host-words.ts";
import type { PullRequestSetting } from "../../model/repositories/pull-request-setting.ts";
import { isAmong, isSameRepository, type RepositoryName } from "../../model/repositories/repository-name.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { RefusedWork } from "../../model/runs/stored-outcome.ts";
import { teamAccessOf } from "../../model/secrets/secret.ts";
import type { ArtifactBody } from "../../model/workspaces/artifact.ts";
import type { WorkspacePlan } from "../../model/workspaces/workspace.ts";
import type { PushedBranch, RefusedPush } from "../../ports/gateway.ts";
import type { PullRequest, PullRequestDraft } from "../../ports/pull-requests.ts";
import type { RunWorkspace } from "../../ports/workspace-provider.ts";
import type { AttemptDeps } from "../lease/attempt-deps.ts";
import { isBranchOf } from "../workspaces/branch-name.ts";
import { type LinkPullRequestDeps, linkPullRequest } from "./link-pull-request.ts";
import type { PathRules } from "./path-rules.ts";
import {
  askingForPullRequest,
  type PublishTarget,
  publishTargetsOf,
  restartedTarget,
} from "./publish-target.ts";
import { pullRequestText } from "./pull-request-text.ts";
import { besideRemark, firstBranchRemark, refusalOf, shortPatch } from "./undelivered-work.ts";
import { WorkPusher } from "./work-pusher.ts";

export interface PullRequestPublisherDeps
  extends Pick<AttemptDeps, "changes" | "log" | "pullRequests" | "settings" | "writer">,
    LinkPullRequestDeps {
  readonly plan: WorkspacePlan;
  readonly runWorkspace: RunWorkspace;
  readonly rules: PathRules;
  readonly clean: <T>(value: T) => T;
  readonly problem: (what: string, error: unknown) => void;
}

export interface PublishResult {
  /** Why the host took nothing of what only a default wanted to publish. */
  readonly notWritable?: string;
  /** The work is to be suggestions on its pull request, because the rules of its branch refused the push. */
  readonly suggested?: { readonly branch: string; readonly hostWords: string };
  /** The pull request to show to people. */
  readonly url?: string;
  /** What repositories wanted of their pull requests and could not be done. */
  readonly remarks: readonly string[];
  /** The repositories whose changes are all in a pull request. */
  readonly handedOver: readonly RepositoryName[];
  /** What was to be published and is not. Only after the last turn. */
  readonly refused: readonly RefusedWork[];
}

export interface PublishedTurn {
  /** What the agent says about its work. Empty for a private turn. */
  readonly answer: string;
  readonly isDone: boolean;
  /** A person asked for the pull request of what the run has changed so far. */
  readonly isAskedFor: boolean;
}

/** A pushed branch and the address of its pull request. */
export interface PublishedBranch extends PushedBranch {
  readonly url?: string;
}

/**
 * Publishes the pull requests of a run: those for branches that its agent pushed, and Errand's own for changes that
 * were asked for in a repository and that the agent did not push. Each is found again by its branch, so that another
 * worker can continue after a lost one.
 */
export class PullRequestPublisher {
  readonly #deps: PullRequestPublisherDeps;
  readonly #pusher: WorkPusher;
  #targets: readonly PublishTarget[];
  readonly #branches: PublishedBranch[] = [];
  #answer = "";
  /** The number of pushes handled so far. */
  #handledPushes = 0;
  /** What this turn could not publish, except pushes that the gateway saw refused. */
  #failures: RefusedWork[] = [];
  #remarks: string[] = [];
  #suggested: PublishResult["suggested"];

  constructor(deps: PullRequestPublisherDeps) {
    this.#deps = deps;
    this.#pusher = new WorkPusher({ ...deps, remark: (words) => this.#remark(words) });
    this.#targets = publishTargetsOf(deps, deps.settings.pullRequests);
  }

  /**
   * Publishes after a turn that changed these repositories; undefined: the changed repositories are unknown. When the
   * run `isDone`, changes that its agent did not push are published as well.
   */
  async publish(turn: PublishedTurn, changed: readonly RepositoryName[] | undefined): Promise<PublishResult> {
    this.#failures = [];
    this.#remarks = [];
    this.#suggested = undefined;
    const { changes, runWorkspace, settings } = this.#deps;
    const isAskedFor = turn.isAskedFor || (await this.#hasOwn());
    const asking = askingForPullRequest(this.#deps);
    const targets = isAskedFor ? publishTargetsOf(asking, settings.pullRequests) : this.#targets;
    const begun = async (each: PublishTarget) =>
      restartedTarget(each, await changes.restartOf(runWorkspace, each));
    this.#targets = await Promise.all(targets.map(begun));
    const published = await this.#publish(turn, turn.isAskedFor ? undefined : changed);
    const suggested = defined({ suggested: this.#suggested });
    return {
      ...published,
      ...suggested,
      remarks: this.#remarks,
      ...(turn.isDone ? this.#refused() : { refused: [] }),
    };
  }

  /** Two pushes of one work may have the same problem. */
  #remark(words: string): void {
    if (!this.#remarks.includes(words)) {
      this.#remarks.push(words);
    }
  }

  /** A pull request that Errand opened stays up to date, also if no setting asked for it. */
  async #hasOwn(): Promise<boolean> {
    const bodies = this.#deps.run.pullRequest === undefined ? [] : await this.#pullRequestsOfRun();
    return bodies.some(({ branch }) => this.#isOwn(branch));
  }

  async #publish(
    { answer, isDone }: PublishedTurn,
    changed: readonly RepositoryName[] | undefined,
  ): Promise<Pick<PublishResult, "handedOver" | "url">> {
    this.#answer = answer;
    const pushed = this.#newPushes();
    let shown: PullRequest | undefined;
    for (const branch of pushed) {
      const found = await this.#ofBranch(branch, isDone);
      this.#note(branch, found);
      shown = found ?? shown;
    }
    let url = shown?.url;
    const handedOver: RepositoryName[] = [];
    for (const target of isDone ? this.#targets : []) {
      if (!isAmong(pushed, target)) {
        const own = await this.#publishOwn(target, changed);
        url = own?.url ?? url;
        handedOver.push(...(own?.isWhole === true ? [target] : []));
      }
    }
    return { handedOver, ...defined({ url }) };
  }

  /** Publishes what the agent did not push. `isWhole`: all changes of the repository are in the pull request. */
  async #publishOwn(
    target: PublishTarget,
    changed: readonly RepositoryName[] | undefined,
  ): Promise<{ readonly url: string; readonly isWhole: boolean } | undefined> {
    // What was refused after an earlier turn is still to be published.
    const wasRefused = this.#deps.run.outcome?.refused?.some(({ what }) => what !== "file") ?? false;
    const isNew = wasRefused || isAmong(changed ?? [target], target);
    const before = isNew ? undefined : await this.#lastOfRun(target);
    if (before !== undefined) {
      return { url: before.url, isWhole: this.#isOwn(before.branch, target) };
    }
    const opened = await this.#handOver(target);
    return opened && { url: opened.url, isWhole: true };
  }

  /** What becomes of changes in the repository. */
  settingIn(repository: RepositoryName): PullRequestSetting {
    return this.#targetIn(repository)?.setting ?? "off";
  }

  /** The newest branch that was pushed to each repository, as far as this attempt knows. */
  branches(): readonly PublishedBranch[] {
    for (const branch of this.#newPushes()) {
      this.#note(branch, undefined);
    }
    return this.#branches;
  }

  /** The newest branch of a repository replaces the earlier one. */
  #note(branch: PushedBranch, pullRequest: PullRequest | undefined): void {
    const at = this.#branches.findIndex((each) => isSameRepository(each, branch));
    const noted = { ...branch, ...defined({ url: pullRequest?.url }) };
    this.#branches.splice(at < 0 ? this.#branches.length : at, 1, noted);
  }

  /** If earlier turns published all changes, a turn without changes has nothing to publish. */
  async #lastOfRun(target: PublishTarget): Promise<PullRequestBody | undefined> {
    const bodies = await this.#pullRequestsOfRun();
    // Branches of several repositories have the same name.
    const path = `/${target.owner}/${target.name}/`.toLowerCase();
    const here =
      this.#targets.length < 2 ? bodies : bodies.filter(({ url }) => url.toLowerCase().includes(path));
    return here.findLast(({ branch }) => this.#isOwn(branch, target)) ?? here.at(-1);
  }

  async #pullRequestsOfRun(): Promise<readonly PullRequestBody[]> {
    const { clock, run, storage } = this.#deps;
    const artifacts = await retry(clock, WHILE_UNAVAILABLE, () => storage.files.artifactsOf([run.id]));
    return artifacts.flatMap(({ body }) => (body.type === "PULL_REQUEST" ? [body] : []));
  }

  /** The branch that Errand itself pushes to. */
  #isOwn(branch: string, { base, ontoBase }: Partial<PublishTarget> = {}): boolean {
    const { run } = this.#deps;
    return isBranchOf(run, branch) || (ontoBase === true && branch === base);
  }

  #newPushes(): readonly PushedBranch[] {
    const { pushes } = this.#deps.runWorkspace.gateway.traffic;
    const fresh = pushes.slice(this.#handledPushes);
    this.#handledPushes = pushes.length;
    return fresh.filter((pushed) => !this.#isOwn(pushed.branch, this.#targetIn(pushed)));
  }

  #targetIn(repository: RepositoryName): PublishTarget | undefined {
    return this.#targets.find((each) => isSameRepository(each, repository));
  }

  /**
   * Finds the pull request of a branch that the agent pushed. If the run was asked for in that repository, keeps it up
   * to date, or opens it.
   */
  async #ofBranch(branch: PushedBranch, isDone: boolean): Promise<PullRequest | undefined> {
    const { clock, problem, pullRequests, run } = this.#deps;
    const target = this.#targetIn(branch);
    const find = () => pullRequests.find(teamAccessOf(run), branch, branch.branch);
    if (isDone && target !== undefined && target.setting !== "off") {
      const found = await this.#attempt("pull_request", target, async () => {
        const draft = await this.#draftOf(target, branch.branch);
        const update = () => (draft === undefined ? find() : pullRequests.update(draft));
        return (await retry(clock, UNTIL_FREE, update)) ?? (draft && this.#open(draft));
      });
      return this.#link(found);
    }
    try {
      return await this.#link(await retry(clock, THREE_TRIES, find));
    } catch (error) {
      problem(`The pull request of ${branch.branch} was not found`, error);
      return undefined;
    }
  }

  async #handOver(target: PublishTarget): Promise<PullRequest | undefined> {
    if (target.setting === "off" || !(await this.#isOpen(target))) {
      return undefined;
    }
    const extended = await this.#pusher.pushOntoBase(target);
    if (extended.work !== undefined) {
      this.#note(extended.work.pushed, extended.found);
    }
    if (extended.found !== undefined) {
      return this.#link(extended.found);
    }
    const hostWords = target.ontoBase === true ? this.#pusher.hostRefusal(target) : undefined;
    if (hostWords !== undefined && (await this.#isSuggested(target, hostWords))) {
      return undefined;
    }
    const work = await this.#attempt("push", target, () => this.#pusher.pushOwn(target));
    if (work === undefined) {
      return undefined;
    }
    const { pushed } = work;
    this.#note(pushed, undefined);
    const opened = await this.#attempt("pull_request", target, async () => {
      const draft = await this.#draftOf(target, pushed.branch, work.subject);
      return draft && this.#open(draft);
    });
    this.#note(pushed, opened);
    if (opened !== undefined && target.ontoBase === true && target.base !== undefined) {
      this.#remarks.push(besideRemark(target.base, hostWords));
    }
    return this.#link(opened);
  }

  /** Suggestions are nearer to the pull request than another one, and a person can commit them where the rules allow it. */
  async #isSuggested(target: PublishTarget, hostWords: string): Promise<boolean> {
    const { changes, clean, pullRequests, run, runWorkspace } = this.#deps;
    const { base: branch, name, owner } = target;
    if (branch === undefined || !isBranchProtected(hostWords)) {
      return false;
    }
    try {
      const { diffs } = await changes.diff(runWorkspace, "clone");
      const [diff] = diffs.filter(({ repository }) => isSameRepository(repository, target));
      const patch = shortPatch(diffs, clean);
      const work = diff === undefined || patch === undefined ? undefined : { branch, patch, base: diff.base };
      if (work && (await pullRequests.takesSuggestions(teamAccessOf(run), { owner, name }, work))) {
        this.#suggested = { branch, hostWords };
      }
    } catch (error) {
      this.#deps.log.warn("pull_request.branch_not_extended", { runId: run.id, error });
    }
    return this.#suggested !== undefined;
  }

  async #isOpen({ isOptional, name, owner }: PublishTarget): Promise<boolean> {
    const { pullRequests, run } = this.#deps;
    const repository = { owner, name, ...teamAccessOf(run) };
    return isOptional !== true || pullRequests.isAllowed(repository).catch(() => true);
  }

  /** Undefined: there is nothing to merge. */
  async #open(draft: PullRequestDraft): Promise<PullRequest | undefined> {
    const { clock, pullRequests } = this.#deps;
    const opened = await retry(clock, UNTIL_FREE, () => pullRequests.open(draft));
    this.#remarks.push(...(opened?.remarks ?? []));
    const { repository, teamId, withoutTeamToken = false } = draft;
    if (
      opened === undefined &&
      !(await pullRequests.isAllowed({ teamId, withoutTeamToken, ...repository }))
    ) {
      const message = `The team has no credentials for pull requests in ${repository.owner}/${repository.name}.`;
      throw new AppError("integration_not_configured", message, {
        remedy: "An administrator gives the team access to the repository, as for the start of such a run.",
      });
    }
    return opened;
  }

  /** Undefined: the branch gets no pull request. `subject` says what was done. */
  async #draftOf(
    target: PublishTarget,
    branch: string,
    subject?: string,
  ): Promise<PullRequestDraft | undefined> {
    const { changes, clean, run, runWorkspace, writer } = this.#deps;
    if (target.setting === "off" || branch === target.base) {
      return undefined;
    }
    if (await changes.wasEmpty(runWorkspace, target)) {
      this.#remark(firstBranchRemark(target, branch));
      return undefined;
    }
    const home = homeRepositoryOf(run);
    const words = {
      answer: this.#answer,
      subject,
      issue: home !== undefined && isSameRepository(home, target) ? home.issue : undefined,
      fork: home?.fork,
      beside: home?.branch !== undefined && home.branch === target.base ? target : undefined,
      sessionLink: writer.sessionLink(run),
    };
    const template = await changes.templateOf(runWorkspace, target);
    return {
      ...teamAccessOf(run),
      ...defined({ template, requester: run.provenance.actor, base: target.base }),
      repository: { owner: target.owner, name: target.name },
      branch,
      ...clean(pullRequestText(run, words)),
      isDraft: target.setting === "draft",
    };
  }

  /** A failure is noted and ends nothing. */
  async #attempt<T>(
    what: "push" | "pull_request",
    target: PublishTarget,
    work: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      const { log, run } = this.#deps;
      log.warn("pull_request.refused", { runId: run.id, what, error });
      if (what === "pull_request" || this.#pusher.hostRefusal(target) === undefined) {
        const branch = this.#branches.at(-1)?.branch;
        this.#failures.push(refusalOf(what, error, { branch, host: this.#deps.changes.host }));
      }
      return undefined;
    }
  }

  /** Also pushes of the agent that no accepted one has followed. */
  #refused(): Pick<PublishResult, "notWritable" | "refused"> {
    const { changes, runWorkspace } = this.#deps;
    const { refusedPushes } = runWorkspace.gateway.traffic;
    const by = changes.host;
    const isLeftOut = (push: RefusedPush) =>
      this.#targetIn(push)?.isOptional === true && isWriteForbidden(push.message);
    const notWritable = refusedPushes.find(isLeftOut);
    const refused = refusedPushes
      .filter((push) => !isLeftOut(push) && push.message !== this.#suggested?.hostWords)
      .map(({ message }) => ({ what: "push", by, message, remedy: remedyOf(message) }) as const);
    return { ...defined({ notWritable: notWritable?.message }), refused: [...refused, ...this.#failures] };
  }

  async #link(found: PullRequest | undefined): Promise<PullRequest | undefined> {
    if (found !== undefined) {
      await linkPullRequest(this.#deps, found).catch((error) =>
        this.#deps.problem("The pull request could not be linked to the run", error),
      );
    }
    return found;
  }
}

type PullRequestBody = Extract<ArtifactBody, { readonly type: "PULL_REQUEST" }>;
