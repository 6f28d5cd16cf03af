import { defined } from "../../basics/defined.ts";
import { retry, WHILE_UNAVAILABLE } from "../../basics/retry.ts";
import { isAmong, isSameRepository } from "../../model/repositories/repository-name.ts";
import type { ToolCallUpdate, TurnEnd } from "../../model/runs/agent-update.ts";
import { isPatchOnly } from "../../model/runs/home-repository.ts";
import type { Run, StatusMessage } from "../../model/runs/run.ts";
import { refusedStatus } from "../../model/runs/run-outcome.ts";
import type { RefusedWork } from "../../model/runs/stored-outcome.ts";
import type { LandedWork, UnpushedWork } from "../../model/threads/notice.ts";
import type { RepositoryChanges } from "../../model/workspaces/repository-changes.ts";
import type { CollectedFile } from "../../model/workspaces/workspace.ts";
import type { LeftOutWork } from "../../ports/change-tracker.ts";
import { deliverable } from "../../runs/approval.ts";
import { statusText } from "../../runs/notice-writer.ts";
import type { AttemptContext } from "../context/attempt-context.ts";
import { type AttemptServices, recordLostChanges } from "../context/attempt-services.ts";
import { LeaseLost } from "../lease/lease-writer.ts";
import { beginAgain } from "./begin-again.ts";
import { type Changed, PatchFiles } from "./patch-files.ts";
import { publishTargetsOf } from "./publish-target.ts";
import { type PublishedBranch, type PublishResult, PullRequestPublisher } from "./pull-request-publisher.ts";
import {
  isElsewhere,
  leftOutParts,
  movedWords,
  protectedStatus,
  shortPatch,
  unpushedStatus,
  unwritableStatus,
} from "./undelivered-work.ts";

export interface CollectedChanges {
  readonly files: readonly CollectedFile[];
  /** By repository, since the repositories were cloned. Undefined: unknown. */
  readonly changes?: readonly RepositoryChanges[];
  /** The status message of a run that succeeds. */
  readonly success?: StatusMessage;
  /** The work so far, if the turn changed it and it is not pushed. */
  readonly unpushed?: UnpushedWork;
  /** The changes for readers, if the turn changed something. */
  readonly landed?: readonly LandedWork[];
  /** The files that the turn changed, if all of them are pushed. */
  readonly changedFiles?: readonly string[];
  /** Sentences about work that is not handed over, for the run and its threads. */
  readonly remarks?: readonly string[];
  /** What a run that succeeds does not hand over. */
  readonly refused?: readonly RefusedWork[];
}

const UNDO =
  "Nothing is pushed while it is so. Put these files back as they were, unless the task cannot be done without them. " +
  "Then say why.";
/** Threads about further files are not marked as done. */
const NAMED_FILES_MAX = 500;
const NOTHING: CollectedChanges = { files: [] };

/**
 * Collects what a run changes in its repositories, as patches and as pull requests. A failure here never ends the
 * run.
 */
export class ChangeCollector {
  readonly #services: AttemptServices;
  readonly #files: PatchFiles;
  readonly #pullRequests: PullRequestPublisher;
  readonly #written = new WrittenFiles();
  readonly #beginAgain: () => Promise<readonly string[]>;
  readonly #findProblems: () => Promise<readonly string[]>;
  /** For the end of the turn: at which commit it began instead of where the last one ended. */
  #begun: readonly string[] = [];

  constructor(services: AttemptServices, attemptContext: AttemptContext) {
    const { clean, lease, deps } = services;
    const problem = (what: string, error: unknown) => recordLostChanges(services, what, error);
    this.#services = services;
    this.#files = new PatchFiles({
      ...deps,
      runWorkspace: attemptContext,
      plan: attemptContext.plan,
      problem,
    });
    const publisher = {
      ...deps,
      lease,
      clean,
      plan: attemptContext.plan,
      runWorkspace: attemptContext,
      rules: attemptContext.rules,
      problem,
    };
    this.#pullRequests = new PullRequestPublisher(publisher);
    const { plan, rules } = attemptContext;
    const targets = publishTargetsOf({ run: deps.run, plan }, deps.settings.pullRequests);
    const repositories = [...plan.repositories, ...targets];
    const open = targets.filter(({ setting }) => setting !== "off");
    this.#findProblems = async () =>
      (await Promise.all(open.map((each) => rules.problemIn(attemptContext, each)))).flatMap(
        (problem) => problem ?? [],
      );
    this.#beginAgain = () => beginAgain({ ...publisher, repositories });
  }

  /** Returns what the agent must know about its repositories. */
  async beforeTurn(): Promise<readonly string[]> {
    this.#begun = this.#services.clean(await this.#beginAgain());
    await this.#files.takeSnapshot();
    return this.#begun;
  }

  onToolCall(call: ToolCallUpdate): void {
    this.#written.onToolCall(call);
  }

  /** What the agent must know about its work before its turn ends. A failure is told when the work is published. */
  async beforeEnd(): Promise<string | undefined> {
    const problems = await this.#findProblems().catch(() => []);
    return problems.length === 0 ? undefined : `${this.#services.clean(problems).join("\n")}\n${UNDO}`;
  }

  async afterTurn(run: Run, end: TurnEnd, answer: string): Promise<CollectedChanges> {
    try {
      return await this.#collect(run, end, answer);
    } catch (error) {
      if (error instanceof LeaseLost) {
        throw error;
      }
      recordLostChanges(this.#services, "The changes could not be kept", error);
      return NOTHING;
    }
  }

  /** For a run that ends in the middle of its work. */
  async atEnd({ turn }: Run): Promise<CollectedChanges> {
    const ofRun = await this.#files.ofRun();
    return ofRun === undefined
      ? NOTHING
      : { files: ofRun.files, ...(await this.#changesOf(turn, ofRun, this.#pullRequests.branches())) };
  }

  async #collect({ turn }: Run, { stopReason }: TurnEnd, answer: string): Promise<CollectedChanges> {
    const { run, taken, waiting } = await this.#services.lease.getAggregate();
    const isPrivate = run.turn > 1 && taken.length > 0 && taken.every((followUp) => followUp.private);
    const isLast = deliverable(waiting).length === 0;
    const moved = await this.#files.fastForward();
    const ofTurn = await this.#files.ofTurn(turn);
    const isAskedFor = taken.some(({ asksForPullRequest }) => asksForPullRequest === true);
    const isDone = (isLast || isAskedFor) && stopReason === "end_turn";
    const published = await this.#pullRequests.publish(
      { answer: isPrivate ? "" : answer, isDone, isAskedFor },
      ofTurn?.repositories,
    );
    const { handedOver, refused, url } = published;
    const ofRun = isLast || isDone ? await this.#files.ofRun(this.#written.paths) : undefined;
    const left = (ofRun?.diffs ?? []).filter(({ repository }) => !isAmong(handedOver, repository));
    const files = [...(ofTurn?.files ?? []), ...left.map(({ file }) => file)];
    const changes = ofRun && (await this.#changesOf(turn, ofRun, this.#pullRequests.branches()));
    const leftOut = ofRun?.leftOut ?? [];
    const parts = leftOutParts(leftOut).map(({ message, remedy }) => `${message} ${remedy}`);
    const words = this.#services.clean([
      ...movedWords(moved, url !== undefined),
      ...parts,
      ...published.remarks,
    ]);
    const remarks = [...this.#begun, ...words];
    this.#begun = [];
    const missing = leftOutParts(leftOut.filter((work) => this.#isMissing(work, url)));
    const end = {
      ...this.#endOf(published, ofTurn, ofRun),
      ...this.#refusedEnd(refused, missing),
    };
    const isUnchanged = ofTurn?.diffs.length === 0 && !isAskedFor;
    const landed = isUnchanged ? [] : (changes?.changes ?? []).map((each) => this.#landed(each));
    const isPushed = isDone && url !== undefined && refused.length === 0;
    return {
      files,
      ...changes,
      landed,
      remarks,
      ...end,
      changedFiles: isPushed ? this.#filesIn(ofTurn) : [],
    };
  }

  #filesIn(changed: Changed | undefined): readonly string[] {
    const files = (changed?.diffs ?? []).flatMap((diff) => diff.files);
    return this.#services.clean(files.slice(0, NAMED_FILES_MAX).map(({ path }) => path));
  }

  #landed(changes: RepositoryChanges): LandedWork {
    const { files, isTruncated, name, owner, pullRequest } = changes;
    const { pullRequestStatus: status } = this.#services.deps.run;
    const known = status?.url === pullRequest ? status?.state : undefined;
    const isDraft =
      known === undefined ? this.#pullRequests.settingIn(changes) === "draft" : known === "draft";
    const sum = (member: "additions" | "deletions") =>
      files.reduce((total, file) => total + (file[member] ?? 0), 0);
    return defined({
      repository: `${owner}/${name}`,
      pullRequest,
      isDraft: pullRequest !== undefined && isDraft ? true : undefined,
      files: files.length,
      additions: sum("additions"),
      deletions: sum("deletions"),
      isTruncated: isTruncated ? true : undefined,
    });
  }

  /** Work that is elsewhere is missing if a pull request was to be made of it and there is none. */
  #isMissing(work: LeftOutWork, url: string | undefined): boolean {
    return (
      !isElsewhere(work) || (url === undefined && this.#pullRequests.settingIn(work.repository) !== "off")
    );
  }

  /**
   * The patch of refused work is only on the page of the run: what a host refuses, for example a secret, is not for the
   * readers of the thread. What is `missing` is already in the remarks.
   */
  #refusedEnd(
    refused: readonly RefusedWork[],
    missing: readonly RefusedWork[],
  ): Pick<CollectedChanges, "refused" | "success" | "unpushed"> {
    const { clean } = this.#services;
    const all = clean([...refused, ...missing]);
    if (all.length === 0) {
      return {};
    }
    const end = { refused: all, success: refusedStatus(all) };
    return refused.length === 0
      ? end
      : { ...end, unpushed: { words: statusText(refusedStatus(clean(refused))) } };
  }

  /** How the run ends if this was its last turn and it succeeded. */
  #endOf(
    { notWritable, suggested, url }: Pick<PublishResult, "notWritable" | "suggested" | "url">,
    ofTurn: Changed | undefined,
    ofRun: Changed | undefined,
  ): Pick<CollectedChanges, "success" | "unpushed"> {
    const { clean, deps } = this.#services;
    if (url !== undefined) {
      return { success: { message: `Its pull request: ${url}` } };
    }
    const status = isPatchOnly(deps.run)
      ? unpushedStatus(deps.run)
      : suggested === undefined
        ? unwritableStatus(deps.run, notWritable)
        : protectedStatus(suggested);
    if (ofRun === undefined || ofRun.diffs.length === 0 || status === undefined) {
      return {};
    }
    const success = clean(status);
    if (ofTurn?.diffs.length === 0) {
      return { success };
    }
    const patch = shortPatch(ofRun.diffs, clean);
    return {
      success,
      unpushed: defined({
        words: statusText(success),
        patch,
        base: patch === undefined ? undefined : ofRun.diffs[0]?.base,
      }),
    };
  }

  /** What an earlier attempt pushed is known only from the stored changes. */
  async #changesOf(
    turn: number,
    { diffs }: Changed,
    branches: readonly PublishedBranch[],
  ): Promise<Pick<CollectedChanges, "changes">> {
    const { clean, deps } = this.#services;
    const { clock, run, storage } = deps;
    const known = await retry(clock, WHILE_UNAVAILABLE, () => storage.files.changesOf(run.id));
    const changes = diffs.map(({ base, file, files, filesChanged, isCut, repository }) => ({
      ...repository,
      ...pushedOf(
        branches.find((each) => isSameRepository(each, repository)),
        known.find((each) => isSameRepository(each, repository)),
      ),
      turn,
      base,
      files,
      blobId: file.blobId,
      sizeBytes: file.sizeBytes,
      isTruncated: isCut || files.length < filesChanged,
    }));
    return { changes: clean(changes) };
  }
}

function pushedOf(
  now: PublishedBranch | undefined,
  before: RepositoryChanges | undefined,
): Pick<RepositoryChanges, "branch" | "head" | "pullRequest"> {
  const { branch = before?.branch, commit: head = before?.head } = now ?? {};
  const url = now?.url ?? (branch === before?.branch ? before?.pullRequest : undefined);
  return defined({ branch, head, pullRequest: url });
}

/** More are not looked at. */
const PATHS_MAX = 200;
const LINE_END = /[\0\r\n]/;

/** Collects the files that the agent's tools for writing name. A command can write files without naming them. */
export class WrittenFiles {
  readonly #calls = new Set<string>();
  readonly #paths = new Set<string>();

  /** Each is a path as the agent sees it. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }

  onToolCall({ content = [], locations = [], toolCallId, toolKind }: ToolCallUpdate): void {
    if (toolKind === "edit" || toolKind === "move") {
      this.#calls.add(toolCallId);
    }
    const located = this.#calls.has(toolCallId) ? locations.map(({ path }) => path) : [];
    const changed = content.flatMap((part) => (part.type === "diff" ? [part.path] : []));
    for (const path of [...located, ...changed]) {
      if (this.#paths.size < PATHS_MAX && !LINE_END.test(path)) {
        this.#paths.add(path);
      }
    }
  }
}
