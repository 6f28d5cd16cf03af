import type { PermissionRequest } from "../agents/agent-runner.ts";
import type { RunId } from "../ids.ts";
import type { RunState } from "../runs/states.ts";

/** What to post in a thread. The adapter renders it. All text in it is untrusted and must be defused. */
export type Notice =
  /** A reaction on the message that asked: it was received. */
  | { readonly kind: "seen"; readonly messageRef: string }
  /**
   * The card of the run in this thread, edited in place. A newer card replaces an older one that was not delivered
   * yet.
   */
  | { readonly kind: "card"; readonly card: RunCard }
  /**
   * A separate message. `answer` (by the agent), `outcome` (by Errand, if there is no answer) and `question` are not
   * sent when the adapter shows them in the card.
   */
  | {
      readonly kind: "message";
      readonly purpose: "answer" | "outcome" | "question" | "reply";
      readonly text: string;
      readonly sessionLink?: string;
    };

export interface RunCard {
  readonly runId: RunId;
  readonly title: string;
  readonly state: RunState;
  readonly turn: number;
  readonly sessionLink: string;
  /** Why the run ended, or what it waits for. */
  readonly message?: string;
  /** The final answer, on the card of an ended run. */
  readonly answer?: string;
  readonly question?: PermissionRequest;
}

/** Notices with the same message key edit the same message. */
export function messageKeyOf(notice: Notice, deliveryId: string): string {
  return notice.kind === "card" ? `card:${notice.card.runId}` : `${notice.kind}:${deliveryId}`;
}
