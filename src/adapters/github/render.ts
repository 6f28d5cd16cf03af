import { isEnded, type RunState } from "../../core/runs/states.ts";
import { messageKeyOf, type Notice, type RunCard } from "../../core/threads/notice.ts";
import type { Delivery } from "../../core/threads/thread-adapter.ts";
import { defuse, defuseLine } from "./defuse.ts";
import { oneLine } from "./plain-text.ts";

/** GitHub refuses bodies of more than 65,536 characters. */
const MAX_BODY = 65_000;
const MAX_TITLE = 150;
const MAX_MESSAGE = 4_000;

const STATE_WORDS: Readonly<Record<RunState, string>> = {
  QUEUED: "Queued",
  PENDING: "Starting",
  CLAIMED: "Preparing the workspace",
  INPROGRESS: "Working",
  BLOCKED: "Waiting for an answer",
  SUCCEEDED: "Done",
  FAILED: "Failed",
  ERROR: "Stopped by an error",
  CANCELLED: "Cancelled",
};

const UNAPPROVED = "Waiting for approval";

type ShownNotice = Exclude<Notice, { kind: "seen" }>;

/** The first line of each comment of the bot, invisible on the page. It serves to find the comment again. */
export function markerOf({ id, notice }: Pick<Delivery, "id" | "notice">): string {
  const name = notice.kind === "card" ? `message-key=${messageKeyOf(notice, id)}` : `delivery=${id}`;
  return `<!-- errand:${name} -->`;
}

/** The whole body of the comment that shows a notice. */
export function render(delivery: Pick<Delivery, "id" | "notice">, trigger: string): string {
  const { notice } = delivery;
  if (notice.kind === "seen") {
    return markerOf(delivery);
  }
  const marker = `${markerOf(delivery)}\n`;
  return marker + bodyOf(notice, { trigger, room: MAX_BODY - marker.length });
}

function bodyOf(notice: ShownNotice, frame: { readonly trigger: string; readonly room: number }): string {
  if (notice.kind === "card") {
    return cardBody(notice.card, frame);
  }
  const { text, sessionLink } = notice;
  const link = sessionLink === undefined ? "" : `[Session](${sessionLink})`;
  const room = frame.room - link.length - 2;
  return paragraphs([within(text, { limit: room, sessionLink }), link]);
}

function cardBody(
  card: RunCard,
  { trigger, room }: { readonly trigger: string; readonly room: number },
): string {
  const { message, question, sessionLink } = card;
  const head = paragraphs([
    headline(card),
    message === undefined ? "" : quoted(within(message, { limit: MAX_MESSAGE, sessionLink })),
    question === undefined ? "" : `It asks: **${safeLine(question.title)}**`,
    approvalText(card),
  ]);
  const foot = hint(card, trigger);
  const limit = room - head.length - foot.length - ANSWER_FRAME.length;
  const answer = card.answer?.trim() ? within(card.answer, { limit, sessionLink }) : "";
  return paragraphs([head, answer && `${ANSWER_HEADING}${answer}\n\n---`, foot]);
}

/** Stands above the agent's words, so that they cannot pass for the bot's own. */
const ANSWER_HEADING = "**The agent's answer:**\n\n---\n\n";
const ANSWER_FRAME = `${ANSWER_HEADING}\n\n---\n\n\n\n`;

function headline(card: RunCard): string {
  const { state, title, turn, sessionLink } = card;
  const parts = [
    `**${isUnapproved(card) ? UNAPPROVED : STATE_WORDS[state]}**`,
    safeLine(title),
    ...(turn > 1 ? [`turn ${turn}`] : []),
  ];
  return [...parts, `[session](${sessionLink})`].filter((part) => part !== "").join(" · ");
}

/** In code the trigger is no mention. */
function hint(card: RunCard, trigger: string): string {
  const { state } = card;
  if (isUnapproved(card)) {
    return `It begins once it is approved; \`${trigger} stop\` ends it.`;
  }
  if (state === "BLOCKED") {
    return `Answer with \`${trigger} allow\` or \`${trigger} reject\`; \`${trigger} stop\` ends it.`;
  }
  if (isEnded(state)) {
    return `To continue this run, write \`${trigger}\` and what to do next.`;
  }
  return `\`${trigger} stop\` stops it; \`${trigger}\` and anything else is told to the agent.`;
}

/** A comment has no buttons: approvers decide over the API, with the hash of what they have read. */
function approvalText({ approval, sessionLink }: RunCard): string {
  if (approval === undefined) {
    return "";
  }
  if (approval.text === undefined) {
    return "A private follow-up waits for approval.";
  }
  const what = approval.isFollowUp ? "This follow-up waits for approval:" : "This waits for approval:";
  return paragraphs([what, quoted(within(approval.text, { limit: MAX_MESSAGE, sessionLink }))]);
}

/** A run that waits for approval has no question. */
function isUnapproved({ question, state }: RunCard): boolean {
  return state === "BLOCKED" && question === undefined;
}

function within(
  text: string,
  { limit, sessionLink }: { readonly limit: number; readonly sessionLink: string | undefined },
): string {
  const rest =
    sessionLink === undefined ? "_Cut here._" : `_Cut here._ [The rest is in the session](${sessionLink}).`;
  const { markdown, isCut } = defuse(text, limit - rest.length - 2);
  return isCut ? paragraphs([markdown, rest]) : markdown;
}

function quoted(markdown: string): string {
  return markdown.replace(/^/gm, "> ");
}

function safeLine(text: string): string {
  return defuseLine(oneLine(text, MAX_TITLE));
}

function paragraphs(pieces: readonly string[]): string {
  return pieces.filter((piece) => piece !== "").join("\n\n");
}
