import { defined } from "../basics/defined.ts";
import { withHiddenShown } from "../basics/hidden-characters.ts";
import type { PermissionOption, PermissionRequest } from "../model/runs/agent-update.ts";
import type { FollowUp } from "../model/runs/follow-up.ts";
import { isPatchOnly } from "../model/runs/home-repository.ts";
import { shownQuestion } from "../model/runs/question-text.ts";
import { isReview } from "../model/runs/review.ts";
import type { Run } from "../model/runs/run.ts";
import { shortfallOf } from "../model/runs/run-outcome.ts";
import { isEnded, type RunState } from "../model/runs/states.ts";
import type { ThreadReport } from "../model/runs/thread-reports.ts";
import {
  type AnswerPart,
  type AskedQuestion,
  type LandedWork,
  type Notice,
  ONLY_ON_PAGE,
  type RunCard,
  type ShownReview,
  type TurnOutcome,
  type UnpushedWork,
} from "../model/threads/notice.ts";
import type { Thread } from "../model/threads/thread.ts";
import type { RunChange } from "../ports/stores/run-change.ts";
import type { RunAggregate } from "../ports/stores/run-store.ts";
import { isFirstTurn } from "./follow-up-changes.ts";
import { type NoticeWriter, statusText } from "./notice-writer.ts";
import { isSameCheck } from "./run-check.ts";

/** A message that led to a turn. Without a thread, it came another way. */
interface RequestMessage {
  /** Absent: the requester of the run, or not known. */
  readonly actor?: FollowUp["actor"];
  readonly messageRef: string | undefined;
  readonly thread: Thread | undefined;
}

const ENDS: Partial<Record<RunState, TurnOutcome>> = { SUCCEEDED: "done", CANCELLED: "stopped" };

type Message = Extract<Notice, { readonly kind: "message" }>;

/** The run as it is after the change so far. */
interface ChangedRun {
  readonly run: Run;
  /** Whether the turn is private: then its threads see nothing of it. */
  readonly isPrivate: boolean;
  /** Whether the change stores files of the turn, which the answer offers. */
  readonly hasNewFiles: boolean;
}

/** Collects what one change of a run shows in its threads. */
export class RunNotices {
  readonly #changed: ChangedRun;
  readonly #aggregate: RunAggregate;
  readonly #writer: NoticeWriter;
  readonly #threads: Thread[];
  readonly #notices: RunChange["notices"][number][] = [];
  #newThreadId: string | undefined;
  readonly #cardsFromNow: string[] = [];
  #isCardChanged = false;
  #isActivityChanged = false;
  #unpushed: UnpushedWork | undefined;
  #landed: readonly LandedWork[] = [];
  #remarks: readonly string[] = [];
  #reports: readonly ThreadReport[] = [];
  #changedFiles: readonly string[] = [];

  constructor(changed: ChangedRun, aggregate: RunAggregate, writer: NoticeWriter) {
    this.#changed = changed;
    this.#aggregate = aggregate;
    this.#writer = writer;
    this.#threads = [...aggregate.threads];
  }

  get all(): RunChange["notices"] {
    return this.#notices;
  }

  addThread(thread: Thread): void {
    this.#newThreadId = thread.id;
    this.#threads.push(thread);
  }

  /** The threads that show the card from now on. */
  get cardsFromNow(): readonly string[] {
    return this.#cardsFromNow;
  }

  /** A person wrote to the run in this thread, so it shows the card from now on. */
  showCardIn(threadId: string): void {
    const thread = this.#threads.find(({ id }) => id === threadId);
    if (thread?.showsCard === false) {
      this.#cardsFromNow.push(threadId);
    }
  }

  /** The threads get a new version of the card. */
  changeCard(): void {
    this.#isCardChanged = true;
  }

  /** The threads that show what the agent does now get one. */
  changeActivity(): void {
    this.#isActivityChanged = true;
  }

  /** Posts `notice` to every thread of the run, or only to `threadId`. */
  post(notice: Notice, threadId?: string): void {
    const { run } = this.#changed;
    for (const { adapter, id } of this.#threads) {
      if (threadId === undefined || id === threadId) {
        this.#notices.push({ threadId: id, notice: this.#writer.addressed(notice, run, adapter) });
      }
    }
  }

  /** Posts `notice` to the threads of all other adapters. */
  postElsewhere(notice: Notice, adapter: string | undefined): void {
    for (const thread of this.#threads.filter((other) => other.adapter !== adapter)) {
      this.post(notice, thread.id);
    }
  }

  /**
   * Shows on the messages that led to the turn how it ended. A run that never began has only its request. It came from
   * the first thread of its platform, because a run gets its other threads later.
   */
  postReactions(): void {
    const { run } = this.#changed;
    const end = isEnded(run.state) ? (ENDS[run.state] ?? "failed") : "done";
    const incomplete = shortfallOf(run) === undefined ? {} : { isIncomplete: true };
    for (const { messageRef, thread } of this.#requests()) {
      if (messageRef !== undefined && thread !== undefined) {
        this.#notices.push({
          threadId: thread.id,
          notice: { kind: "ended", messageRef, end, ...incomplete },
        });
      }
    }
  }

  /** The answer also shows this work. */
  addUnpushed(work: UnpushedWork | undefined): void {
    this.#unpushed = work;
  }

  /** The answer also says what was changed and where it is. */
  addLanded(work: readonly LandedWork[]): void {
    this.#landed = work;
  }

  /** The answer also says these sentences. */
  addRemarks(remarks: readonly string[]): void {
    this.#remarks = remarks;
  }

  /** What the agent says about single threads of the turn, and the files of its changes that were handed over. */
  addReports(reports: readonly ThreadReport[], changedFiles: readonly string[]): void {
    this.#reports = reports;
    this.#changedFiles = changedFiles;
  }

  /**
   * The places of the messages that lead to a turn with these follow-ups, by the messages. Empty if all messages of each
   * thread stand in one place of it.
   */
  placesOf(followUps: readonly FollowUp[]): ReadonlyMap<string, string> {
    const placed = this.#requests(followUps).flatMap(({ messageRef, thread }) =>
      messageRef === undefined || thread === undefined
        ? []
        : [{ messageRef, threadId: thread.id, place: this.#writer.placeOf(thread.adapter, messageRef) }],
    );
    const isOneOfSeveral = ({ place, threadId }: { place: string | undefined; threadId: string }) =>
      placed.some((other) => other.threadId === threadId && other.place !== place);
    return new Map(
      placed.flatMap((each) =>
        each.place !== undefined && isOneOfSeveral(each) ? [[each.messageRef, each.place]] : [],
      ),
    );
  }

  /** Posts the final answer of a turn, unless the turn is private. */
  postAnswer(): void {
    const { isPrivate, run } = this.#changed;
    const answer = [run.answer ?? "", ...this.#remarks].filter((text) => text !== "").join("\n\n");
    const hasWork = this.#unpushed !== undefined || this.#landed.length > 0;
    if ((answer !== "" || hasWork) && !isPrivate) {
      this.#postResult("answer", answer);
    }
  }

  /** Posts the agent's answer of a run that ended, or the reason why there is none. */
  postOutcome(): void {
    const { answer, state, statusMessage } = this.#changed.run;
    if (answer !== undefined || state === "SUCCEEDED") {
      this.postAnswer();
    } else if (statusMessage !== undefined) {
      this.#postResult("outcome", statusText(statusMessage));
    }
  }

  #postResult(purpose: "answer" | "outcome", text: string): void {
    const { hasNewFiles, run } = this.#changed;
    const turn = { runId: run.id, turn: run.turn };
    const isWithout = this.#landed.some(({ pullRequest }) => pullRequest === undefined) && !isPatchOnly(run);
    const work = defined({
      offersFiles: hasNewFiles ? turn : undefined,
      offersPullRequest: isWithout ? run.id : undefined,
      takesRating: purpose === "answer" && text !== "" ? turn : undefined,
      unpushed: this.#unpushed,
      landed: this.#landed.length === 0 ? undefined : this.#landed,
      review: isReview(run) ? this.#askedReview() : undefined,
    });
    const sessionLink = this.#writer.sessionLink(run);
    this.#postToRequesters({ kind: "message", purpose, text, sessionLink, ...work });
  }

  /** The adapter adds the findings. A platform's report is no message. */
  #askedReview(): ShownReview {
    return { isAsked: this.#requests().some(({ messageRef }) => messageRef !== undefined), findings: [] };
  }

  /** Posts the agent's question, with the address of the page where it can be allowed if that is not so here. */
  postQuestion(request: PermissionRequest): void {
    const { isWhole, options, text } = shownQuestion(request);
    const names = withHiddenShown(options.map(({ name }) => name).join(", "));
    const asks = this.#askedOf(request, options);
    const question = { kind: "message", purpose: "question", asks } as const;
    if (isWhole) {
      this.#postToRequesters({ ...question, text: `${text}\nAnswer with one of: ${names}.` });
      return;
    }
    const sessionLink = this.#writer.sessionLink(this.#changed.run);
    const refusal = names === "" ? "" : ` Here you can only refuse it: ${names}.`;
    this.#postToRequesters({ ...question, text: `${text}\n${ONLY_ON_PAGE}${refusal}`, sessionLink });
  }

  /** The buttons of a question go once it is answered, or nobody waits for the answer. */
  closeQuestion(): void {
    const asked = this.#aggregate.run.permission;
    const { permission } = this.#changed.run;
    const isSame = permission?.permissionId === asked?.permissionId;
    if (asked === undefined || asked.answer !== undefined || (isSame && permission?.answer === undefined)) {
      return;
    }
    const chosen = isSame
      ? asked.options.find(({ optionId }) => optionId === permission?.answer)?.name
      : undefined;
    const end = isSame ? `Answered: ${withHiddenShown(chosen ?? "no")}.` : "It is no longer open.";
    const text = `${shownQuestion(asked).text}\n${end}`;
    const asks = this.#askedOf(asked, []);
    this.#postToRequesters({ kind: "message", purpose: "question", text, asks }, ({ adapter }) =>
      this.#writer.showsChoices(adapter),
    );
  }

  #askedOf({ permissionId }: PermissionRequest, options: readonly PermissionOption[]): AskedQuestion {
    return { runId: this.#changed.run.id, permissionId, options };
  }

  /** Tells the user of the run something in its threads, unless the turn is private. */
  postNote(text: string): void {
    const { isPrivate, run } = this.#changed;
    if (!isPrivate) {
      const sessionLink = this.#writer.sessionLink(run);
      this.post({ kind: "message", purpose: "reply", text, sessionLink });
    }
  }

  /**
   * Posts a message to the people who asked: in the threads of their messages, at the place of these, and in the threads
   * of other platforms. If one of them asked another way, such as over the API, every thread gets it.
   */
  #postToRequesters(message: Message, isFor: (thread: Thread) => boolean = () => true): void {
    const requests = this.#requests();
    const isFromElsewhere = requests.length === 0 || requests.some(({ thread }) => thread === undefined);
    for (const { adapter, id } of this.#threads.filter(isFor)) {
      const refs = requests.flatMap(({ messageRef, thread }) =>
        thread?.id === id ? (messageRef ?? "") : [],
      );
      const isOfAdapter = requests.some(({ thread }) => thread?.adapter === adapter);
      if (refs.length > 0 || isFromElsewhere || !isOfAdapter) {
        const asked = requests.filter(({ thread }) => thread?.id === id).map(({ actor }) => actor);
        // Messages that do not name their author are of the requester of the run, whom the writer adds.
        const requester = asked.includes(undefined) ? undefined : asked.at(-1);
        this.#postAtPlace({ ...message, ...defined({ requester }) }, refs, { adapter, id });
      }
    }
  }

  /** The messages that led to the turn, and their threads. */
  #requests(followUps?: readonly FollowUp[]): readonly RequestMessage[] {
    const { run, taken } = this.#aggregate;
    const { message_ref: messageRef } = run.provenance;
    const request = {
      source: run.source,
      threadId: undefined,
      messageRef: typeof messageRef === "string" ? messageRef : undefined,
    };
    const messages = [...(isFirstTurn(run) ? [request] : []), ...(followUps ?? (run.turnOpen ? taken : []))];
    return messages.map(({ messageRef, source, threadId, ...rest }) => {
      const thread =
        threadId === undefined
          ? this.#threads.find(({ adapter }) => this.#writer.sourceOf(adapter) === source)
          : this.#threads.find(({ id }) => id === threadId);
      return { messageRef, thread, ...("actor" in rest ? { actor: rest.actor } : {}) };
    });
  }

  /**
   * Messages of one place are answered there, and those of several places once in the thread as a whole: the same words in
   * five places would notify a person five times. At each place stands what was done there.
   */
  #postAtPlace(
    message: Message,
    refs: readonly string[],
    { adapter, id }: Pick<Thread, "adapter" | "id">,
  ): void {
    const places = [...new Map(refs.map((each) => [this.#writer.placeOf(adapter, each), each]))];
    const [ref, ...others] = places;
    if (ref?.[0] !== undefined && others.length === 0) {
      this.post({ ...message, inReplyTo: ref[1] }, id);
      return;
    }
    const parts = places.flatMap(([place, inReplyTo]) =>
      place === undefined ? [] : [this.#partAt(place, inReplyTo)],
    );
    this.post(message.purpose === "answer" && parts.length > 0 ? { ...message, parts } : message, id);
  }

  #partAt(place: string, inReplyTo: string): AnswerPart {
    const report = this.#reports.find(({ thread }) => thread === place);
    const isDone = report?.isDone === true && this.#changedFiles.length > 0;
    return defined({
      inReplyTo,
      text: report?.reply || undefined,
      doneIn: isDone ? this.#changedFiles : undefined,
    });
  }

  postCards(now: Date, waiting: readonly FollowUp[]): void {
    const { run } = this.#changed;
    const threads = this.#threads.filter((thread) => this.#getsCard(thread, run));
    if (threads.length === 0) {
      return;
    }
    const cards = new Map<boolean, RunCard>();
    for (const { adapter, id } of threads) {
      const isPublic = this.#writer.isPublic(adapter, run);
      const card = cards.get(isPublic) ?? this.#writer.card(run, now, waiting, isPublic);
      cards.set(isPublic, card);
      this.#notices.push({ threadId: id, notice: { kind: "card", card } });
    }
  }

  /** The threads of pull requests get a check when they are bound and whenever it changes. */
  postChecks(): void {
    const { run } = this.#changed;
    const threads = this.#threads.filter((thread) => this.#writer.showsCheckIn(thread, run));
    if (threads.length === 0) {
      return;
    }
    const { run: before } = this.#aggregate;
    for (const { adapter, id } of threads) {
      const check = this.#writer.check(run, adapter);
      if (id === this.#newThreadId || !isSameCheck(check, this.#writer.check(before, adapter))) {
        this.#notices.push({ threadId: id, notice: { kind: "check", check } });
      }
    }
  }

  /**
   * A thread gets a card when it is bound and whenever the card changes. A quiet thread gets one only for a question,
   * for an approval and at the end, and a pull request of the run only after a person wrote to the run there.
   */
  #getsCard({ adapter, id, showsCard, verbosity }: Thread, { state, waitingFollowUp }: Run): boolean {
    if (showsCard === false) {
      return this.#cardsFromNow.includes(id);
    }
    if (id === this.#newThreadId) {
      return true;
    }
    const isChanged = this.#isCardChanged || (this.#isActivityChanged && this.#writer.showsActivity(adapter));
    if (!isChanged || verbosity !== "quiet") {
      return isChanged;
    }
    const { run: before } = this.#aggregate;
    const asks = waitingFollowUp !== undefined || before.waitingFollowUp !== undefined;
    return asks || state === "BLOCKED" || before.state === "BLOCKED" || isEnded(state);
  }
}
