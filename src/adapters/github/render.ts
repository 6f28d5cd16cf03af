import { z } from "zod";
import { isEnded, type RunState } from "../../core/model/runs/states.ts";
import {
  type AnswerPart,
  messageKeyOf,
  type Notice,
  ONLY_ON_PAGE,
  type RunCard,
  type UnpushedWork,
} from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import {
  approvalHeading,
  figures,
  HEADINGS,
  isUnapproved,
  messageOf,
  planLines,
  pullRequestWords,
  STATE_WORDS,
  stateWords,
  workspaceLine,
} from "../card-words.ts";
import { reviewThreadOf } from "./addresses.ts";
import { approvalBox } from "./approval-box.ts";
import { defuse, defuseLine, exactCode } from "./defuse.ts";
import { oneLine } from "./shown-text.ts";

/** GitHub refuses bodies of more than 65,536 characters. */
const MAX_BODY = 65_000;
const MAX_TITLE = 150;
const MAX_MESSAGE = 4_000;
const MAX_STEP = 150;
const MAX_PATCH = 24_000;

const STATES: Readonly<Record<RunState, string>> = {
  ...STATE_WORDS,
  SUCCEEDED: "Done",
  ERROR: "Stopped by an error",
};

type ShownNotice = Exclude<Notice, { kind: "seen" | "ended" | "check" }>;
type Message = Omit<Extract<Notice, { kind: "message" }>, "kind" | "purpose">;

interface Frame {
  readonly trigger: string;
  /** In characters. */
  readonly room: number;
}

/** An address that ends no link of Markdown. */
const ADDRESS = /^https?:\/\/[\w./:-]+$/;
/** The account as the adapter's provenance writes it. */
const REQUESTER = z.object({ login: z.string().regex(/^[\w-]+$/) });

/** The first line of each comment of the bot, invisible on the page. It serves to find the comment again. */
export function markerOf({ id, notice }: Pick<Delivery, "id" | "notice">): string {
  const name = notice.kind === "card" ? `message-key=${messageKeyOf(notice, id)}` : `delivery=${id}`;
  return `<!-- errand:${name} -->`;
}

/** The whole body of the comment that shows a notice. */
export function render(delivery: Pick<Delivery, "id" | "notice">, trigger: string): string {
  const { notice } = delivery;
  if (notice.kind === "seen" || notice.kind === "ended" || notice.kind === "check") {
    return markerOf(delivery);
  }
  const marker = `${markerOf(delivery)}\n`;
  return marker + bodyOf(notice, { trigger, room: MAX_BODY - marker.length });
}

function bodyOf(notice: ShownNotice, frame: Frame): string {
  if (notice.kind === "card") {
    return cardBody(notice.card, frame.trigger);
  }
  if (notice.kind === "choice") {
    return replyBody({ text: notice.text }, frame.room);
  }
  const { purpose, ...message } = notice;
  return purpose === "reply" ? replyBody(message, frame.room) : endBody(message, { ...frame, purpose });
}

/** What an answer in the conversation says in one of the threads that it is about. */
export function inThread(
  deliveryId: string,
  { answer, inReplyTo, text }: AnswerPart & { readonly answer?: string },
): { readonly marker: string; readonly body: string } {
  const marker = `<!-- errand:delivery=${deliveryId}/in/${reviewThreadOf(inReplyTo)} -->`;
  const link =
    answer === undefined ? "" : `[${text === undefined ? "Answered here" : "The whole answer"}](${answer})`;
  const words = text === undefined ? "" : quoted(within(text, { limit: MAX_MESSAGE, sessionLink: answer }));
  return { marker, body: `${marker}\n${paragraphs([words, link])}` };
}

/** The bot's own words have no links, but they can name a run, whose title a stranger wrote. */
function replyBody({ sessionLink, text }: Message, room: number): string {
  const link = sessionLink === undefined ? "" : `[Session](${sessionLink})`;
  return paragraphs([within(text, { limit: room - link.length - 2, sessionLink, hasLinks: false }), link]);
}

/**
 * An answer, a question or the reason of an end, for the person who asked: the mention notifies them. The words stand
 * in a frame, so that they cannot pass for the bot's own.
 */
function endBody(
  { requester, sessionLink, text, unpushed }: Message,
  { purpose, room, trigger }: Frame & { readonly purpose: keyof typeof HEADINGS },
): string {
  const login = REQUESTER.safeParse(requester).data?.login;
  const heading = `${login === undefined ? "" : `@${login} `}**${HEADINGS[purpose]}:**`;
  const link = sessionLink === undefined ? "" : `[session](${sessionLink})`;
  const foot =
    purpose === "question"
      ? howToDecide(trigger, link)
      : [howToContinue(trigger), link].filter(Boolean).join(" · ");
  const patch = unpushed === undefined ? "" : patchText(unpushed, sessionLink);
  const frame = [heading, "---", "", "---", patch, foot].join("\n\n").length;
  const limits = { limit: room - frame, sessionLink };
  const shown = purpose === "question" ? asCode(text, limits) : within(text, limits);
  const words = text.trim() === "" ? "(no words)" : shown;
  return paragraphs([heading, "---", words, "---", patch, foot]);
}

function patchText({ patch, words }: UnpushedWork, sessionLink: string | undefined): string {
  const code = patch === undefined ? undefined : exactCode(patch, "diff", MAX_PATCH);
  const session = sessionLink === undefined ? "session" : `[session](${sessionLink})`;
  const shown = within(words, { limit: MAX_MESSAGE, sessionLink });
  return paragraphs([shown, code ?? `The ${session} has the patch.`]);
}

function cardBody(card: RunCard, trigger: string): string {
  const { pullRequest, sessionLink } = card;
  const message = messageOf(card);
  const facts = [workspaceLine(card)].filter(Boolean).map(safeLine);
  const plan = planLines(card, (text) => oneLine(text, MAX_STEP)).map(defuseLine);
  return paragraphs([
    headline(card),
    [
      ...facts,
      ...(pullRequest !== undefined && ADDRESS.test(pullRequest)
        ? [`[Pull request](${pullRequest})`, ...pullRequestWords(card)]
        : []),
    ].join(" · "),
    plan.join("\n"),
    message === undefined ? "" : quoted(within(message, { limit: MAX_MESSAGE, sessionLink })),
    questionText(card),
    approvalText(card, trigger),
    hint(card, trigger),
  ]);
}

function headline(card: RunCard): string {
  const { title, sessionLink } = card;
  const parts = [`**${stateWords(card, STATES)}**`, safeLine(title), ...figures(card)];
  return [...parts, `[session](${sessionLink})`].filter((part) => part !== "").join(" · ");
}

/** In code the trigger is no mention. */
function hint(card: RunCard, trigger: string): string {
  const { state } = card;
  if (isUnapproved(card)) {
    return `It begins once it is approved; \`${trigger} stop\` ends it.`;
  }
  if (card.isPaused === true) {
    return `\`${trigger}\` and what to do next continues it; \`${trigger} stop\` ends it.`;
  }
  if (state === "BLOCKED") {
    return card.question?.isOnlyOnPage === true ? howToRefuse(trigger) : howToAnswer(trigger);
  }
  if (isEnded(state)) {
    return howToContinue(trigger);
  }
  return `\`${trigger} stop\` stops it; \`${trigger}\` and anything else is told to the agent.`;
}

function howToAnswer(trigger: string): string {
  return `Answer with \`${trigger} allow\` or \`${trigger} reject\`; \`${trigger} stop\` ends it.`;
}

/** A question has the link to the page only if it cannot be allowed here. */
function howToDecide(trigger: string, link: string): string {
  return link === "" ? howToAnswer(trigger) : `${howToRefuse(trigger)} · ${link}`;
}

function howToRefuse(trigger: string): string {
  return `${ONLY_ON_PAGE} \`${trigger} reject\` refuses it; \`${trigger} stop\` ends it.`;
}

function howToContinue(trigger: string): string {
  return `To continue this run, write \`${trigger}\` and what to do next.`;
}

/** A question in one line is a heading. Otherwise the words of the call stand in a frame. */
function questionText({ question, sessionLink }: RunCard): string {
  if (question === undefined) {
    return "";
  }
  const { text = question.title } = question;
  return text.includes("\n")
    ? paragraphs(["It asks:", quoted(asCode(text, { limit: MAX_MESSAGE, sessionLink }))])
    : `It asks: **${safeLine(text)}**`;
}

/** Code shows every character as it is. Markdown can hide the address of a link, and whole lines. */
function asCode(text: string, limits: Parameters<typeof within>[1]): string {
  return exactCode(text, "", limits.limit) ?? within(text, limits);
}

/** The box comes only with words that are shown exactly: what is approved must have been read. */
function approvalText(card: RunCard, trigger: string): string {
  const { approval, sessionLink } = card;
  if (approval === undefined) {
    return "";
  }
  const what = approvalHeading(approval);
  if (approval.text === undefined) {
    return what;
  }
  const limits = { limit: MAX_MESSAGE, sessionLink };
  const code = exactCode(approval.text, "", limits.limit);
  const box = code === undefined ? "" : approvalBox(card);
  const how =
    box === ""
      ? `It is approved or refused on the [page of the run](${sessionLink}).`
      : `A person who can push to this repository ticks the box, or writes \`${trigger} approve\` or \`${trigger} reject\`. The [session](${sessionLink}) has the rest.`;
  return paragraphs([what, quoted(code ?? within(approval.text, limits)), box, how]);
}

function within(
  text: string,
  {
    hasLinks,
    limit,
    sessionLink,
  }: { readonly limit: number; readonly sessionLink: string | undefined; readonly hasLinks?: boolean },
): string {
  const rest =
    sessionLink === undefined ? "_Cut here._" : `_Cut here._ [The rest is in the session](${sessionLink}).`;
  const { markdown, isCut } = defuse(text, limit - rest.length - 2, { hasLinks });
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
