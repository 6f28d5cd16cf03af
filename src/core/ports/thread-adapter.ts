import type { RunId, ThreadKey } from "../basics/ids.ts";
import type { RequestKind, Role } from "../model/policies/policy.ts";
import type { RepositorySettings } from "../model/repositories/repository-settings.ts";
import type { TurnRating } from "../model/runs/events.ts";
import type { Review } from "../model/runs/review.ts";
import type { Provenance, Run, RunConfig } from "../model/runs/run.ts";
import type { RunSource } from "../model/runs/sources.ts";
import type { Notice } from "../model/threads/notice.ts";
import type { PaceLimit } from "../model/threads/pace-limit.ts";
import type { ThreadAddress } from "../model/threads/thread.ts";
import type { RequestFile } from "../model/workspaces/input-file.ts";
import type { PushedBranch } from "./gateway.ts";
import type { PullRequestReading } from "./pull-requests.ts";

/**
 * One outside conversation system. Its web routes belong to the adapter and are not part of this port. Members with a `?`
 * are for systems that can do it. The smallest adapter, as its folder offers it to the registry:
 *
 * ```ts
 * export function createLinearAdapter({ botName, token }: LinearConfig, { accept }: AdapterDeps): RunningAdapter {
 *   const client = new LinearClient(token);
 *   const adapter: ThreadAdapter = {
 *     name: "linear",
 *     traits: { source: "LINEAR", trigger: () => `@${botName}` },
 *     translate: async ({ body }) => translate(body, botName),
 *     authorize: async ({ author }) => ({ allowed: true, permission: "member", author }),
 *     deliver: async ({ id, notice, thread }) => client.comment(thread.key, render(notice), { id }),
 *   };
 *   return { adapter, routes: webhookRoutes(accept), checks: () => [] };
 * }
 * ```
 */
export interface ThreadAdapter {
  readonly name: string;
  readonly traits: AdapterTraits;
  /** Says what a stored event means. Throws an AppError; if it is not retryable, the event ends as failed. */
  translate(event: InboxEvent): Promise<Translation>;
  /** Asks the platform now what the author is in this place. Throws if it gives no answer. */
  authorize(message: InboundMessage): Promise<Authorization>;
  /**
   * Asks the platform now whether the author may write to a repository of it that the request names. Absent: the
   * policies alone decide. Throws if the platform gives no answer.
   */
  mayWrite?(message: InboundMessage, repository: string): Promise<boolean>;
  /**
   * Asks the platform now what a person is in the place of a thread, by the subject of the person's account. Undefined: the
   * platform does not know the person there. Absent: people decide there only by messages. Throws if it gives no answer.
   */
  standingOf?(thread: ThreadAddress, subject: string): Promise<Standing | undefined>;
  /**
   * What the repository of an authorized message says about work there. Undefined: nothing. Throws if the platform gives
   * no answer.
   */
  settingsOf?(message: InboundMessage): Promise<RepositorySettings | undefined>;
  /**
   * Asks the platform now whether a report about a thread of this run still holds. Returns the message that asks for
   * work in the name of the person who requested the run, or why there is nothing to do.
   */
  inspect?(report: WorkReport, run: Pick<Run, "provenance" | "pullRequestStatus">): Promise<Inspection>;
  /**
   * The pull request that the report is about was merged or closed. The platform may delete the branch that was pushed for
   * the run, as its repository wants it.
   */
  removeBranch?(report: WorkReport, run: Pick<Run, "id" | "title">, pushed: PushedBranch): Promise<void>;
  /**
   * Reads the text and the files around an authorized message that asks for work, such as earlier messages. Bounded in time and
   * size, and repeatable. When it fails, the work begins without it.
   */
  gather?(message: InboundMessage, about: GatherPurpose): Promise<GatheredContext>;
  /**
   * Shows a notice and returns where. If `maybeShown` is set, an earlier try may have posted it and lost the answer:
   * the adapter first looks for a post with `delivery.id`. Throws an AppError with `retryable` and, if the platform
   * names a time, `retryAfterMs`.
   */
  deliver(delivery: Delivery): Promise<Receipt>;
  /** Whether the platform has just refused a post there for good, so that this notice is left out. */
  refuses?(delivery: Delivery): boolean;
  /** The address of a shown notice for people, if the adapter can build one without asking the platform. */
  permalinkOf?(thread: Delivery["thread"], receipt: Receipt): Promise<string | undefined>;
}

/** What a person is in a place of a platform. */
export interface Standing {
  readonly place: string;
  readonly roles: readonly Role[];
}

export interface AdapterTraits {
  readonly source: RunSource;
  /** The card shows the plan and what the agent does now, so it also changes with them. */
  readonly showsActivity?: true;
  /** Choices can be shown and made there. A request that does not say where to work asks its author. */
  readonly asksForEnvironment?: true;
  /** Changes of what people ask for there become pull requests, if no setting says otherwise. */
  readonly proposesChanges?: true;
  /** A reply for one person is seen by nobody else. */
  readonly hasPrivateReplies?: true;
  /** How users address the bot in an installation, for help texts: `@errand`. */
  trigger(installation: string): string;
  /**
   * Names the part of a thread in which a message stands and its answers belong, such as a review thread of a pull
   * request. Undefined: the thread as a whole.
   */
  placeOf?(messageRef: string): string | undefined;
  /** The rates at which the platform takes what is written to it. */
  readonly pace?: readonly PaceLimit[];
  /** How many writes show a notice. Default: one. */
  writesOf?(notice: Notice, installation: string): number;
  /**
   * Whether runs are shown as a check there, because the thread is a pull request. The provenance is that of a run that was
   * requested on the platform. Absent: nowhere.
   */
  showsCheckIn?(key: ThreadKey, provenance: Provenance | undefined): boolean;
  /** The channel or repository that contains the thread, if limits of `pace` are for each of these. */
  containerOf?(key: ThreadKey): string;
  /**
   * Whether people outside of the team can read the threads, by the provenance of a run that was requested there.
   * Absent: they cannot.
   */
  isPublic?(provenance: Provenance | undefined): boolean;
  /** Reads the findings of a review from an answer, which has the block that its agent was asked for. */
  reviewIn?(answer: string): (Review & { readonly summary: string }) | undefined;
  /** `name <address>` of an account for a commit, by the `actor` of a provenance. */
  coAuthorOf?(actor: Readonly<Record<string, unknown>>): string | undefined;
}

/** An acknowledged event as it was received, before it is translated. */
export interface InboxEvent {
  readonly id: string;
  readonly adapter: string;
  /** Events with the same key are handled one at a time, in the order of arrival: one key for each conversation. */
  readonly orderingKey: string;
  /** The platform's own id of this delivery. */
  readonly deliveryId: string;
  /** The event's name as the platform gives it beside the body. */
  readonly name: string;
  readonly body: string;
  readonly receivedAt: Date;
  /** More events may say the same within this time. They are handled afterwards. Known only until the event is stored. */
  readonly collectMs?: number;
}

/** An event that a webhook route stores. The inbox adds an id and the time. */
export type ReceivedEvent = Omit<InboxEvent, "id" | "receivedAt">;

export type Translation =
  | { readonly kind: "message"; readonly message: InboundMessage }
  | { readonly kind: "deletion"; readonly deletion: Deletion }
  | { readonly kind: "stop"; readonly stop: StopReaction }
  | { readonly kind: "report"; readonly report: WorkReport }
  /** The event is about several threads, and becomes an event for each of them. */
  | { readonly kind: "several"; readonly events: readonly ReceivedEvent[] }
  /** The app no longer has access to the installations. */
  | { readonly kind: "removal"; readonly installations: readonly string[]; readonly reason: string }
  /** A message from a workspace in which the app has no token, so that nothing can be read or posted there. */
  | {
      readonly kind: "unconnected";
      readonly installation: string;
      readonly organization?: string | undefined;
      readonly reason: string;
    }
  | { readonly kind: "ignored"; readonly reason: string };

/** A platform says something about a thread in which a run shows its work, for example that its checks failed. */
export interface WorkReport extends ThreadAddress {
  /** What it says. Only the adapter reads it. */
  readonly findings: Readonly<Record<string, unknown>>;
  /**
   * The address of the pull request, if the report only says that one of its checks passed. It is inspected only while a
   * check is known to run or to fail.
   */
  readonly passedIn?: string | undefined;
}

/** What a platform says now about a report. */
export interface Inspection {
  /** The message that asks for work, or why there is nothing to do. */
  readonly found: InboundMessage | string;
  /** The pull request that the report is about, if it was read. */
  readonly status?: PullRequestReading | undefined;
}

/** Which message an event is about, and in which version. */
export interface MessageRevision {
  /** Unique among all adapters, and the same for all versions of the message. */
  readonly messageId: string;
  /** Of two versions of a message, the later one is greater as text. */
  readonly version: string;
  /** The text replaces an earlier one. */
  readonly isEdit: boolean;
}

/** A user deleted a message. The platform decided whether they may. */
export interface Deletion extends Omit<MessageRevision, "isEdit"> {
  readonly adapter: string;
  readonly installation: string;
  readonly messageRef: string;
}

/** The reaction by which the author of a request stops its run. */
export interface StopReaction {
  readonly adapter: string;
  readonly installation: string;
  /** As in `MessageRevision`. */
  readonly messageId: string;
  /** The subject of the user. */
  readonly subject: string;
}

export interface InboundMessage extends ThreadAddress {
  /** Identifies what was said, not how it was delivered: two events with the same key have one effect. */
  readonly dedupeKey: string;
  /** `mention`: names the bot. `direct`: the bot is the only other member. `reply`: in a thread that may have a run. */
  readonly addressed: "mention" | "direct" | "reply";
  /** Set in a pull request: whether the message asks for a review and nothing else. */
  readonly asksForReview?: boolean;
  /** What the author did to ask for work, if policies can tell it apart. */
  readonly requestKind?: RequestKind;
  readonly author: Author;
  /** The subjects of other people whom the text mentions together with the bot. */
  readonly mentions?: readonly string[];
  /** The text, without the mention of the bot. */
  readonly text: string;
  /** Text around the message, such as an issue's title and body. It is untrusted. */
  readonly context?: string;
  /** A title for a run that this message starts, if the thread has one (an issue's title). */
  readonly title?: string;
  /**
   * Set if the author filled in a form: what its fields say about the run. The text is then the prompt as a whole, in
   * which no word and no option counts.
   */
  readonly form?: RunConfig;
  /** Files that the author attached. `gather` reads them. */
  readonly files?: readonly MessageFile[];
  /** What of the message the adapter could not read: one sentence each, for the author and the agent. */
  readonly unread?: readonly string[];
  /** Empty: the request is not a message, so that the bot cannot react to it. */
  readonly messageRef: string;
  /** More messages that belong to this one may come within this time. The work on it begins afterwards. */
  readonly collectMs?: number;
  /** Absent for a button. */
  readonly revision?: MessageRevision;
  readonly permalink?: string;
  /** The channel or repository that the thread belongs to, as rules name it. */
  readonly place?: string;
  /** Set if the user pressed a button instead of writing. */
  readonly buttonAction?: ButtonAction;
  /**
   * Stored with the run: platform ids and other evidence of the request's origin. The API promises `integration`,
   * `installation`, `actor`, `message_ids` and `content_hash` of it.
   */
  readonly provenance: Readonly<Record<string, unknown>>;
}

export interface MessageFile {
  readonly name: string;
  readonly mimeType?: string;
  readonly sizeBytes?: number;
  /** Where the adapter can read it. */
  readonly address?: string;
  /** Why it cannot be read. */
  readonly problem?: string;
}

export interface GatherPurpose {
  /** The thread has a run already, whose agent knows what was said to it. */
  readonly isFollowUp: boolean;
  /** The text of the message was changed: only names in it are read. */
  readonly isEdit?: true;
}

/** What an adapter read around a message. */
export interface GatheredContext {
  /** Text by any author. It is untrusted: the agent receives it fenced, as data. */
  readonly context?: string;
  /** Files that the author attached, and those that the texts around the message show. */
  readonly files?: readonly RequestFile[];
  /**
   * The names of people and channels that the texts name by an id, by what stands in the text: `@U1` → `@Ada`. They are
   * their owners' text: one line each.
   */
  readonly names?: ReadonlyMap<string, string>;
  /** What was not read, and why: one sentence each, for the author in the thread and the agent. */
  readonly unread?: readonly string[];
  /** The same for the agent and the page of the run, because the author can do nothing about it. */
  readonly gaps?: readonly string[];
}

/** A person chose where a request is to be worked on. */
export interface EnvironmentChoice {
  readonly kind: "choose";
  /** The inbox event of the request. */
  readonly requestId: string;
  /** Absent: an empty workspace. */
  readonly environmentId?: string;
  /** The choice becomes the default of the person, or of the place of the request. */
  readonly remember?: "person" | "place";
}

export type ButtonAction =
  | EnvironmentChoice
  | { readonly kind: "cancel"; readonly runId: RunId }
  | { readonly kind: "retry"; readonly runId: RunId }
  | {
      readonly kind: "answer";
      readonly runId: RunId;
      readonly permissionId: string;
      readonly optionId: string;
    }
  | { readonly kind: "files"; readonly runId: RunId; readonly turn: number }
  | { readonly kind: "pull_request"; readonly runId: RunId }
  | ({ readonly kind: "rate"; readonly runId: RunId } & TurnRating)
  | {
      readonly kind: "approve";
      readonly runId: RunId;
      /** The hash of the inputs that the button was shown with. */
      readonly inputsHash: string;
      readonly approve: boolean;
    };

export interface Author {
  /** Unique among all adapters, by the platform's ids: `slack:T1:U1`, `github:583231`. */
  readonly subject: string;
  readonly displayName?: string;
  /**
   * Other subjects of the same person, for a platform on which one person has an account in several installations. The
   * first one is that of the person as a whole.
   */
  readonly aliases?: readonly string[];
  /** A program wrote the message. Nothing is posted to it, so that two programs cannot answer each other for ever. */
  readonly isBot?: true;
  /** The platform's id of that program, which policies may name. At most ten of its runs an hour begin in one place. */
  readonly botId?: string;
  /** The program has no account, so a policy has to name it. */
  readonly isByNameOnly?: true;
}

export type Authorization =
  /** The policies decide what the author may do. */
  | {
      readonly allowed: true;
      readonly permission: string;
      /** What the platform proved about the author, in the words of policies. */
      readonly roles?: readonly Role[];
      /** Posted to an author whom these roles give no access by default, unless a policy of the team names one. */
      readonly refusal?: string;
      readonly author: Author;
      /** What the platform said now about the channel or repository. It is stored with a run that the message starts. */
      readonly provenance?: Readonly<Record<string, unknown>>;
    }
  /** No policy can allow the author anything. `reason` is posted to the author in the thread. */
  | { readonly allowed: false; readonly reason: string };

export interface Delivery {
  readonly id: string;
  readonly thread: { readonly id: string; readonly installation: string; readonly key: ThreadKey };
  readonly notice: Notice;
  /** Where an earlier notice with the same message key is shown. */
  readonly shownAt?: Receipt;
  /** Where the thread shows the question of this card as a message of its own. */
  readonly questionShownAt?: Receipt;
  readonly maybeShown: boolean;
}

/** Where a notice is shown. Only the adapter writes and reads it. */
export type Receipt = string;
