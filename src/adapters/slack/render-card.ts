import type { types } from "@slack/bolt";
import { defined } from "../../core/basics/defined.ts";
import { isEnded, type RunState } from "../../core/model/runs/states.ts";
import { ONLY_ON_PAGE, type RunCard } from "../../core/model/threads/notice.ts";
import {
  figures,
  planLines,
  pullRequestWords,
  STATE_WORDS,
  shownSteps,
  UNAPPROVED,
  workspaceLine,
} from "../card-words.ts";
import {
  context,
  header,
  link,
  MAX_FALLBACK,
  MAX_HEADER,
  plainContext,
  plainSection,
  plainText,
  type Rendered,
  safeUrl,
} from "./blocks.ts";
import { approvalButtons, openButton, optionButtons, retryButton, stopButton } from "./buttons.ts";
import { defuseLine, defuseMrkdwn } from "./defuse.ts";
import type { Marker } from "./marker.ts";

const MAX_ACTIONS = 25;
const MAX_STEP = 150;
/** chat.update refuses longer texts, although chat.postMessage accepts them. */
const MAX_PLAIN_TEXT = 3_900;

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

export function renderCard(card: RunCard, marker: Marker): Rendered {
  const [emoji, words] = headingOf(card);
  const title = defuseLine(`${emoji} ${card.title}`, MAX_HEADER);
  const lines = planLines(card, (text) => defuseLine(text, MAX_STEP)).join("\n");
  const step = card.step === undefined ? "" : `Now: ${defuseLine(card.step, MAX_STEP)}`;
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
      card.message === undefined ? undefined : plainSection(card.message),
      ...questionBlocks(card),
      ...approvalBlocks(card),
      actions(card),
    ].filter((block) => block !== undefined);
  const { environmentsLink } = card.workspace ?? {};
  const where = [workspaceLine(card), environmentsLink].filter(Boolean).join(" ");
  const pullRequest = [card.pullRequest, ...pullRequestWords(card)].filter(Boolean).join(" · ");
  const facts = [figures(card).join(" · "), where, pullRequest, lines, step];
  const said = [
    card.message,
    card.question?.text ?? card.question?.title,
    card.approval?.text,
    ...facts,
  ].filter(Boolean);
  const heading = `${title} · ${words}`;
  return defined({
    marker,
    text: defuseMrkdwn(heading, MAX_FALLBACK),
    blocks: blocksWith(lines === "" ? undefined : plainSection(lines)),
    planBlocks: lines === "" ? undefined : blocksWith(planBlock(card)),
    plainText: plainText({
      heading,
      text: said.join("\n"),
      sessionLink: card.sessionLink,
      max: MAX_PLAIN_TEXT,
    }),
  });
}

function headingOf(card: RunCard): readonly [emoji: string, words: string] {
  const { shortfall, state } = card;
  if (isUnapproved(card)) {
    return [EMOJI.BLOCKED, UNAPPROVED];
  }
  return shortfall === undefined ? [EMOJI[state], STATE_WORDS[state]] : [EMOJI.ERROR, shortfall];
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
  const what = approval.isFollowUp ? "This follow-up waits for approval:" : "This waits for approval:";
  const heading = context(approval.text === undefined ? "A private follow-up waits for approval." : what);
  const words = approval.text === undefined ? [] : [plainSection(approval.text)];
  const rest =
    approval.inputsHash === undefined
      ? [context(`Approve or refuse it on ${link(sessionLink, "the page of the run")}.`)]
      : [];
  return [heading, ...words, ...rest];
}

/** A run that waits for approval has no question. */
function isUnapproved({ question, state }: RunCard): boolean {
  return state === "BLOCKED" && question === undefined;
}
