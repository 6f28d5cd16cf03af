import type { types } from "@slack/bolt";
import { isEnded, type RunState } from "../../core/runs/states.ts";
import { messageKeyOf, type Notice, type RunCard } from "../../core/threads/notice.ts";
import type { Delivery } from "../../core/threads/thread-adapter.ts";
import { figures, HEADINGS, planLines, workspaceLine } from "../card-words.ts";
import { approvalButtons, openButton, optionButtons, retryButton, stopButton } from "./buttons.ts";
import { defuse, defuseLine, defuseMrkdwn } from "./defuse.ts";

/** What a message shows. `text` is for notifications and screen readers. */
export interface Rendered {
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
  /** The whole message for a workspace that refuses the blocks. */
  readonly plainText: string;
}

type ShownNotice = Exclude<Notice, { readonly kind: "seen" | "ended" }>;
type MessageNotice = Extract<Notice, { readonly kind: "message" }>;

// https://docs.slack.dev/reference/block-kit/blocks. A whole message must stay below about 13,200 characters, which
// is not documented: https://github.com/slackapi/bolt-js/issues/2509
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
/** Leaves room for the marks that turn addresses into links. */
const MAX_REPLY = 2_300;
const MAX_ACTIONS = 25;
const MAX_MARKDOWN = 11_000;
const MAX_FENCE = 50;
const LONG_FENCE = /`{51,}|~{51,}/g;
const MAX_FALLBACK = 1_000;
const MAX_LINE = 500;
const MAX_STEP = 150;
/** chat.update refuses longer texts, although chat.postMessage accepts them. */
const MAX_PLAIN_TEXT = 3_900;

const STATES: Readonly<Record<RunState, { readonly emoji: string; readonly words: string }>> = {
  QUEUED: { emoji: "⏳", words: "Queued" },
  PENDING: { emoji: "⏳", words: "Starting" },
  CLAIMED: { emoji: "⏳", words: "Preparing the workspace" },
  INPROGRESS: { emoji: "🏃", words: "Working" },
  BLOCKED: { emoji: "✋", words: "Waiting for an answer" },
  SUCCEEDED: { emoji: "✅", words: "Succeeded" },
  FAILED: { emoji: "❌", words: "Failed" },
  ERROR: { emoji: "⚠️", words: "Error" },
  CANCELLED: { emoji: "🚫", words: "Cancelled" },
};

const UNAPPROVED = { emoji: "✋", words: "Waiting for approval" } as const;

const EVENT_TYPE = "errand_delivery";

/** The first marker by which a message is found again. Slack always shows it to the bot. */
export function blockIdOf(deliveryId: string): string {
  return `errand:${deliveryId}`;
}

/** The second marker. It also contains the message key, because an earlier delivery may have posted the card. */
export function metadataOf({ id, notice }: Pick<Delivery, "id" | "notice">): types.MessageMetadata {
  return {
    event_type: EVENT_TYPE,
    event_payload: { delivery_id: id, message_key: messageKeyOf(notice, id) },
  };
}

/** The message that shows a card or a message notice, marked with the delivery's id. */
export function render({ id, notice }: Pick<Delivery, "id"> & { readonly notice: ShownNotice }): Rendered {
  const blockId = blockIdOf(id);
  return notice.kind === "card" ? renderCard(notice.card, blockId) : renderMessage(notice, blockId);
}

function renderCard(card: RunCard, blockId: string): Rendered {
  const { emoji, words } = isUnapproved(card) ? UNAPPROVED : STATES[card.state];
  const title = defuseLine(`${emoji} ${card.title}`, MAX_HEADER);
  const plan = planLines(card, (text) => defuseLine(text, MAX_STEP)).join("\n");
  const step = stepLine(card);
  const blocks: (types.KnownBlock | undefined)[] = [
    header(title, blockId),
    context([words, ...figures(card)].join(" · ")),
    card.workspace === undefined ? undefined : plainContext(workspaceLine(card)),
    card.pullRequest === undefined ? undefined : context(link(card.pullRequest, "Pull request")),
    plan === "" ? undefined : plainSection(plan),
    step === "" ? undefined : plainContext(step),
    card.message === undefined ? undefined : plainSection(card.message),
    card.question === undefined ? undefined : plainSection(`The agent asks: ${card.question.title}`),
    ...approvalBlocks(card),
    actions(card),
  ];
  const facts = [figures(card).join(" · "), workspaceLine(card), card.pullRequest, plan, step];
  const said = [card.message, card.question?.title, card.approval?.text, ...facts].filter(Boolean);
  return {
    text: defuseMrkdwn(`${title} · ${words}`, MAX_FALLBACK),
    blocks: blocks.filter((block) => block !== undefined),
    plainText: plainText(`${title} · ${words}`, said.join("\n"), card.sessionLink),
  };
}

function stepLine({ step }: RunCard): string {
  return step === undefined ? "" : `Now: ${defuseLine(step, MAX_STEP)}`;
}

/**
 * A separate message. Its first block is one that Markdown cannot imitate, so an agent's answer cannot pass for a
 * card. `blockId` is never on the markdown block, because Slack drops it there.
 */
function renderMessage(notice: MessageNotice, blockId: string): Rendered {
  const { purpose, text, sessionLink } = notice;
  const fallback = defuseMrkdwn(text, MAX_FALLBACK);
  const linked = sessionLink === undefined ? "" : link(sessionLink, "Session");
  if (purpose === "reply") {
    const said = { ...mrkdwnSection(withLinks(defuseMrkdwn(text, MAX_REPLY))), block_id: blockId };
    const blocks = linked ? [said, context(linked)] : [said];
    return { text: fallback, blocks, plainText: plainText("", text, sessionLink) };
  }
  const heading = [`*${HEADINGS[purpose]}*`, linked].filter(Boolean).join(" · ");
  const words = purpose === "outcome" ? plainSection(text) : markdown(text, sessionLink);
  return {
    text: fallback,
    blocks: [context(heading, blockId), words],
    plainText: plainText(`${HEADINGS[purpose]}:`, text, sessionLink),
  };
}

/** The words without markup, and where the rest of them is. */
function plainText(heading: string, text: string, sessionLink: string | undefined): string {
  const link = sessionLink === undefined ? "" : `<${safeUrl(sessionLink)}>`;
  const room = MAX_PLAIN_TEXT - heading.length - link.length - 2;
  const words = text === "" ? "" : defuseMrkdwn(text, room);
  return [heading === "" ? "" : defuseMrkdwn(heading, MAX_HEADER + MAX_HEADER), words, link]
    .filter((part) => part !== "")
    .join("\n");
}

/** Slack renders Markdown itself. A translation to mrkdwn would lose tables, headings and nested lists. */
function markdown(text: string, sessionLink: string | undefined): types.MarkdownBlock {
  const { text: kept, isCut } = defuse(text, MAX_MARKDOWN);
  if (!isCut) {
    return { type: "markdown", text: kept || "(no words)" };
  }
  const rest = sessionLink === undefined ? "" : `\n\n[The rest is in the session](${safeUrl(sessionLink)})`;
  return { type: "markdown", text: `${closeFence(kept)}${rest}` };
}

/** A cut within a code block would swallow the link below it. Long fences are shortened, so that the text stays within its limit. */
function closeFence(long: string): string {
  const text = long.replace(LONG_FENCE, (run) => run.slice(0, MAX_FENCE));
  let open: string | undefined;
  for (const [, fence] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === undefined) {
      open = fence;
    } else if (fence?.startsWith(open)) {
      open = undefined;
    }
  }
  return open === undefined ? text : `${text}\n${open}`;
}

function actions(card: RunCard): types.ActionsBlock {
  const { approval, question, runId, state } = card;
  const hash = approval?.inputsHash;
  const decisions = hash === undefined ? [] : approvalButtons(runId, hash);
  const options = question === undefined ? [] : optionButtons(runId, question);
  const open = openButton(safeUrl(card.sessionLink));
  const shown = [...options.slice(0, MAX_ACTIONS - decisions.length - 2), ...decisions];
  const mayRetry = state === "FAILED" || state === "ERROR" || state === "CANCELLED";
  const ended = mayRetry ? [...decisions, retryButton(runId)] : decisions;
  return {
    type: "actions",
    elements: isEnded(state) ? [...ended, open] : [...shown, open, stopButton(runId)],
  };
}

/** The words that wait for approval. Without all of them here, people decide where they can read them. */
function approvalBlocks({ approval, sessionLink }: RunCard): types.KnownBlock[] {
  if (approval === undefined) {
    return [];
  }
  const what = approval.isFollowUp ? "This follow-up waits for approval:" : "This waits for approval:";
  const heading = context(
    `${approval.text === undefined ? "A private follow-up waits for approval." : what}`,
  );
  const words = approval.text === undefined ? [] : [plainSection(approval.text)];
  const rest =
    approval.inputsHash === undefined ? [context(`Decide about it ${link(sessionLink, "here")}.`)] : [];
  return [heading, ...words, ...rest];
}

/** A run that waits for approval has no question. */
function isUnapproved({ question, state }: RunCard): boolean {
  return state === "BLOCKED" && question === undefined;
}

function header(text: string, blockId: string): types.HeaderBlock {
  return { type: "header", block_id: blockId, text: { type: "plain_text", text, emoji: false } };
}

function context(mrkdwn: string, blockId?: string): types.ContextBlock {
  const id = blockId === undefined ? {} : { block_id: blockId };
  return { type: "context", ...id, elements: [{ type: "mrkdwn", text: mrkdwn, verbatim: true }] };
}

/** For words that others chose. */
function plainContext(text: string): types.ContextBlock {
  const words = defuseLine(text, MAX_LINE);
  return { type: "context", elements: [{ type: "plain_text", text: words, emoji: false }] };
}

/** `plain_text` has no mentions and no markup. */
function plainSection(text: string): types.SectionBlock {
  const words = defuse(text, MAX_SECTION).text || "…";
  return { type: "section", text: { type: "plain_text", text: words, emoji: false } };
}

/** `verbatim`: Slack does not look for names of channels and people in the text. */
function mrkdwnSection(text: string): types.SectionBlock {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

function link(url: string, words: string): string {
  return `<${safeUrl(url)}|${words}>`;
}

/** A `verbatim` text has only links that are marked. */
function withLinks(mrkdwn: string): string {
  return mrkdwn.replace(/\bhttps?:\/\/(?:(?!&[lg]t;)[^\s<>|`])+(?<![.,:;!?)"'])/g, "<$&>");
}

/** An address that ends neither a mrkdwn link nor a Markdown link. */
function safeUrl(url: string): string {
  return url.replace(
    /[\s<>|()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
