import type { types } from "@slack/bolt";
import { defined } from "../../core/basics/defined.ts";
import { isEnded, type RunState } from "../../core/model/runs/states.ts";
import { type Notice, ONLY_ON_PAGE, type RunCard } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import {
  approvalHeading,
  figures,
  HEADINGS,
  landedWords,
  messageOf,
  planLines,
  pullRequestWords,
  shownSteps,
  stateWords,
  workspaceLine,
} from "../card-words.ts";
import { answerParts, withFewerElements } from "./answer-parts.ts";
import {
  context,
  header,
  link,
  MAX_FALLBACK,
  MAX_HEADER,
  type Marker,
  markerOf,
  mrkdwnSection,
  plainContext,
  plainSection,
  plainText,
  type Rendered,
  safeUrl,
  withLinks,
} from "./blocks.ts";
import {
  approvalButtons,
  choiceBlocks,
  filesButton,
  openButton,
  optionButtons,
  pullRequestButton,
  ratingBlock,
  ratingButtons,
  retryButton,
  stopButton,
} from "./buttons.ts";
import { defuseLine, defuseMrkdwn, withoutMarkup } from "./defuse.ts";

export type ShownNotice = Exclude<Notice, { readonly kind: "seen" | "ended" | "check" }>;
type ChoiceNotice = Extract<Notice, { readonly kind: "choice" }>;
type MessageNotice = Extract<Notice, { readonly kind: "message" }>;

/** Leaves room for the marks that turn addresses into links. */
const MAX_REPLY = 2_300;
/** Slack cuts texts at 40,000 characters. A message is never edited, so the smaller limit of edits does not count. */
const MAX_PLAIN_TEXT = 15_000;
/** Repositories under an answer. */
const MAX_LANDED = 5;
const MAX_ROW = 300;

/** The messages that show a card or a message notice, marked with the delivery's id. */
export function render(
  delivery: Pick<Delivery, "id"> & { readonly notice: ShownNotice },
  asked?: AskedMessage,
): readonly [Rendered, ...Rendered[]] {
  const { notice } = delivery;
  const marker = markerOf(delivery);
  if (notice.kind === "card") {
    return [renderCard(notice.card, marker, asked)];
  }
  if (notice.kind === "choice") {
    return [renderChoice(notice, marker)];
  }
  if (notice.purpose === "reply") {
    return [renderReply(notice, marker)];
  }
  if (notice.purpose === "outcome" || notice.purpose === "question") {
    const rendered = renderWords(notice, { marker, words: plainSection(notice.text), text: notice.text });
    return [withOptions(rendered, notice)];
  }
  return renderAnswer(notice, (part) => markerOf(delivery, part));
}

/** A question of the bot itself. Once it is decided, it has no buttons. */
function renderChoice({ options, requestId, text }: ChoiceNotice, marker: Marker): Rendered {
  const said = { ...mrkdwnSection(defuseMrkdwn(text, MAX_REPLY)), block_id: marker.blockId };
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: options.length === 0 ? [said] : [said, ...choiceBlocks(requestId, options)],
    plainText: plainText({ heading: "", text, sessionLink: undefined, max: MAX_PLAIN_TEXT }),
  };
}

function renderReply({ sessionLink, text }: MessageNotice, marker: Marker): Rendered {
  const linked = sessionLink === undefined ? [] : [context(link(sessionLink, "Session"))];
  const said = { ...mrkdwnSection(withLinks(defuseMrkdwn(text, MAX_REPLY))), block_id: marker.blockId };
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: [said, ...linked],
    plainText: plainText({ heading: "", text, sessionLink, max: MAX_PLAIN_TEXT }),
  };
}

/** The agent's words, in several messages if they are long. Slack renders Markdown itself. */
function renderAnswer(
  notice: MessageNotice,
  markerOfPart: (part: number) => Marker,
): readonly [Rendered, ...Rendered[]] {
  const { sessionLink } = notice;
  const more = sessionLink === undefined ? "" : `\n\n[The rest is in the session](${safeUrl(sessionLink)})`;
  const { isCut, parts } = answerParts(notice.text, more.length);
  const [first, ...others] = parts.map((text, index) => {
    const rest = isCut && index === parts.length - 1 ? more : "";
    const place = parts.length === 1 ? undefined : { number: index + 1, of: parts.length };
    const shown = (markdown: string): Rendered => {
      const words: types.MarkdownBlock = { type: "markdown", text: `${markdown}${rest}` };
      const rendered = renderWords(notice, { marker: markerOfPart(index + 1), words, text, place });
      return index === parts.length - 1
        ? withButtons(withUnpushed(withLanded(rendered, notice), notice), notice)
        : rendered;
    };
    const fewer = withFewerElements(text);
    return fewer === text ? shown(text) : { ...shown(text), fewerBlocks: shown(fewer).blocks };
  });
  return [first, ...others] as [Rendered, ...Rendered[]];
}

/** What was changed, and the pull request. */
function withLanded(rendered: Rendered, { landed = [], offersPullRequest }: MessageNotice): Rendered {
  if (landed.length === 0) {
    return rendered;
  }
  const shown = landed.slice(0, MAX_LANDED);
  const more = landed.length - shown.length;
  const rest = more === 0 ? [] : [context(`${more} more repositories are in the session.`)];
  const rows = shown.map((work): types.SectionBlock => {
    const row = mrkdwnSection(defuseMrkdwn(landedWords(work), MAX_ROW));
    if (work.pullRequest === undefined) {
      return offersPullRequest === undefined
        ? row
        : { ...row, accessory: pullRequestButton(offersPullRequest) };
    }
    const url = safeUrl(work.pullRequest);
    return url === "" ? row : { ...row, accessory: openButton(url, "Open") };
  });
  const lines = shown.map((work) => [landedWords(work), work.pullRequest].filter(Boolean).join(" · "));
  return {
    ...rendered,
    blocks: [...rendered.blocks, ...rows, ...rest],
    plainText: `${rendered.plainText}\n\n${lines.join("\n")}`,
  };
}

/** Why the work is not pushed. The page of the run has the patch. */
function withUnpushed(rendered: Rendered, { sessionLink, unpushed }: MessageNotice): Rendered {
  if (unpushed === undefined) {
    return rendered;
  }
  const place = sessionLink === undefined ? "" : link(sessionLink, "The session has the patch");
  return {
    ...rendered,
    blocks: [...rendered.blocks, plainSection(unpushed.words), ...(place === "" ? [] : [context(place)])],
    plainText: `${rendered.plainText}\n\n${unpushed.words}`,
  };
}

/** The options of a question that is still open. */
function withOptions(rendered: Rendered, { asks }: MessageNotice): Rendered {
  const elements = asks === undefined ? [] : optionButtons(asks.runId, asks).slice(0, MAX_ACTIONS);
  const actions: types.ActionsBlock = { type: "actions", elements };
  return elements.length === 0 ? rendered : { ...rendered, blocks: [...rendered.blocks, actions] };
}

/** The buttons stand under the last part of the answer. */
function withButtons(rendered: Rendered, { offersFiles, takesRating }: MessageNotice): Rendered {
  const files = offersFiles === undefined ? [] : [filesButton(offersFiles)];
  const ratings = takesRating === undefined ? [] : ratingButtons(takesRating);
  const blocksWith = (elements: types.Button[]): readonly types.KnownBlock[] =>
    elements.length === 0 ? rendered.blocks : [...rendered.blocks, { type: "actions", elements }];
  const blocks = blocksWith([...files, ...ratings]);
  return takesRating === undefined
    ? { ...rendered, blocks }
    : {
        ...rendered,
        blocks,
        newer: { subject: "rating", blocks: [...blocksWith(files), ratingBlock(takesRating)] },
      };
}

interface Words {
  readonly marker: Marker;
  readonly words: types.KnownBlock;
  readonly text: string;
  readonly place?: { readonly number: number; readonly of: number } | undefined;
}

/**
 * A separate message. Its first block is one that Markdown cannot imitate, so an agent's answer cannot pass for a
 * card. The block id is never on the markdown block, because Slack drops it there. Above an answer, only its part and
 * the link to the session stand there.
 */
function renderWords(
  { purpose, sessionLink }: MessageNotice,
  { marker, place, text, words }: Words,
): Rendered {
  const name = purpose === "reply" ? "" : HEADINGS[purpose];
  const part = place === undefined ? "" : `part ${place.number} of ${place.of}`;
  const linked = sessionLink === undefined ? "" : link(sessionLink, "Session");
  const title = purpose === "answer" && (part !== "" || linked !== "") ? "" : `*${name}*`;
  const heading = [title, part, linked].filter(Boolean).join(" · ");
  const plainHeading = part === "" ? `${name}:` : `${name}, ${part}:`;
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: [context(heading, marker.blockId), words],
    plainText: plainText({ heading: plainHeading, text, sessionLink, max: MAX_PLAIN_TEXT }),
  };
}

const MAX_ACTIONS = 25;
const MAX_STEP = 150;
/** chat.update refuses longer texts, although chat.postMessage accepts them. */
const MAX_PLAIN_CARD = 3_900;

const EMOJI: Readonly<Record<RunState, string>> = {
  QUEUED: "⏳",
  PENDING: "⏳",
  CLAIMED: "⏳",
  INPROGRESS: "🏃",
  BLOCKED: "✋",
  SUCCEEDED: "✅",
  FAILED: "❌",
  ERROR: "⚠️",
  CANCELLED: "🚫",
};

/** The question of a card is a message of its own in the thread, with its buttons. */
interface AskedMessage {
  readonly link: string | undefined;
}

function renderCard(card: RunCard, marker: Marker, asked?: AskedMessage): Rendered {
  const [emoji, words] = headingOf(card);
  const title = defuseLine(`${emoji} ${withoutMarkup(card.title)}`, MAX_HEADER);
  const lines = planLines(card, (text) => defuseLine(text, MAX_STEP)).join("\n");
  const message = endMessage(card);
  // The newest step of a run that asks is what it asks about.
  const step =
    card.step === undefined || asked !== undefined ? "" : `Now: ${defuseLine(card.step, MAX_STEP)}`;
  const blocksWith = (plan: types.KnownBlock | undefined): types.KnownBlock[] =>
    [
      header(title, marker.blockId),
      context([words, ...figures(card)].join(" · ")),
      ...workspaceBlocks(card),
      card.pullRequest === undefined
        ? undefined
        : context([link(card.pullRequest, "Pull request"), ...pullRequestWords(card)].join(" · ")),
      plan,
      step === "" ? undefined : plainContext(step),
      message === undefined ? undefined : plainSection(message),
      ...(asked === undefined ? questionBlocks(card) : [context(askedLine(asked))]),
      ...approvalBlocks(card),
      actions(card, asked),
    ].filter((block) => block !== undefined);
  const { environmentsLink } = card.workspace ?? {};
  const where = [workspaceLine(card), environmentsLink].filter(Boolean).join(" ");
  const pullRequest = [card.pullRequest, ...pullRequestWords(card)].filter(Boolean).join(" · ");
  const facts = [figures(card).join(" · "), where, pullRequest, lines, step];
  const said = [
    message,
    asked === undefined ? (card.question?.text ?? card.question?.title) : askedLine({ link: undefined }),
    card.approval?.text,
    ...facts,
  ].filter(Boolean);
  const heading = `${title} · ${words}`;
  return defined({
    marker,
    text: defuseMrkdwn(heading, MAX_FALLBACK),
    blocks: blocksWith(lines === "" ? undefined : plainSection(lines)),
    newer: lines === "" ? undefined : { subject: "plan" as const, blocks: blocksWith(planBlock(card)) },
    plainText: plainText({
      heading,
      text: said.join("\n"),
      sessionLink: card.sessionLink,
      max: MAX_PLAIN_CARD,
    }),
  });
}

/** Undefined if it only names the pull request, which has a line of its own. */
function endMessage(card: RunCard): string | undefined {
  const { pullRequest } = card;
  const message = messageOf(card);
  return pullRequest !== undefined && message?.endsWith(pullRequest) ? undefined : message;
}

function headingOf(card: RunCard): readonly [emoji: string, words: string] {
  const { shortfall, state } = card;
  return [shortfall === undefined ? EMOJI[state] : EMOJI.ERROR, stateWords(card)];
}

function workspaceBlocks(card: RunCard): types.KnownBlock[] {
  if (card.workspace === undefined) {
    return [];
  }
  const { environmentsLink } = card.workspace;
  const place = environmentsLink === undefined ? [] : [context(link(environmentsLink, "Environments"))];
  return [plainContext(workspaceLine(card)), ...place];
}

const TASK_STATUS: Readonly<Record<string, types.TaskCardBlock["status"]>> = {
  in_progress: "in_progress",
  completed: "complete",
};

/** https://docs.slack.dev/reference/block-kit/blocks/plan-block */
function planBlock(card: RunCard): types.PlanBlock {
  const { plan = [] } = card;
  const done = plan.filter(({ status }) => status === "completed").length;
  const { first, steps } = shownSteps(card);
  const tasks = steps.map(({ status, text }, index): types.TaskCardBlock => {
    const title = defuseLine(text, MAX_STEP);
    return {
      type: "task_card",
      task_id: `step-${first + index + 1}`,
      title,
      status: TASK_STATUS[status] ?? "pending",
    };
  });
  return { type: "plan", title: `Plan: ${done} of ${plan.length} steps done`, tasks };
}

function actions(card: RunCard, asked: AskedMessage | undefined): types.ActionsBlock {
  const { approval, question, runId, state } = card;
  const hash = approval?.inputsHash;
  const decisions = hash === undefined ? [] : approvalButtons(runId, hash);
  const options = question === undefined || asked !== undefined ? [] : optionButtons(runId, question);
  const open = openButton(safeUrl(card.sessionLink));
  const shown = [...options.slice(0, MAX_ACTIONS - decisions.length - 2), ...decisions];
  const mayRetry = state === "FAILED" || state === "ERROR" || state === "CANCELLED";
  const ended = mayRetry ? [...decisions, retryButton(runId)] : decisions;
  return {
    type: "actions",
    elements: isEnded(state) ? [...ended, open] : [...shown, open, stopButton(runId)],
  };
}

function askedLine({ link: url }: AskedMessage): string {
  return url === undefined
    ? "The agent asks a question in this thread."
    : `The agent asks a question. ${link(url, "Answer it")}.`;
}

/** What the call would do, and the agent's own words. */
function questionBlocks({ question, sessionLink }: RunCard): types.KnownBlock[] {
  if (question === undefined) {
    return [];
  }
  const rest =
    question.isOnlyOnPage === true ? [context(`${ONLY_ON_PAGE} ${link(sessionLink, "Open it")}.`)] : [];
  return [plainSection(`The agent asks: ${question.text ?? question.title}`), ...rest];
}

/** The text that waits for approval. Without the whole text here, people decide where they can read it. */
function approvalBlocks({ approval, sessionLink }: RunCard): types.KnownBlock[] {
  if (approval === undefined) {
    return [];
  }
  const heading = context(approvalHeading(approval));
  const words = approval.text === undefined ? [] : [plainSection(approval.text)];
  const rest =
    approval.inputsHash === undefined
      ? [context(`Approve or refuse it on ${link(sessionLink, "the page of the run")}.`)]
      : [];
  return [heading, ...words, ...rest];
}
