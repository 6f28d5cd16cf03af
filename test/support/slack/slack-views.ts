import { asRecord, isRecord, type JsonRecord } from "../json.ts";
import type { ShownView, SlackApp, SlackUser, SlackWorkspace } from "./slack-workspace.ts";

/** What a person wrote or chose in the fields of a modal, by block. */
export type FormValues = Readonly<Record<string, string>>;

const SUBMIT_TEXT_MAX = 24;
const MODAL_BLOCKS_MAX = 100;
const METADATA_MAX = 3_000;
const PLAIN_TEXT_MAX = 75;
const OPTIONS_MAX = 100;

/** The error that Slack would answer to this view: https://docs.slack.dev/reference/views. Undefined if it is valid. */
export function viewError(text: string | undefined): string | undefined {
  const view: unknown = JSON.parse(text ?? "null");
  if (!isRecord(view) || !Array.isArray(view.blocks)) {
    return "invalid_arguments";
  }
  const metadata = String(view.private_metadata ?? "");
  const blocks = view.blocks.map(asRecord);
  if (blocks.length > MODAL_BLOCKS_MAX || metadata.length > METADATA_MAX) {
    return "view_too_large";
  }
  const hasInput = blocks.some(({ type }) => type === "input");
  const texts = [view.title, view.submit, view.close].filter(isRecord).map((one) => String(one.text));
  const isLong = texts.some((one) => one.length > SUBMIT_TEXT_MAX);
  const isValid = blocks.every(isValidInput) && !isLong && !(hasInput && view.submit === undefined);
  return isValid ? undefined : "invalid_arguments";
}

function isValidInput({ element, label, type }: JsonRecord): boolean {
  if (type !== "input") {
    return true;
  }
  const { initial_value: start, max_length: max, options } = asRecord(element);
  const fits = typeof start !== "string" || start.length <= Number(max ?? METADATA_MAX);
  const choices = Array.isArray(options) ? options.map(asRecord) : undefined;
  const hasRoom = choices === undefined || (choices.length > 0 && choices.length <= OPTIONS_MAX);
  const words = (choices ?? []).map((one) => String(asRecord(one.text).text));
  return fits && hasRoom && isRecord(label) && words.every((one) => one.length <= PLAIN_TEXT_MAX);
}

/** The `message_action` payload of a message shortcut. */
export function shortcutPayload(
  workspace: SlackWorkspace,
  app: SlackApp,
  shortcut: {
    readonly callbackId: string;
    readonly user: SlackUser;
    readonly channel: { readonly id: string; readonly name: string };
    readonly message: JsonRecord & { readonly ts: string };
    readonly triggerId: string;
  },
): JsonRecord {
  const { callbackId, channel, message, triggerId, user } = shortcut;
  return {
    type: "message_action",
    token: "verification-token-nobody-should-check",
    action_ts: (Number(message.ts) + 60).toFixed(6),
    team: { id: workspace.teamId, domain: workspace.domain },
    user: { id: user.id, name: user.name, team_id: user.teamId },
    channel: { id: channel.id, name: channel.name },
    is_enterprise_install: false,
    enterprise: null,
    callback_id: callbackId,
    trigger_id: triggerId,
    message_ts: message.ts,
    message: { type: "message", ...message },
    api_app_id: app.appId,
  };
}

/** The `view_submission` payload of a modal with these values. */
export function submissionPayload(
  workspace: SlackWorkspace,
  app: SlackApp,
  {
    triggerId,
    user,
    values,
    view,
  }: {
    readonly user: SlackUser;
    readonly view: ShownView;
    readonly values: FormValues;
    readonly triggerId: string;
  },
): JsonRecord {
  const inputs = view.blocks.filter(({ type }) => type === "input");
  const states = inputs.map(({ block_id: block, element }) => {
    const { action_id: actionId, initial_value: start, type } = asRecord(element);
    const value = values[String(block)] ?? (typeof start === "string" ? start : null);
    const chosen = value === null ? null : { text: { type: "plain_text", text: value }, value };
    const state = type === "plain_text_input" ? { type, value } : { type, selected_option: chosen };
    return [block, { [String(actionId)]: state }];
  });
  return {
    type: "view_submission",
    team: { id: workspace.teamId, domain: workspace.domain },
    user: { id: user.id, username: user.name, name: user.name, team_id: user.teamId },
    api_app_id: app.appId,
    token: "verification-token-nobody-should-check",
    trigger_id: triggerId,
    view: {
      id: view.id,
      team_id: workspace.teamId,
      type: view.type,
      callback_id: view.callbackId,
      private_metadata: view.privateMetadata,
      blocks: view.blocks,
      state: { values: Object.fromEntries(states) },
      hash: "1.a",
      app_id: app.appId,
      bot_id: workspace.botId,
    },
    response_urls: [],
    is_enterprise_install: false,
    enterprise: null,
  };
}

/** The `block_actions` payload of a button of the Home tab. */
export function homeButtonPayload(
  workspace: SlackWorkspace,
  app: SlackApp,
  {
    actionId,
    triggerId,
    user,
  }: {
    readonly user: SlackUser;
    readonly actionId: string;
    readonly triggerId: string;
  },
): JsonRecord {
  return {
    type: "block_actions",
    user: { id: user.id, username: user.name, team_id: user.teamId },
    api_app_id: app.appId,
    token: "verification-token-nobody-should-check",
    container: { type: "view", view_id: "V0HOME" },
    trigger_id: triggerId,
    team: { id: workspace.teamId, domain: workspace.domain },
    enterprise: null,
    is_enterprise_install: false,
    view: { id: "V0HOME", type: "home", callback_id: "" },
    actions: [
      {
        type: "button",
        action_id: actionId,
        block_id: "actions",
        action_ts: (Date.now() / 1_000).toFixed(6),
      },
    ],
  };
}
