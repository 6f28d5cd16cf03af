import type { RunId } from "../../basics/ids.ts";
import type { CheckCounts, PullRequestState } from "../repositories/pull-request-status.ts";
import type { PermissionOption, PermissionRequest } from "../runs/agent-update.ts";
import type { Review } from "../runs/review.ts";
import type { PlanStep } from "../runs/run.ts";
import type { RunState } from "../runs/states.ts";

/** Something to show in a thread. Adapters render it. All text in it is untrusted, so they must defuse it. */
export type Notice =
  /** A reaction to the message that asked: the bot has seen it. */
  | { readonly kind: "seen"; readonly messageRef: string }
  /** Another reaction in place of that one: the turn that the message led to has ended. */
  | {
      readonly kind: "ended";
      readonly messageRef: string;
      readonly end: TurnOutcome;
      /** The turn is `done`, but not everything was handed over. */
      readonly isIncomplete?: boolean;
      /** The message only thanked, so it led to no turn. */
      readonly isThanks?: boolean;
    }
  /** The run's one card in this thread, edited in place; a newer one replaces an unsent older one. */
  | { readonly kind: "card"; readonly card: RunCard }
  /** The run as a check of the pull request that the thread is about. A newer one replaces an unsent older one. */
  | { readonly kind: "check"; readonly check: RunCheck }
  /** Asks where a request is to be worked on. Without options, it was decided, and the text says how. */
  | {
      readonly kind: "choice";
      /** The inbox event of the request. */
      readonly requestId: string;
      readonly text: string;
      readonly options: readonly { readonly id: string; readonly name: string }[];
    }
  /** A message of its own. `answer` are the agent's words, `outcome` ours, of a run that ended without any. */
  | {
      readonly kind: "message";
      readonly purpose: "answer" | "outcome" | "question" | "reply";
      readonly text: string;
      readonly sessionLink?: string;
      /**
       * Who asked for the run, if it was asked for on this platform: the `actor` of its provenance, which only the
       * adapter reads. Not on a reply.
       */
      readonly requester?: Readonly<Record<string, unknown>>;
      /**
       * A message of the thread whose answers have a place of their own, as `AdapterTraits.placeOf` says. This one is
       * shown there.
       */
      readonly inReplyTo?: string;
      /** Of an answer to messages in several places of the thread: what is shown at each of them. */
      readonly parts?: readonly AnswerPart[];
      /** The work of the run, if it is not pushed, or not all of it. */
      readonly unpushed?: UnpushedWork;
      /** What the run changed, by repository, if the turn changed something. */
      readonly landed?: readonly LandedWork[];
      /** A pull request of these changes can be asked for here. */
      readonly offersPullRequest?: RunId;
      /** What a review found. The text is its summary. */
      readonly review?: ShownReview;
      /** The turn that said it also made files, which people may ask for here. */
      readonly offersFiles?: TurnOfRun;
      /** The answer of this turn, which people may rate here. */
      readonly takesRating?: TurnOfRun;
      /** The question has buttons here. Without options, it is no longer open, and the text says why. */
      readonly asks?: AskedQuestion;
      /** Files of a turn that a person asked for. The text says what they are. */
      readonly attached?: TurnOfRun & { readonly files: readonly AttachedFile[] };
      /** The subject of the only person for whom a reply is. A platform that cannot do that shows it to everybody. */
      readonly onlyFor?: string;
    };

export interface ShownReview extends Review {
  /** A person asked for this review. Otherwise new commits did. */
  readonly isAsked?: boolean;
}

/** What a run does, as a check beside those of a CI service. */
export interface RunCheck {
  readonly runId: RunId;
  /** INPROGRESS also for a run that waits for its worker. */
  readonly state: RunState;
  /** As on the card. */
  readonly shortfall?: string;
  readonly message?: string;
  readonly sessionLink: string;
  /** The run waits for an approval of its words. */
  readonly isUnapproved?: boolean;
  /** As on the card. */
  readonly isPaused?: boolean;
  /** Of a review that ended: the number of its findings. */
  readonly findings?: number;
  /** Checks of the pull request fail, and the run does not repair them by itself. */
  readonly canRepair?: boolean;
}

/** What an answer says at the place of one of the messages that led to it. */
export interface AnswerPart {
  readonly inReplyTo: string;
  /** Absent: only where the answer is. */
  readonly text?: string;
  /** The request was carried out, with changes of these files. */
  readonly doneIn?: readonly string[];
}

/** What a run changed in a repository, and where that is. */
export interface LandedWork {
  /** `owner/name` */
  readonly repository: string;
  /** The address of the pull request. Absent: there is none. */
  readonly pullRequest?: string;
  readonly isDraft?: boolean;
  readonly files: number;
  /** Lines, without those of binary files. */
  readonly additions: number;
  readonly deletions: number;
  /** There are more files than these. */
  readonly isTruncated?: boolean;
}

export interface UnpushedWork {
  /** Why it is not pushed, and what a person can do. */
  readonly words: string;
  /** Absent: it is too long for a message, not text, or not for the readers of the thread. The session has it. */
  readonly patch?: string;
  /** The commit that the patch changes. */
  readonly base?: string;
}

export interface TurnOfRun {
  readonly runId: RunId;
  readonly turn: number;
}

export interface AttachedFile {
  readonly name: string;
  readonly sizeBytes: number;
  /** `BlobStore` has the bytes. */
  readonly blobId: string;
}

export const TURN_OUTCOMES = ["done", "failed", "stopped"] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];

export interface RunCard {
  readonly runId: RunId;
  readonly title: string;
  readonly state: RunState;
  /** What a run that succeeded did not do, in place of the word for its state. */
  readonly shortfall?: string;
  readonly turn: number;
  readonly sessionLink: string;
  /** Why the run ended as it did, or what it waits for. Before that, what is wrong in the settings of the repository. */
  readonly message?: string;
  readonly question?: CardQuestion;
  /** Present while the run waits for a person to write what to do next. */
  readonly isPaused?: boolean;
  /** What the agent works in, and why. */
  readonly workspace?: CardWorkspace;
  readonly plan?: readonly PlanStep[];
  /** What happens now. */
  readonly step?: string;
  /** How long the turn has lasted, when the card was written. */
  readonly elapsedSeconds?: number;
  /** The address of the newest pull request. */
  readonly pullRequest?: string;
  readonly pullRequestStatus?: CardPullRequestStatus;
  readonly costUsd?: number;
  /** What a person must approve before the agent gets it. */
  readonly approval?: CardApproval;
}

/** What the platform says about the pull request. */
export interface CardPullRequestStatus {
  readonly state: PullRequestState;
  readonly checks: CheckCounts;
}

/** Without environment and repositories, the workspace of the run is empty. */
export interface CardWorkspace {
  /** The name of the environment. */
  readonly environment?: string;
  /** `owner/name` */
  readonly repositories: readonly string[];
  /** Why the run has this environment or repository, as a part of a sentence. */
  readonly reason?: string;
  /** What becomes of changes, if only a default says it. */
  readonly changes?: "draft" | "ready";
  /** Where an administrator creates an environment. Present if the team had none when the run was created. */
  readonly environmentsLink?: string;
}

/** Said where a question cannot be shown as a whole, or contains characters that nobody sees. */
export const ONLY_ON_PAGE =
  "It can be allowed only on the page of the run, because a part of it is cut or hidden here. An answer applies to all of it.";

export interface CardQuestion extends Pick<PermissionRequest, "permissionId" | "title"> {
  /** What the call would do and the agent's words. Absent: the title. */
  readonly text?: string;
  /** Those that a button may choose. */
  readonly options: readonly PermissionOption[];
  /** True: the person must open the page of the run to allow it. */
  readonly isOnlyOnPage?: boolean;
}

/** Of a question that is a message of its own, edited in place. */
export interface AskedQuestion extends Pick<CardQuestion, "permissionId" | "options"> {
  readonly runId: RunId;
}

export interface CardApproval {
  /** True: a follow-up waits. False: the run itself does. */
  readonly isFollowUp: boolean;
  /** The text that waits and the names of its files. Absent if they are private. */
  readonly text?: string;
  /** Absent if the card does not show the whole text. Then nobody decides here. */
  readonly inputsHash?: string;
}

/**
 * Notices with the same message key are shown once: the cards and checks of a run, the reactions to a message, the files of a
 * turn, and a question with its answer.
 */
export function messageKeyOf(notice: Notice, deliveryId: string): string {
  if (notice.kind === "card") {
    return `card:${notice.card.runId}`;
  }
  if (notice.kind === "check") {
    return `check:${notice.check.runId}`;
  }
  if (notice.kind === "message" && notice.attached !== undefined) {
    return `files:${notice.attached.runId}:${notice.attached.turn}`;
  }
  if (notice.kind === "message" && notice.asks !== undefined) {
    return questionKeyOf(notice.asks.permissionId);
  }
  if (notice.kind === "choice") {
    return `choice:${notice.requestId}`;
  }
  return notice.kind === "message" ? `message:${deliveryId}` : `sign:${notice.messageRef}`;
}

/** The message key of a question with buttons. */
export function questionKeyOf(permissionId: string): string {
  return `question:${permissionId}`;
}
