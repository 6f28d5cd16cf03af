import type { types } from "@slack/bolt";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseRunId, type RunId } from "../../core/basics/ids.ts";
import type { PermissionOption } from "../../core/model/runs/agent-update.ts";
import { RATINGS, type TurnRating } from "../../core/model/runs/events.ts";
import type { CardQuestion, TurnOfRun } from "../../core/model/threads/notice.ts";
import type { ButtonAction } from "../../core/ports/thread-adapter.ts";
import type { ChoiceOption, ChoiceSearch } from "../../core/threads/inbox/environment-choice.ts";
import { authorSubject } from "./addresses.ts";
import { workspaceOf } from "./bolt-app.ts";
import { defuseLine } from "./defuse.ts";

const OPEN = "errand_open";
const CANCEL = "errand_cancel";
const RETRY = "errand_retry";
const PERMISSION = "errand_permission";
const FILES = "errand_files";
const PULL_REQUEST = "errand_pull_request";
const RATE = "errand_rate";
const APPROVE = "errand_approve";
const REFUSE = "errand_refuse";
const CHOOSE = "errand_choose";
const MENU = `${CHOOSE}:menu:`;
const REMEMBER = "errand_remember";
/** The menu of environments in the form of a new run. */
export const FORM_MENU = "errand_form_environment";

/** The number of a turn. */
const TURN = /^\d{1,6}$/;
const MAX_LABEL = 75;
const MAX_VALUE = 2_000;
/** A block has 25 elements, and one is "Without a repository". More environments are in a menu. */
const MAX_CHOICES = 24;

/** Slack opens the address itself, and also reports that the button was pressed. */
export function openButton(url: string, text = "Open session"): types.Button {
  return { type: "button", action_id: OPEN, text: label(text), url };
}

export function stopButton(runId: RunId): types.Button {
  return { type: "button", action_id: CANCEL, text: label("Stop"), value: runId, style: "danger" };
}

export function retryButton(runId: RunId): types.Button {
  return { type: "button", action_id: RETRY, text: label("Retry"), value: runId };
}

/** Shows the files of a turn. */
export function filesButton({ runId, turn }: TurnOfRun): types.Button {
  return { type: "button", action_id: FILES, text: label("Files"), value: [runId, `${turn}`].join("|") };
}

export function pullRequestButton(runId: RunId): types.Button {
  return { type: "button", action_id: PULL_REQUEST, text: label("Create pull request"), value: runId };
}

/** Slack's own buttons for rating an answer: https://docs.slack.dev/reference/block-kit/blocks/context-actions-block */
export function ratingBlock(turn: TurnOfRun): types.ContextActionsBlock {
  const [positive, negative] = [ratingOf(turn, "good"), ratingOf(turn, "bad")];
  const element = { type: "feedback_buttons", action_id: RATE } as const;
  return {
    type: "context_actions",
    elements: [{ ...element, positive_button: positive, negative_button: negative }],
  };
}

/** For a workspace that refuses that block. */
export function ratingButtons(turn: TurnOfRun): types.Button[] {
  return RATINGS.map((rating) => {
    const { text, ...button } = ratingOf(turn, rating);
    const face = label(rating === "good" ? "👍" : "👎");
    return {
      type: "button",
      action_id: `${RATE}:${rating}`,
      ...button,
      text: face,
      accessibility_label: text.text,
    };
  });
}

function ratingOf({ runId, turn }: TurnOfRun, rating: TurnRating["rating"]) {
  const text = label(rating === "good" ? "Good answer" : "Bad answer");
  return { text, value: [runId, `${turn}`, rating].join("|") };
}

/** The buttons decide only about the words that the message shows. */
export function approvalButtons(runId: RunId, inputsHash: string): types.Button[] {
  const value = [runId, inputsHash].map(encode).join("|");
  return [
    { type: "button", action_id: APPROVE, text: label("Approve"), value, style: "primary" },
    { type: "button", action_id: REFUSE, text: label("Refuse"), value },
  ];
}

/** One button per option, without options whose ids do not fit. The session page shows all of them. */
export function optionButtons(
  runId: RunId,
  { permissionId, options }: Pick<CardQuestion, "permissionId" | "options">,
): types.Button[] {
  const buttons = options.map((option, index) =>
    optionButton([runId, permissionId, option.optionId], option, index),
  );
  return buttons.filter(({ value }) => (value ?? "").length <= MAX_VALUE);
}

function optionButton(ids: readonly string[], { name, kind }: PermissionOption, index: number): types.Button {
  return {
    type: "button",
    // Slack refuses two elements of one block with the same action id.
    action_id: `${PERMISSION}:${index}`,
    text: label(name),
    value: ids.map(encode).join("|"),
    ...defined({ style: kind.startsWith("allow") ? "primary" : undefined }),
  };
}

/** A button for each environment, or a menu of many, and whether the choice is to be remembered. */
export function choiceBlocks(requestId: string, options: readonly ChoiceOption[]): types.ActionsBlock[] {
  const choices =
    options.length > MAX_CHOICES
      ? [choiceMenu(requestId)]
      : options.map((option, index): types.Button => {
          const actionId = `${CHOOSE}:${index}`;
          return { type: "button", action_id: actionId, ...choiceOf(requestId, option) };
        });
  const none = {
    type: "button",
    action_id: CHOOSE,
    text: label("Without a repository"),
    value: requestId,
  } as const;
  const remember: types.Checkboxes = {
    type: "checkboxes",
    action_id: REMEMBER,
    options: [
      { text: label("Remember it for my requests"), value: "person" },
      { text: label("Remember it for this channel (administrators)"), value: "place" },
    ],
  };
  return [
    { type: "actions", elements: [remember] },
    { type: "actions", elements: [...choices, none] },
  ];
}

/** Slack asks for its options while the user types. */
function choiceMenu(requestId: string): types.ExternalSelect {
  return {
    type: "external_select",
    action_id: `${MENU}${requestId}`,
    placeholder: label("Choose an environment"),
    min_query_length: 0,
  };
}

/** The value of a button or of an option. */
export function choiceOf(
  requestId: string,
  { id, name }: ChoiceOption,
): { readonly text: types.PlainTextElement; readonly value: string } {
  return { text: label(name), value: [requestId, id].map(encode).join("|") };
}

/** The request that a menu is about; undefined if the menu is not from Errand. */
export function requestOfMenu(actionId: string): string | undefined {
  // The ids of events are made like those of runs.
  return actionId.startsWith(MENU) ? parseRunId(actionId.slice(MENU.length)) : undefined;
}

/** What the reader ticked in the message of a button: the values of all its checkboxes. */
export type Ticked = readonly string[];

/** What a button does; undefined if the button is not from Errand. */
export function parseButton(actionId: string, value: string, ticked: Ticked = []): ButtonAction | undefined {
  const [run = "", detail, optionId] = value.split("|").map(decode);
  if (actionId === CHOOSE || actionId.startsWith(`${CHOOSE}:`)) {
    return choiceIn(run, detail, ticked);
  }
  const runId = parseRunId(run);
  if (runId === undefined) {
    return undefined;
  }
  if (actionId === CANCEL) {
    return { kind: "cancel", runId };
  }
  if (actionId === RETRY) {
    return { kind: "retry", runId };
  }
  if (actionId === PULL_REQUEST) {
    return { kind: "pull_request", runId };
  }
  if (actionId === FILES) {
    return TURN.test(detail ?? "") ? { kind: "files", runId, turn: Number(detail) } : undefined;
  }
  if (actionId === RATE || actionId.startsWith(`${RATE}:`)) {
    const rating = RATINGS.find((one) => one === optionId);
    const isTurn = TURN.test(detail ?? "");
    return rating && isTurn ? { kind: "rate", runId, ratedTurn: Number(detail), rating } : undefined;
  }
  if (actionId === APPROVE || actionId === REFUSE) {
    return detail ? { kind: "approve", runId, inputsHash: detail, approve: actionId === APPROVE } : undefined;
  }
  const isPermission = actionId === PERMISSION || actionId.startsWith(`${PERMISSION}:`);
  if (!isPermission || !detail || !optionId) {
    return undefined;
  }
  return { kind: "answer", runId, permissionId: detail, optionId };
}

function choiceIn(id: string, environmentId: string | undefined, ticked: Ticked): ButtonAction | undefined {
  // The ids of events are made like those of runs.
  const requestId = parseRunId(id);
  const remember = (["place", "person"] as const).find((scope) => ticked.includes(scope));
  return requestId === undefined
    ? undefined
    : defined({
        kind: "choose",
        requestId,
        environmentId: environmentId ? environmentId : undefined,
        remember,
      });
}

/** `|` separates the ids in a value, so an id must not contain it. */
function encode(id: string): string {
  return id.replaceAll("%", "%25").replaceAll("|", "%7C");
}

function decode(part: string): string {
  return part.replaceAll("%7C", "|").replaceAll("%25", "%");
}

export function label(text: string): types.PlainTextElement {
  return { type: "plain_text", text: defuseLine(text, MAX_LABEL), emoji: false };
}

/** Slack shows at most this many. The user types more to find others. */
const MAX_OPTIONS = 100;

const menuSchema = z.object({
  action_id: z.string(),
  value: z.string().default(""),
  user: z.object({ id: z.string() }),
});

/** The options of the menu for which Slack asks. A menu that is not from Errand has none. */
export async function menuOptions(
  request: unknown,
  search: (search: ChoiceSearch) => Promise<readonly ChoiceOption[]>,
): Promise<readonly types.PlainTextOption[]> {
  const parsed = menuSchema.safeParse(request);
  const requestId = parsed.success ? requestOfMenu(parsed.data.action_id) : undefined;
  if (!parsed.success || (requestId === undefined && parsed.data.action_id !== FORM_MENU)) {
    return [];
  }
  const { user, value } = parsed.data;
  const { teamId: installation } = workspaceOf(request);
  const who = { adapter: "slack", installation, subject: authorSubject(installation, user.id) };
  const found = await search({ ...who, ...defined({ requestId }), query: value.trim() });
  return found
    .slice(0, MAX_OPTIONS)
    .map((option) =>
      requestId === undefined ? { text: label(option.name), value: option.id } : choiceOf(requestId, option),
    );
}
