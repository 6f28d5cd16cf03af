import { defined } from "../basics/defined.ts";
import { newId, type PrincipalId } from "../basics/ids.ts";
import { type PullRequestStatus, statusAfter } from "../model/repositories/pull-request-status.ts";
import type { RunEventBody } from "../model/runs/events.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import {
  type Approval,
  type ChangedDetails,
  changedDetails,
  type Run,
  type RunActivity,
  type RunDetails,
  type RunProgress,
  type StatusMessage,
} from "../model/runs/run.ts";
import { countsOf, outcomeOf, stampsOf, withRefused } from "../model/runs/run-outcome.ts";
import { isEnded, isWorkedOn, type RunState, requireTransition } from "../model/runs/states.ts";
import type { ThreadBinding } from "../model/threads/thread.ts";
import type { Artifact, NewArtifact } from "../model/workspaces/artifact.ts";
import { fileInWorkspace, filesInWorkspace, type InputFile } from "../model/workspaces/input-file.ts";
import type { RepositoryChanges } from "../model/workspaces/repository-changes.ts";
import type { ChangeExtras, LeaseGrant, RunChange } from "../ports/stores/run-change.ts";
import type { RunAggregate } from "../ports/stores/run-store.ts";
import { deliverable } from "./approval.ts";
import { FollowUpChanges } from "./follow-up-changes.ts";
import type { NoticeWriter } from "./notice-writer.ts";
import { deliverJobs, isMadeClaimable } from "./run-job.ts";
import { RunNotices } from "./run-notices.ts";
import { warningOf, warningText, withWarning } from "./warnings.ts";

export interface EditTools {
  readonly now: Date;
  readonly writer: NoticeWriter;
}

interface NewFollowUpText {
  readonly message: string;
  readonly editedBy: PrincipalId;
  readonly approval?: Approval | undefined;
}

/**
 * Builds one decision about one run. Only this class changes the state of a run: it checks the transition table and
 * adds everything that a transition causes (the event, the cards in the run's threads, the jobs), so that no caller
 * can forget one of them.
 */
export class RunEdit {
  readonly aggregate: RunAggregate;
  /** What the decision shows in the threads of the run. */
  readonly notices: RunNotices;
  /** If the change queues the run, a worker takes it this much later. */
  startAfterMs = 0;
  readonly #tools: EditTools;
  readonly #events: { turn: number; body: RunEventBody }[] = [];
  readonly #followUps: FollowUpChanges;
  readonly #artifacts: Artifact[] = [];
  #progress: RunProgress;
  #details: ChangedDetails = {};
  #changes: readonly RepositoryChanges[] | undefined;
  #lease: LeaseGrant | null | undefined;
  #binding: ThreadBinding | undefined;
  #extras: ChangeExtras = {};

  constructor(aggregate: RunAggregate, tools: EditTools) {
    this.aggregate = aggregate;
    this.#tools = tools;
    this.#progress = aggregate.run;
    this.#followUps = new FollowUpChanges(aggregate);
    this.notices = new RunNotices(this, aggregate, tools.writer);
  }

  get now(): Date {
    return this.#tools.now;
  }

  newId(): string {
    return newId(this.#tools.now);
  }

  /** The run after this decision. */
  get run(): Run {
    const run = { ...this.aggregate.run, ...this.#progress, ...this.#details };
    return this.#lease === null ? { ...run, lease: undefined } : run;
  }

  moveTo(to: RunState, why: { reason?: string; status?: StatusMessage } = {}): void {
    const from = this.#progress.state;
    requireTransition(from, to);
    const changed = { state: to, stateSince: this.#tools.now, statusMessage: why.status };
    this.#progress = { ...this.#progress, ...changed, ...stampsOf(this.#progress, to, this.#tools.now) };
    const outcome = outcomeOf(this.#progress);
    this.record({ kind: "run.state", from, to, ...why, ...defined({ outcome }) });
    if (!isWorkedOn(to)) {
      this.#setStep(undefined);
    }
    this.notices.changeCard();
    if (isEnded(to)) {
      this.notices.postReactions();
      this.notices.postOutcome();
    }
  }

  /** Stores the final answer of a turn for the threads. A private turn leaves the answer before it. */
  setAnswer(answer: string): void {
    if (!this.isPrivate) {
      this.set({ answer });
    }
  }

  /** Stores what the agent does now for the cards. Nothing is stored of a private turn. */
  setActivity({ plan, step }: Pick<RunActivity, "plan" | "step">): void {
    if (this.isPrivate || !isWorkedOn(this.#progress.state)) {
      return;
    }
    this.set({ activity: { ...this.#progress.activity, ...defined({ plan }) } });
    this.#setStep(step);
  }

  /** Shows in the threads what the agent does now, and for how long. While it waits for an answer, it does nothing. */
  showActivity(): void {
    const { state } = this.#progress;
    if (!this.isPrivate && isWorkedOn(state) && state !== "BLOCKED") {
      this.notices.changeActivity();
    }
  }

  #setStep(step: string | undefined): void {
    const { activity } = this.#progress;
    if (activity?.step === step) {
      return;
    }
    const { step: _before, ...others } = activity ?? {};
    this.set({ activity: step === undefined ? others : { ...others, step } });
  }

  /** Whether the open turn, or else the next one, has only private follow-ups. */
  get isPrivate(): boolean {
    return this.#followUps.isTurnPrivate;
  }

  /** Records the first event of a new run, instead of a transition. */
  begin(inputs: readonly InputFile[] = []): void {
    const files = inputs.length === 0 ? {} : { files: filesInWorkspace(inputs) };
    const { approval, state } = this.#progress;
    this.record({ kind: "run.created", state, ...files });
    if (approval !== undefined) {
      this.requestApproval(approval);
    }
    this.attach({ inputs });
    this.notices.changeCard();
  }

  /** Changes those of the details that differ. */
  changeDetails(details: Partial<RunDetails>): void {
    const changed = changedDetails(this.run, details);
    const members = (["title", "metadata"] as const).filter((member) => changed[member] !== undefined);
    if (members.length === 0) {
      return;
    }
    this.#details = { ...this.#details, ...changed };
    this.record({ kind: "run.updated", members });
    // Cards show the title.
    if (changed.title !== undefined) {
      this.notices.changeCard();
    }
  }

  /** Replaces the request of a run that nothing works on yet. */
  rewriteRequest(request: { readonly prompt: string; readonly title: string }): void {
    const { prompt, title } = request;
    const changed = title === this.run.title ? undefined : title;
    const members = changed === undefined ? (["prompt"] as const) : (["title", "prompt"] as const);
    this.#details = { ...this.#details, prompt, ...defined({ title: changed }) };
    this.record({ kind: "run.updated", members });
    this.notices.changeCard();
  }

  record(body: RunEventBody): void {
    this.#events.push({ turn: this.#progress.turn, body });
    const warning = warningOf(body);
    if (warning !== undefined) {
      this.warn(warning);
    }
  }

  set(
    members: Partial<Omit<RunProgress, "state" | "stateSince" | "statusMessage" | "startedAt" | "endedAt">>,
  ): void {
    this.#progress = { ...this.#progress, ...members };
  }

  /** Shows the user of the run a problem that does not end it. The same text again changes nothing. */
  warn(text: string): void {
    this.set({ warnings: withWarning(this.#progress.warnings ?? [], text) });
  }

  /** Warns of them, and shows those that are new beside the answer of the turn. */
  remark(remarks: readonly string[]): void {
    const known = this.#progress.warnings ?? [];
    for (const text of remarks) {
      this.warn(text);
    }
    this.notices.addRemarks(remarks.filter((text) => !known.includes(warningText(text))));
  }

  grantLease(lease: LeaseGrant): void {
    this.#lease = lease;
  }

  dropLease(): void {
    this.#lease = null;
  }

  /** The run waits for this approval. An open one gets new inputs. */
  requestApproval(approval: Approval): void {
    this.set({ approval });
    this.#recordRequest(approval);
  }

  /** Stores the decision about the run, or about one follow-up. A refused follow-up is withdrawn. */
  decideApproval(approval: Approval, said: { readonly comment?: string }, followUp?: FollowUp): void {
    const { approved = false, decidedBy = "", id: approvalId, inputsHash } = approval;
    const about = defined({ followUpId: followUp?.id });
    this.record({ kind: "approval.decided", approvalId, inputsHash, ...about, approved, decidedBy, ...said });
    this.set(approved && approval.executes !== undefined ? { executes: approval.executes } : {});
    if (followUp === undefined) {
      this.set({ approval });
    } else {
      const withdrawnAt = approved ? undefined : this.#tools.now;
      this.#followUps.replace({ ...followUp, approval, ...defined({ withdrawnAt }) });
    }
    this.notices.changeCard();
  }

  addFollowUp(followUp: Omit<FollowUp, "seq" | "id" | "runId" | "createdAt">, id: string): string {
    this.#followUps.add({ ...followUp, id, runId: this.aggregate.run.id, createdAt: this.#tools.now });
    const { approval, message, authorId, byGuest, delivery, files = [], threadId } = followUp;
    if (threadId !== undefined && followUp.isReport !== true && !followUp.private) {
      this.notices.showCardIn(threadId);
    }
    const author = byGuest === true ? ({ authorId, authorType: "guest" } as const) : { authorId };
    const brought = files.length === 0 ? {} : { files: files.map(fileInWorkspace) };
    this.record({ kind: "followup.received", followUpId: id, message, ...author, delivery, ...brought });
    if (approval !== undefined) {
      this.#recordRequest(approval, id);
    }
    if (followUp.asksForPullRequest !== true) {
      this.#noteAuthor(byGuest === true ? undefined : authorId);
    }
    if (this.run.startedAt === undefined) {
      this.set({ earlyFollowUps: true });
    }
    return id;
  }

  /** With another text the follow-up needs `approval`, if that is given. */
  rewriteFollowUp(followUp: FollowUp, { approval, editedBy, message }: NewFollowUpText): FollowUp {
    this.record({ kind: "followup.edited", followUpId: followUp.id, message, editedBy });
    if (approval !== undefined) {
      this.#recordRequest(approval, followUp.id);
    }
    this.#noteAuthor(editedBy);
    const required = approval === undefined ? {} : { approval };
    // The new text replaces the comments too, which are a part of what the agent reads.
    const { comments: _replaced, ...kept } = followUp;
    return this.#followUps.replace({ ...kept, message, editedAt: this.#tools.now, ...required });
  }

  /** Undefined: a guest. */
  #noteAuthor(authorId: PrincipalId | undefined): void {
    if (authorId !== this.aggregate.run.creatorId) {
      this.set({ othersWrote: true });
    }
  }

  withdrawFollowUp(followUp: FollowUp, withdrawnBy: PrincipalId): void {
    this.record({ kind: "followup.withdrawn", followUpId: followUp.id, withdrawnBy });
    this.#followUps.replace({ ...followUp, withdrawnAt: this.#tools.now });
  }

  /** Without this follow-up, the run has nothing to do. */
  markResuming(followUp: FollowUp): void {
    this.#followUps.replace({ ...followUp, resumes: true });
  }

  /** Adds an artifact, or a new version of `before`. */
  addArtifact(made: NewArtifact, before?: Artifact): void {
    const { now } = this.#tools;
    const { id: runId, turn, artifactTypes = [] } = this.run;
    const { id, version, createdAt } = before ?? { id: newId(now), version: 0, createdAt: now };
    const artifact = { ...made, id, runId, turn, version: version + 1, createdAt, updatedAt: now };
    this.#artifacts.push(artifact);
    this.set({ artifactTypes: [...new Set([...artifactTypes, made.body.type])] });
    if (made.body.type === "PULL_REQUEST") {
      this.set({ pullRequest: made.body.url });
      this.notices.changeActivity();
    }
    this.record({ kind: "artifact.added", artifactId: id, version: version + 1, artifact: made.body });
  }

  /** What the platform says about the newest pull request. Cards show it. */
  setPullRequestStatus(status: PullRequestStatus): void {
    const { pullRequest, pullRequestStatus: before } = this.run;
    if (status.url === pullRequest) {
      this.set({ pullRequestStatus: statusAfter(before, status) });
      this.notices.changeCard();
    }
  }

  get hasNewFiles(): boolean {
    return this.#artifacts.some(({ body }) => body.type === "FILE");
  }

  /** Replaces what is known of the run's changes in its repositories. */
  setChanges(changes: readonly RepositoryChanges[]): void {
    this.#changes = changes;
    this.set({ outcome: { ...this.#progress.outcome, changes: countsOf(changes) } });
  }

  /**
   * Starts the next turn, or continues the open one, with all follow-ups that may be given. Returns all follow-ups of
   * the turn.
   */
  takeWaiting(): readonly FollowUp[] {
    const { taken } = this.aggregate;
    const waiting = deliverable(this.aggregate.waiting);
    const isOpen = this.#progress.turnOpen;
    const turn = isOpen ? this.#progress.turn : this.#progress.turn + 1;
    const ids = waiting.map(({ id }) => id);
    this.#followUps.take(turn, ids);
    this.set({ turn, turnOpen: true, outcome: withRefused(this.#progress.outcome, undefined) });
    if (!isOpen) {
      this.set({ activity: { since: this.#tools.now } });
    }
    if (!this.isPrivate) {
      this.set({ answer: undefined });
    }
    return isOpen ? [...taken, ...waiting] : waiting;
  }

  /** The open turn takes a waiting follow-up that its agent has already received. */
  takeSteered(followUpId: string): void {
    this.#followUps.take(this.#progress.turn, [followUpId]);
    this.record({ kind: "followup.steered", followUpId });
  }

  /** The follow-ups that wait for a turn after this decision, in order. */
  get waiting(): readonly FollowUp[] {
    return this.#followUps.waiting;
  }

  /** Those of them that the next turn may take. */
  get deliverable(): readonly FollowUp[] {
    return deliverable(this.waiting);
  }

  bind(binding: ThreadBinding): void {
    this.#binding = binding;
    const { showsCard = true, thread } = binding;
    this.notices.addThread({ ...thread, runId: this.aggregate.run.id, showsCard });
    this.record({ kind: "thread.bound", adapter: thread.adapter, threadId: thread.id });
  }

  /** Adds what the same transaction stores, and what it depends on. */
  attach(extras: ChangeExtras): void {
    this.#extras = { ...this.#extras, ...extras };
  }

  done(): RunChange {
    this.set({ waitingFollowUp: this.#followUps.waitingForApproval(this.#tools.now) });
    this.notices.closeQuestion();
    this.notices.postCards(this.now, this.waiting);
    this.notices.postChecks();
    const isClaimable = isMadeClaimable(this.run, { events: this.#events, lease: this.#lease });
    if (isClaimable && this.startAfterMs > 0) {
      this.set({ startAfter: new Date(this.now.getTime() + this.startAfterMs) });
    }
    return {
      ...this.#followUps.done,
      ...this.#extras,
      progress: this.#progress,
      details: Object.keys(this.#details).length === 0 ? undefined : this.#details,
      lease: this.#lease,
      events: this.#events,
      artifacts: this.#artifacts,
      changes: this.#changes,
      notices: this.notices.all,
      binding: this.#binding,
      cardsFromNow: this.notices.cardsFromNow,
      isClaimable,
      jobs: deliverJobs(this.notices.all),
    };
  }

  #recordRequest({ id: approvalId, inputsHash, policyId, reason }: Approval, followUpId?: string): void {
    const about = followUpId === undefined ? {} : { followUpId };
    this.record({ kind: "approval.requested", approvalId, inputsHash, ...about, policyId, reason });
    this.notices.changeCard();
  }
}
