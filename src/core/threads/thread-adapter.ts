import type { RunId, ThreadKey } from "../ids.ts";
import type { RunSource } from "../runs/sources.ts";
import type { Notice } from "./notice.ts";
import type { ThreadAddress } from "./thread.ts";

/** One outside conversation system. Its web routes are its own and are not seen here. */
export interface ThreadAdapter {
  readonly name: string;
  readonly traits: AdapterTraits;
  /** What a stored event means. Throws an AppError: retryable = try again, else the event is settled as failed. */
  translate(event: InboxEvent): Promise<Translation>;
  /** Whether the author may start or steer runs from here, asked of the platform now. Without proof it throws. */
  authorize(message: InboundMessage): Promise<Authorization>;
  /**
   * Shows a notice and says where. With `maybeShown`, an earlier try may have been shown without our knowing:
   * look for it first, by `delivery.id`. Throws an AppError with `retryable` and, when told, `retryAfterMs`.
   */
  deliver(delivery: Delivery): Promise<Receipt>;
}

export interface AdapterTraits {
  readonly source: RunSource;
  /** Where a turn's closing words and questions go: in the card, or as messages of their own. */
  readonly closingWords: "card" | "message";
  /** How the bot is addressed there, for help texts: `@errand`. */
  readonly trigger: string;
}

/** An acknowledged event as it came, before anybody looked into it. */
export interface InboxEvent {
  readonly id: string;
  readonly adapter: string;
  /** Events of one lane are handled one after the other, as they came: the conversation it belongs to. */
  readonly lane: string;
  /** The platform's own id of this delivery. */
  readonly deliveryId: string;
  /** The event's name as the platform gives it beside the body. */
  readonly name: string;
  readonly body: string;
  readonly receivedAt: Date;
}

export type Translation =
  | { readonly kind: "message"; readonly message: InboundMessage }
  | { readonly kind: "ignored"; readonly reason: string };

export interface InboundMessage extends ThreadAddress {
  /** What this is, by meaning: two events with the same value have one effect. */
  readonly meaning: string;
  /** `mention`: the bot was named. `direct`: nobody else is there. `reply`: said in a thread that may be ours. */
  readonly addressed: "mention" | "direct" | "reply";
  readonly author: Author;
  /** The words, without the mention of the bot. */
  readonly text: string;
  /** What stands around the message (an issue's title and text); anybody's words. */
  readonly context?: string;
  /** A name for a run that this message starts, where the thread has one (an issue's title). */
  readonly subject?: string;
  readonly messageRef: string;
  readonly permalink?: string;
  /** What the thread is a part of, as rules name it: a channel, a repository. */
  readonly place?: string;
  /** A pressed button instead of words. */
  readonly press?: ButtonPress;
  /**
   * Kept with the run: platform ids and what else proves where it came from. The API promises `integration`,
   * `installation`, `actor`, `message_ids` and `content_hash` of it.
   */
  readonly provenance: Readonly<Record<string, unknown>>;
}

export type ButtonPress =
  | { readonly kind: "cancel"; readonly runId: RunId }
  | {
      readonly kind: "answer";
      readonly runId: RunId;
      readonly permissionId: string;
      readonly optionId: string;
    };

export interface Author {
  /** Unique among all adapters, by the platform's ids: `slack:T1:U1`, `github:583231`. */
  readonly subject: string;
  readonly displayName?: string;
}

export type Authorization =
  | {
      readonly allowed: true;
      readonly permission: string;
      readonly author: Author;
      /** What the platform said now of the place, to be kept with a run that the message starts. */
      readonly provenance?: Readonly<Record<string, unknown>>;
    }
  /** `reason` is said to the author in the thread. */
  | { readonly allowed: false; readonly reason: string };

export interface Delivery {
  readonly id: string;
  readonly thread: { readonly id: string; readonly installation: string; readonly key: ThreadKey };
  readonly notice: Notice;
  /** Where the slot of this notice is already shown. */
  readonly shownAt?: Receipt;
  readonly maybeShown: boolean;
}

/** Where a notice is shown; made and read by the adapter alone. */
export type Receipt = string;
