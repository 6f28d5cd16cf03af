import type { types } from "@slack/bolt";
import { isEnded, type RunState } from "../../core/runs/states.ts";
import type { Notice, RunCard } from "../../core/threads/notice.ts";
import { cancelButton, optionButtons } from "./buttons.ts";
import { mrkdwnWithin, plainWithin, shorten } from "./defuse.ts";

/** What a message shows. `text` is for notifications and screen readers. */
export interface Rendered {
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
}

export type MessageNotice = Extract<Notice, { readonly kind: "message" }>;

// https://docs.slack.dev/reference/block-kit/blocks. The whole of a message must stay below about 13,200
// characters, which is not documented: https://github.com/slackapi/bolt-js/issues/2509
const MAX_HEADER = 150;
const MAX_SECTION = 3_000;
/** Leaves room for what makes links of addresses. */
const MAX_REPLY = 2_300;
const MAX_ACTIONS = 25;
const MAX_MARKDOWN = 11_000;
const MAX_FALLBACK = 1_000;

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

const HEADINGS = {
  answer: "The agent's answer",
  outcome: "How it ended",
  question: "The agent asks",
} as const;

/** The run's card. `blockId` marks the message, so that it can be found again. */
export function renderCard(card: RunCard, blockId: string): Rendered {
  const { emoji, words } = isUnapproved(card) ? UNAPPROVED : STATES[card.state];
  const title = plainWithin(`${emoji} ${card.title}`, MAX_HEADER);
  const status = `${words} · turn ${card.turn} · ${link(card.sessionLink, "Session")}`;
  const blocks: (types.KnownBlock | undefined)[] = [
    header(title, blockId),
    context(status),
    card.message === undefined ? undefined : plainSection(card.message),
    card.question === undefined ? undefined : plainSection(`The agent asks: ${card.question.title}`),
    actions(card),
  ];
  return {
    text: mrkdwnWithin(`${title} · ${words}`, MAX_FALLBACK),
    blocks: blocks.filter((block) => block !== undefined),
  };
}

/**
 * A message of its own. What the agent said is headed as such, in a block that Markdown cannot imitate, so an answer
 * that looks like a card is seen to be an answer. `blockId` is never that of the markdown block: Slack drops it there.
 */
export function renderMessage(notice: MessageNotice, blockId: string): Rendered {
  const { purpose, text, sessionLink } = notice;
  const fallback = mrkdwnWithin(text, MAX_FALLBACK);
  const linked = sessionLink === undefined ? "" : link(sessionLink, "Session");
  if (purpose === "reply") {
    const said = { ...mrkdwnSection(withLinks(mrkdwnWithin(text, MAX_REPLY))), block_id: blockId };
    return { text: fallback, blocks: linked ? [said, context(linked)] : [said] };
  }
  const heading = [`*${HEADINGS[purpose]}*`, linked].filter(Boolean).join(" · ");
  const words = purpose === "outcome" ? plainSection(text) : markdown(text, sessionLink);
  return { text: fallback, blocks: [context(heading, blockId), words] };
}

/** Slack renders Markdown itself; an own translation to mrkdwn would lose tables, headings and nested lists. */
function markdown(text: string, sessionLink: string | undefined): types.MarkdownBlock {
  const { text: kept, isCut } = shorten(text, MAX_MARKDOWN);
  if (!isCut) return { type: "markdown", text: kept || "(no words)" };
  const rest = sessionLink === undefined ? "" : `\n\n[The rest is in the session](${safeUrl(sessionLink)})`;
  return { type: "markdown", text: `${closeFence(kept)}${rest}` };
}

/** A cut within a code block would swallow the link below it. */
function closeFence(text: string): string {
  let open: string | undefined;
  for (const [, fence] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gm)) {
    if (open === undefined) open = fence;
    else if (fence?.startsWith(open)) open = undefined;
  }
  return open === undefined ? text : `${text}\n${open}`;
}

function actions(card: RunCard): types.ActionsBlock | undefined {
  if (isEnded(card.state)) return undefined;
  const options = card.question === undefined ? [] : optionButtons(card.runId, card.question);
  return { type: "actions", elements: [...options.slice(0, MAX_ACTIONS - 1), cancelButton(card.runId)] };
}

/** Nothing in the thread answers that: whoever approves does so on the run's own page. */
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

/** `plain_text` knows no mentions and no markup at all. */
function plainSection(text: string): types.SectionBlock {
  const words = shorten(text, MAX_SECTION).text || "…";
  return { type: "section", text: { type: "plain_text", text: words, emoji: false } };
}

/** `verbatim`: names of channels and people are not looked for in the words. */
function mrkdwnSection(text: string): types.SectionBlock {
  return { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
}

function link(url: string, words: string): string {
  return `<${safeUrl(url)}|${words}>`;
}

/** A `verbatim` text has no links but those that are marked. */
function withLinks(mrkdwn: string): string {
  return mrkdwn.replace(/\bhttps?:\/\/(?:(?!&[lg]t;)[^\s<>|`])+(?<![.,:;!?)"'])/g, "<$&>");
}

/** An address that neither ends a mrkdwn link nor a Markdown one. */
function safeUrl(url: string): string {
  return url.replace(
    /[\s<>|()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}
