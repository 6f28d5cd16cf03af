import type { PushedBranch } from "../agents/gateway.ts";
import type { ArtifactBody } from "../artifacts/artifact.ts";
import type { AttemptDeps } from "../attempts/attempt-deps.ts";
import { isSameRepository, type RepositoryName } from "../repositories/repository-name.ts";
import { retry, THREE_TRIES, WHILE_UNAVAILABLE } from "../retry.ts";
import { homeRepositoryOf } from "../runs/home-repository.ts";
import { teamAccessOf } from "../secrets/git-token.ts";
import type { BranchPush, PushedWork } from "../workspaces/change-tracker.ts";
import type { RunWorkspace } from "../workspaces/workspace.ts";
import { branchOf } from "./branch-name.ts";
import { type LinkPullRequestDeps, linkPullRequest } from "./link-pull-request.ts";
import { type PublishTarget, publishTargetOf } from "./publish-target.ts";
import { commitMessageOf, pullRequestText } from "./pull-request-text.ts";
import type { PullRequest, PullRequestDraft } from "./pull-requests.ts";

export interface PullRequestPublisherDeps
  extends Pick<AttemptDeps, "changes" | "log" | "pullRequests" | "settings" | "writer">,
    LinkPullRequestDeps {
  readonly runWorkspace: RunWorkspace;
  readonly clean: <T>(value: T) => T;
  readonly problem: (what: string, error: unknown) => void;
}

export interface PublishResult {
  /** The pull request to show to people. */
  readonly url?: string;
  /** A repository whose changes are all in a pull request. */
  readonly handedOver?: RepositoryName;
}

export interface PublishedTurn {
  /** What the agent says about its work. Empty for a private turn. */
  readonly answer: string;
  readonly isDone: boolean;
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
  readonly #target: PublishTarget | undefined;
  readonly #branches: PublishedBranch[] = [];
  #answer = "";
  /** The number of pushes handled so far. */
  #handledPushes = 0;

  constructor(deps: PullRequestPublisherDeps) {
    this.#deps = deps;
    this.#target = publishTargetOf(deps.run, deps.settings.pullRequests);
  }

  /**
   * Publishes after a turn that changed these repositories; undefined: the changed repositories are unknown. When the
   * run `isDone`, changes that its agent did not push are published as well.
   */
  async publish(
    { answer, isDone }: PublishedTurn,
    changed: readonly RepositoryName[] | undefined,
  ): Promise<PublishResult> {
    this.#answer = answer;
    const pushed = this.#newPushes();
    let shown: PullRequest | undefined;
    for (const branch of pushed) {
      const found = await this.#ofBranch(branch, isDone);
      this.#note(branch, found);
      shown = found ?? shown;
    }
    const target = this.#target;
    const known = shown === undefined ? {} : { url: shown.url };
    if (target === undefined || !isDone || isAmong(pushed, target)) {
      return known;
    }
    const before = isAmong(changed ?? [target], target) ? undefined : await this.#lastOfRun();
    if (before !== undefined) {
      return { ...known, url: before.url, ...(this.#isOwn(before) ? { handedOver: target } : {}) };
    }
    const opened = await this.#handOver(target);
    return opened === undefined ? known : { ...known, url: opened.url, handedOver: target };
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
    const noted = { ...branch, ...(pullRequest === undefined ? {} : { url: pullRequest.url }) };
    this.#branches.splice(at < 0 ? this.#branches.length : at, 1, noted);
  }

  /** If earlier turns published all changes, a turn without changes has nothing to publish. */
  async #lastOfRun(): Promise<PullRequestBody | undefined> {
    const { clock, run, storage } = this.#deps;
    const artifacts = await retry(clock, WHILE_UNAVAILABLE, () => storage.files.artifactsOf([run.id]));
    const bodies = artifacts.flatMap(({ body }) => (body.type === "PULL_REQUEST" ? [body] : []));
    return bodies.findLast((body) => this.#isOwn(body)) ?? bodies.at(-1);
  }

  /** The branch that Errand itself pushes to. */
  #isOwn({ branch }: Pick<PushedBranch, "branch">): boolean {
    const { base, ontoBase } = this.#target ?? {};
    return branch === branchOf(this.#deps.run) || (ontoBase === true && branch === base);
  }

  #newPushes(): readonly PushedBranch[] {
    const { pushes } = this.#deps.runWorkspace.gateway.traffic;
    const fresh = pushes.slice(this.#handledPushes);
    this.#handledPushes = pushes.length;
    return fresh.filter((pushed) => !this.#isOwn(pushed));
  }

  /**
   * Finds the pull request of a branch that the agent pushed. If the run was asked for in that repository, keeps it up
   * to date, or opens it.
   */
  #ofBranch(branch: PushedBranch, isDone: boolean): Promise<PullRequest | undefined> {
    const { clock, problem, pullRequests, run } = this.#deps;
    return this.#attempt(`The pull request of ${branch.branch} was not found`, problem, async () => {
      const target = this.#target;
      const isOurs = isDone && target !== undefined && isSameRepository(target, branch);
      const draft = isOurs ? await this.#draftOf(target, branch.branch) : undefined;
      if (draft === undefined) {
        const find = () => pullRequests.find(teamAccessOf(run), branch, branch.branch);
        return retry(clock, THREE_TRIES, find);
      }
      const found = await retry(clock, THREE_TRIES, () => pullRequests.update(draft));
      return found ?? retry(clock, THREE_TRIES, () => pullRequests.open(draft));
    });
  }

  #handOver(target: PublishTarget): Promise<PullRequest | undefined> {
    const { clock, problem, pullRequests, run } = this.#deps;
    if (target.setting === "off") {
      return Promise.resolve(undefined);
    }
    return this.#attempt("The pull request could not be opened", problem, async () => {
      const extended = await this.#pushOntoBase(target);
      if (extended !== undefined) {
        return extended;
      }
      const work = await this.#push(target, { branch: branchOf(run) });
      if (work === undefined) {
        return undefined;
      }
      const { pushed, subject } = work;
      this.#note(pushed, undefined);
      const draft = await this.#draftOf(target, pushed.branch, subject);
      const opened = draft && (await retry(clock, THREE_TRIES, () => pullRequests.open(draft)));
      this.#note(pushed, opened);
      return opened;
    });
  }

  /** Undefined: the work has to go to a branch of its own, for example because another person pushed meanwhile. */
  async #pushOntoBase(target: PublishTarget): Promise<PullRequest | undefined> {
    const { clock, log, pullRequests, run } = this.#deps;
    const { base, ontoBase } = target;
    if (ontoBase !== true || base === undefined) {
      return undefined;
    }
    try {
      const work = await this.#push(target, { branch: base, isShared: true });
      const found = await retry(clock, THREE_TRIES, () => pullRequests.find(teamAccessOf(run), target, base));
      if (work !== undefined) {
        this.#note(work.pushed, found);
      }
      return found;
    } catch (error) {
      log.warn("pull_request.branch_not_extended", { runId: run.id, branch: base, error });
      return undefined;
    }
  }

  #push(
    { name, owner }: PublishTarget,
    to: Pick<BranchPush, "branch" | "isShared">,
  ): Promise<PushedWork | undefined> {
    const { changes, clean, run, runWorkspace, writer } = this.#deps;
    const words = { sessionLink: writer.sessionLink(run), coAuthor: writer.coAuthorOf(run) };
    const message = clean(commitMessageOf(run, words));
    return changes.push(runWorkspace, { repository: { owner, name }, message, ...to });
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
    const { actor } = run.provenance;
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
      ...(template === undefined ? {} : { template }),
      ...(actor === undefined ? {} : { requester: actor }),
      repository: { owner: target.owner, name: target.name },
      branch,
      ...(target.base === undefined ? {} : { base: target.base }),
      ...clean(pullRequestText(run, words)),
      isDraft: target.setting === "draft",
    };
  }

  async #attempt(
    what: string,
    problem: PullRequestPublisherDeps["problem"],
    work: () => Promise<PullRequest | undefined>,
  ): Promise<PullRequest | undefined> {
    try {
      const found = await work();
      if (found !== undefined) {
        await linkPullRequest(this.#deps, found);
      }
      return found;
    } catch (error) {
      problem(what, error);
      return undefined;
    }
  }
}

type PullRequestBody = Extract<ArtifactBody, { readonly type: "PULL_REQUEST" }>;

function isAmong(repositories: readonly RepositoryName[], wanted: RepositoryName): boolean {
  return repositories.some((each) => isSameRepository(each, wanted));
}
