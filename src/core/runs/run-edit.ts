import type { Artifact, NewArtifact } from "../artifacts/artifact.ts";
import type { AuditContext } from "../audit/audit-log.ts";
import type { IdempotentResponse } from "../idempotency/idempotent-response.ts";
import { newId, type PrincipalId } from "../ids.ts";
import type { InboxResult } from "../inbox/inbox-result.ts";
import { fileInWorkspace, filesInWorkspace } from "../inputs/input-paths.ts";
import type { RunInput } from "../inputs/run-input.ts";
import type { Job } from "../ports/queue.ts";
import type { PullRequestStatus } from "../pull-requests/pull-request-status.ts";
import type { Notice, TurnOutcome } from "../threads/notice.ts";
import { type NoticeWriter, statusWords } from "../threads/notice-writer.ts";
import type { Thread, ThreadBinding } from "../threads/thread.ts";
import type { WebhookEndpoint } from "../webhooks/webhook-endpoint.ts";
import type { RepositoryChanges } from "../workspaces/repository-changes.ts";
import { deliverable, isWaitingForApproval } from "./approval.ts";
import type { RunEventBody } from "./events.ts";
import type {
  Approval,
  ChangedDetails,
  FollowUp,
  Run,
  RunActivity,
  RunDetails,
  RunProgress,
  StatusMessage,
  WaitingFollowUp,
} from "./run.ts";
import type { LeaseGrant, RunChange } from "./run-change.ts";
import { runJob } from "./run-job.ts";
import type { RunSubject } from "./run-store.ts";
import { isEnded, isWorkedOn, type RunState, requireTransition } from "./states.ts";
import { warningOf, withWarning } from "./warnings.ts";

/** A message that led to a turn. Without a thread, it came another way. */
interface AskedMessage {
  readonly messageRef: string | undefined;
  readonly thread: Thread | undefined;
}

export interface EditTools {
  readonly now: Date;
  readonly writer: NoticeWriter;
}

const OUTCOMES: Partial<Record<RunState, TurnOutcome>> = { SUCCEEDED: "done", CANCELLED: "stopped" };

/**
 * Builds one decision about one run. Only this class changes the state of a run: it checks the transition table and
 * adds everything that a transition causes (the event, the cards in the run's threads, the jobs), so that no caller
 * can forget one of them.
 */
export class RunEdit {
  readonly subject: RunSubject;
  readonly #tools: EditTools;
  readonly #events: { turn: number; body: RunEventBody }[] = [];
  readonly #followUps: Omit<FollowUp, "seq">[] = [];
  readonly #changedFollowUps = new Map<string, FollowUp>();
  readonly #notices: { threadId: string; notice: Notice }[] = [];
  readonly #jobs: Job[] = [];
  readonly #threads: Thread[];
  #progress: RunProgress;
  #lease: LeaseGrant | null | undefined;
  #takes: RunChange["takenFollowUps"];
  #binding: ThreadBinding | undefined;
  #inboxResult: InboxResult | undefined;
  #answer: IdempotentResponse | undefined;
  #apiKeyId: string | undefined;
  #signInId: string | undefined;
  #shareLinkId: string | undefined;
  #author: AuditContext | undefined;
  #inputs: readonly RunInput[] = [];
  #details: ChangedDetails = {};
  #webhook: WebhookEndpoint | undefined;
  #startAfterMs = 0;
  readonly #artifacts: Artifact[] = [];
  #changes: readonly RepositoryChanges[] | undefined;
  #showCard = false;
  #showActivity = false;

  constructor(subject: RunSubject, tools: EditTools) {
    this.subject = subject;
    this.#tools = tools;
    this.#progress = subject.run;
    this.#threads = [...subject.threads];
  }

  get now(): Date {
    return this.#tools.now;
  }

  newId(): string {
    return newId(this.#tools.now);
  }

  /** The run after this decision. */
  get run(): Run {
    const run = { ...this.subject.run, ...this.#progress, ...this.#details };
    return this.#lease === null ? { ...run, lease: undefined } : run;
  }

  moveTo(to: RunState, why: { reason?: string; status?: StatusMessage } = {}): void {
    const from = this.#progress.state;
    requireTransition(from, to);
    this.record({ kind: "run.state", from, to, ...why });
    const changed = { state: to, stateSince: this.#tools.now, statusMessage: why.status };
    this.#progress = { ...this.#progress, ...changed, ...this.#stamps(to) };
    if (!isWorkedOn(to)) {
      this.#setStep(undefined);
    }
    this.#showCard = true;
    if (isEnded(to)) {
      this.postSigns(OUTCOMES[to] ?? "failed");
      this.#postOutcome(why.status);
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
    this.set({ activity: { ...this.#progress.activity, ...(plan === undefined ? {} : { plan }) } });
    this.#setStep(step);
  }

  /** Posts a card to the threads that show what the agent does now. */
  showActivity(): void {
    this.#showActivity = !this.isPrivate && isWorkedOn(this.#progress.state);
  }

  #setStep(step: string | undefined): void {
    const { activity } = this.#progress;
    if (activity?.step === step) {
      return;
    }
    const { step: _before, ...others } = activity ?? {};
    this.set({ activity: step === undefined ? others : { ...others, step } });
  }

  /**
   * Shows on the messages that led to the turn how it ended. A run that never began has only its request. It came from the
   * first thread of its platform, because a run gets its other threads later.
   */
  postSigns(end: TurnOutcome): void {
    for (const { messageRef, thread } of this.#asked()) {
      if (messageRef !== undefined && thread !== undefined) {
        this.#notices.push({ threadId: thread.id, notice: { kind: "ended", messageRef, end } });
      }
    }
  }

  /** The messages that led to the turn, and their threads. */
  #asked(): readonly AskedMessage[] {
    const { run, taken } = this.subject;
    const isFirst = run.turn === 0 || (run.turn === 1 && run.turnOpen);
    const { message_ref: messageRef } = run.provenance;
    const request = {
      source: run.source,
      threadId: undefined,
      messageRef: typeof messageRef === "string" ? messageRef : undefined,
    };
    const asked = [...(isFirst ? [request] : []), ...(run.turnOpen ? taken : [])];
    return asked.map(({ messageRef, source, threadId }) => {
      const thread =
        threadId === undefined
          ? this.#threads.find(({ adapter }) => this.#tools.writer.sourceOf(adapter) === source)
          : this.#threads.find(({ id }) => id === threadId);
      return { messageRef, thread };
    });
  }

  /** Posts the final answer of a turn. */
  postAnswer(): void {
    const { answer } = this.#progress;
    if (answer !== undefined && answer !== "" && !this.isPrivate) {
      this.#postMessage("answer", answer);
    }
  }

  /**
   * Whether every follow-up of the open turn, or else of the next turn, is private. The prompt of the first turn
   * never is.
   */
  get isPrivate(): boolean {
    const { run, taken } = this.subject;
    const waiting = deliverable(this.subject.waiting);
    const joining = waiting.filter(({ id }) => this.#takes?.ids.includes(id));
    const followUps = run.turnOpen ? [...taken, ...joining] : waiting;
    const isFirst = run.turn === 0 || (run.turn === 1 && run.turnOpen);
    return !isFirst && followUps.length > 0 && followUps.every((followUp) => followUp.private);
  }

  /** Records the first event of a new run, instead of a transition. */
  begin(inputs: readonly RunInput[] = []): void {
    const files = inputs.length === 0 ? {} : { files: filesInWorkspace(inputs) };
    const { approval, state } = this.#progress;
    this.record({ kind: "run.created", state, ...files });
    if (approval !== undefined) {
      this.requestApproval(approval);
    }
    this.#inputs = inputs;
    this.#showCard = true;
  }

  /** Changes the details that are given and differ. */
  changeDetails(details: Partial<RunDetails>): void {
    const changed = changedDetails(this.run, details);
    const members = (["title", "metadata"] as const).filter((member) => changed[member] !== undefined);
    if (members.length === 0) {
      return;
    }
    this.#details = { ...this.#details, ...changed };
    this.record({ kind: "run.updated", members });
    // Cards show the title.
    this.#showCard ||= changed.title !== undefined;
  }

  /** Replaces the request of a run that nothing works on yet. */
  rewriteRequest(request: { readonly prompt: string; readonly title: string }): void {
    const { prompt, title } = request;
    const members = title === this.run.title ? (["prompt"] as const) : (["title", "prompt"] as const);
    this.#details = { ...this.#details, prompt, ...(title === this.run.title ? {} : { title }) };
    this.record({ kind: "run.updated", members });
    this.#showCard = true;
  }

  /** Messages about this run are also sent to an address of its own. */
  addWebhook(webhook: WebhookEndpoint): void {
    this.#webhook = webhook;
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
    const about = followUp === undefined ? {} : { followUpId: followUp.id };
    this.record({ kind: "approval.decided", approvalId, inputsHash, ...about, approved, decidedBy, ...said });
    if (followUp === undefined) {
      this.set({ approval });
    } else {
      this.#changed({ ...followUp, approval, ...(approved ? {} : { withdrawnAt: this.#tools.now }) });
    }
    this.#showCard = true;
  }

  addFollowUp(followUp: Omit<FollowUp, "seq" | "id" | "runId" | "createdAt">, id: string): string {
    this.#followUps.push({ ...followUp, id, runId: this.subject.run.id, createdAt: this.#tools.now });
    const { approval, message, authorId, byGuest, delivery, files = [] } = followUp;
    const author = byGuest === true ? ({ authorId, authorType: "guest" } as const) : { authorId };
    const brought = files.length === 0 ? {} : { files: files.map(fileInWorkspace) };
    this.record({ kind: "followup.received", followUpId: id, message, ...author, delivery, ...brought });
    if (approval !== undefined) {
      this.#recordRequest(approval, id);
    }
    this.#noteAuthor(byGuest === true ? undefined : authorId);
    return id;
  }

  /** With another text the follow-up needs `approval`, if that is given. */
  rewriteFollowUp(
    followUp: FollowUp,
    {
      approval,
      editedBy,
      message,
    }: { approval?: Approval | undefined; editedBy: PrincipalId; message: string },
  ): FollowUp {
    this.record({ kind: "followup.edited", followUpId: followUp.id, message, editedBy });
    if (approval !== undefined) {
      this.#recordRequest(approval, followUp.id);
    }
    this.#noteAuthor(editedBy);
    const required = approval === undefined ? {} : { approval };
    return this.#changed({ ...followUp, message, editedAt: this.#tools.now, ...required });
  }

  /** Undefined: a guest. */
  #noteAuthor(authorId: PrincipalId | undefined): void {
    if (authorId !== this.subject.run.creatorId) {
      this.set({ othersWrote: true });
    }
  }

  withdrawFollowUp(followUp: FollowUp, withdrawnBy: PrincipalId): void {
    this.record({ kind: "followup.withdrawn", followUpId: followUp.id, withdrawnBy });
    this.#changed({ ...followUp, withdrawnAt: this.#tools.now });
  }

  /** Without this follow-up, the run has nothing to do. */
  markResuming(followUp: FollowUp): void {
    this.#changed({ ...followUp, resumes: true });
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
      this.#showActivity = true;
    }
    this.record({ kind: "artifact.added", artifactId: id, version: version + 1, artifact: made.body });
  }

  /** What the platform says about the newest pull request. Cards show it. */
  setPullRequestStatus(status: PullRequestStatus): void {
    if (status.url === this.run.pullRequest) {
      this.set({ pullRequestStatus: status });
      this.#showCard = true;
    }
  }

  /** Replaces what is known of the run's changes in its repositories. */
  setChanges(changes: readonly RepositoryChanges[]): void {
    this.#changes = changes;
  }

  /**
   * Starts the next turn, or continues the open one, with all follow-ups that may be given. Returns all follow-ups of
   * the turn.
   */
  takeWaiting(): readonly FollowUp[] {
    const { taken } = this.subject;
    const waiting = deliverable(this.subject.waiting);
    const isOpen = this.#progress.turnOpen;
    const turn = isOpen ? this.#progress.turn : this.#progress.turn + 1;
    if (waiting.length > 0) {
      this.#takes = { turn, ids: waiting.map(({ id }) => id) };
    }
    this.set({ turn, turnOpen: true });
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
    this.#takes = { turn: this.#progress.turn, ids: [followUpId] };
    this.record({ kind: "followup.steered", followUpId });
  }

  /** The follow-ups that wait for a turn after this decision, in order. */
  get waiting(): readonly FollowUp[] {
    const taken = new Set(this.#takes?.ids ?? []);
    const left = this.subject.waiting
      .filter(({ id }) => !taken.has(id))
      .map((followUp) => this.#changedFollowUps.get(followUp.id) ?? followUp)
      .filter(({ withdrawnAt }) => withdrawnAt === undefined);
    const last = left.at(-1)?.seq ?? 0;
    return [...left, ...this.#followUps.map((added, index) => ({ ...added, seq: last + index + 1 }))];
  }

  /** Those of them that the next turn may take. */
  get deliverable(): readonly FollowUp[] {
    return deliverable(this.waiting);
  }

  bind(binding: ThreadBinding): void {
    this.#binding = binding;
    this.#threads.push({ ...binding.thread, runId: this.subject.run.id });
    const { id: threadId, adapter } = binding.thread;
    this.record({ kind: "thread.bound", adapter, threadId });
  }

  /** Tells the user of the run something in its threads, unless the open turn is private. */
  postNote(text: string): void {
    if (!this.isPrivate) {
      this.post({
        kind: "message",
        purpose: "reply",
        text,
        sessionLink: this.#tools.writer.sessionLink(this.run),
      });
    }
  }

  /** Posts the agent's question. */
  postQuestion(text: string): void {
    this.#postToAskers({ kind: "message", purpose: "question", text });
  }

  /** Posts `notice` to every thread of the run, or only to `threadId`. */
  post(notice: Notice, threadId?: string): void {
    for (const thread of this.#threads) {
      if (threadId !== undefined && thread.id !== threadId) {
        continue;
      }
      const addressed = this.#tools.writer.addressed(notice, this.run, thread.adapter);
      this.#notices.push({ threadId: thread.id, notice: addressed });
    }
  }

  /** Posts `notice` to the threads of all other adapters. */
  postElsewhere(notice: Notice, adapter: string | undefined): void {
    for (const thread of this.#threads.filter((other) => other.adapter !== adapter)) {
      this.post(notice, thread.id);
    }
  }

  completeInboxEvent(result: InboxResult): void {
    this.#inboxResult = result;
  }

  remember(answer: IdempotentResponse | undefined): void {
    this.#answer = answer;
  }

  /** Makes the change depend on this API key: nothing is stored if it was revoked. */
  requireKey(apiKeyId: string): void {
    this.#apiKeyId = apiKeyId;
  }

  /** Makes the change depend on this sign-in to the pages: nothing is stored if it has ended. */
  requireSignIn(signInId: string): void {
    this.#signInId = signInId;
  }

  /** If the change queues the run, a worker takes it this much later. */
  startAfter(ms: number): void {
    this.#startAfterMs = ms;
  }

  /** Names the author of the change in its audit entries. */
  nameAuthor(author: AuditContext): void {
    this.#author = author;
  }

  /** Makes the change depend on this share link: nothing is stored if its guests may no longer write. */
  requireShareLink(shareLinkId: string): void {
    this.#shareLinkId = shareLinkId;
  }

  done(): RunChange {
    this.set({ waitingFollowUp: this.#waitingFollowUp() });
    this.#postCards();
    return {
      progress: this.#progress,
      lease: this.#lease,
      events: this.#events,
      followUps: this.#followUps,
      takenFollowUps: this.#takes,
      notices: this.#notices,
      jobs: [...this.#jobs, ...this.#runJobs(), ...this.#deliverJobs()],
      binding: this.#binding,
      inboxResult: this.#inboxResult,
      idempotentResponse: this.#answer,
      ...(this.#apiKeyId === undefined ? {} : { apiKeyId: this.#apiKeyId }),
      ...(this.#signInId === undefined ? {} : { signInId: this.#signInId }),
      ...(this.#shareLinkId === undefined ? {} : { shareLinkId: this.#shareLinkId }),
      ...(this.#author === undefined ? {} : { author: this.#author }),
      ...(this.#changedFollowUps.size === 0
        ? {}
        : { changedFollowUps: [...this.#changedFollowUps.values()] }),
      ...(this.#inputs.length === 0 ? {} : { inputs: this.#inputs }),
      ...(this.#artifacts.length === 0 ? {} : { artifacts: this.#artifacts }),
      ...(this.#changes === undefined ? {} : { changes: this.#changes }),
      ...(Object.keys(this.#details).length === 0 ? {} : { details: this.#details }),
      ...(this.#webhook === undefined ? {} : { webhook: this.#webhook }),
    };
  }

  #changed(followUp: FollowUp): FollowUp {
    this.#changedFollowUps.set(followUp.id, followUp);
    return followUp;
  }

  #recordRequest({ id: approvalId, inputsHash, policyId, reason }: Approval, followUpId?: string): void {
    const about = followUpId === undefined ? {} : { followUpId };
    this.record({ kind: "approval.requested", approvalId, inputsHash, ...about, policyId, reason });
    this.#showCard = true;
  }

  #waitingFollowUp(): WaitingFollowUp | undefined {
    const first = this.waiting.find(isWaitingForApproval);
    if (first?.approval === undefined) {
      return undefined;
    }
    const { authorIds = [], reason } = first.approval;
    const before = this.subject.run.waitingFollowUp;
    const since = before?.followUpId === first.id ? before.since : this.#tools.now;
    return { followUpId: first.id, reason, authorIds: [...new Set([first.authorId, ...authorIds])], since };
  }

  #stamps(to: RunState): Partial<RunProgress> {
    if (isEnded(to)) {
      return { endedAt: this.#tools.now, permission: undefined };
    }
    if (to === "INPROGRESS" && this.#progress.startedAt === undefined) {
      return { startedAt: this.#tools.now };
    }
    return { endedAt: undefined };
  }

  /** Posts the agent's answer of a run that ended, or the reason why there is none. */
  #postOutcome(status: StatusMessage | undefined): void {
    const { answer, state } = this.#progress;
    if (answer !== undefined || state === "SUCCEEDED") {
      this.postAnswer();
    } else if (status !== undefined) {
      this.#postMessage("outcome", statusWords(status));
    }
  }

  #postMessage(purpose: "answer" | "outcome", text: string): void {
    const { id: runId, turn } = this.run;
    const hasFiles = this.#artifacts.some(({ body }) => body.type === "FILE");
    this.#postToAskers({
      kind: "message",
      purpose,
      text,
      sessionLink: this.#tools.writer.sessionLink(this.run),
      ...(hasFiles ? { offersFiles: { runId, turn } } : {}),
    });
  }

  /**
   * Posts what the turn says to those who asked: in the threads of their messages, at the places of these, and in the threads
   * of other platforms. If a message came another way, such as the API, every thread gets it.
   */
  #postToAskers(notice: Extract<Notice, { readonly kind: "message" }>): void {
    const asked = this.#asked();
    const isFromElsewhere = asked.length === 0 || asked.some(({ thread }) => thread === undefined);
    for (const { adapter, id } of this.#threads) {
      const here = asked.flatMap(({ messageRef, thread }) => (thread?.id === id ? (messageRef ?? "") : []));
      const isAskedBeside = asked.some(({ thread }) => thread?.adapter === adapter);
      if (here.length > 0 || isFromElsewhere || !isAskedBeside) {
        this.#postAtPlaces(notice, here, { adapter, id });
      }
    }
  }

  /** Once for each place: the answers to several messages of one place are one notice. */
  #postAtPlaces(
    notice: Extract<Notice, { readonly kind: "message" }>,
    refs: readonly string[],
    { adapter, id }: Pick<Thread, "adapter" | "id">,
  ): void {
    const byPlace = new Map(refs.map((ref) => [this.#tools.writer.placeOf(adapter, ref), ref]));
    if (byPlace.size === 0) {
      byPlace.set(undefined, "");
    }
    for (const [place, ref] of byPlace) {
      this.post(place === undefined ? notice : { ...notice, inReplyTo: ref }, id);
    }
  }

  #postCards(): void {
    const shown = this.#threads.filter((thread) => !this.#isSpared(thread));
    if (shown.length === 0) {
      return;
    }
    const card = this.#tools.writer.card(this.run, this.now, this.waiting);
    for (const { id } of shown) {
      this.#notices.push({ threadId: id, notice: { kind: "card", card } });
    }
  }

  /**
   * A thread gets a card when it is bound and whenever the card changes. A quiet thread gets one only for a question,
   * for an approval and at the end.
   */
  #isSpared({ adapter, id, verbosity }: Thread): boolean {
    if (id === this.#binding?.thread.id) {
      return false;
    }
    const isShown = this.#showCard || (this.#showActivity && this.#tools.writer.showsActivity(adapter));
    if (!isShown) {
      return true;
    }
    if (verbosity !== "quiet") {
      return false;
    }
    const { state, waitingFollowUp } = this.#progress;
    const asks = [waitingFollowUp, this.subject.run.waitingFollowUp].some((asked) => asked !== undefined);
    return !asks && state !== "BLOCKED" && this.subject.run.state !== "BLOCKED" && !isEnded(state);
  }

  /** A queued run without a lease gets a job, whatever queued it or released the lease. */
  #runJobs(): Job[] {
    const { state } = this.#progress;
    const changed = this.#events.some(({ body }) => body.kind === "run.state" || body.kind === "run.created");
    if (state !== "QUEUED" || !(changed || this.#lease === null)) {
      return [];
    }
    const afterMs = this.#startAfterMs;
    return [{ ...runJob(this.subject.run), ...(afterMs > 0 ? { afterMs } : {}) }];
  }

  #deliverJobs(): Job[] {
    const threadIds = new Set(this.#notices.map(({ threadId }) => threadId));
    return Array.from(threadIds, (key) => ({ kind: "deliver", key }) as const);
  }
}

function changedDetails(run: RunDetails, { metadata, title }: Partial<RunDetails>): Partial<RunDetails> {
  const isSameMetadata = metadata === undefined || isSame(metadata, run.metadata);
  return {
    ...(title === undefined || title === run.title ? {} : { title }),
    ...(isSameMetadata ? {} : { metadata }),
  };
}

function isSame(some: RunDetails["metadata"], other: RunDetails["metadata"]): boolean {
  const names = Object.keys(some);
  return names.length === Object.keys(other).length && names.every((name) => some[name] === other[name]);
}
