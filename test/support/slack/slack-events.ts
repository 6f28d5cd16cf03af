import { randomBytes, randomUUID } from "node:crypto";
import type { JsonRecord } from "../json.ts";
import type { SlackApp, SlackChannel, SlackUser, SlackWorkspace, StoredMessage } from "./slack-workspace.ts";

export type SlackEvent = JsonRecord & { readonly type: string };

/** A message that a user wrote. It is in the emulator too. */
export interface PostedMessage {
  readonly ts: string;
  readonly text: string;
  readonly user: SlackUser;
  readonly channel: SlackChannel;
  readonly threadTs: string | undefined;
  readonly clientMsgId: string;
}

export interface EnvelopeOptions {
  readonly eventId?: string | undefined;
  readonly eventTime?: number | undefined;
  /** The workspace that shares the channel with others. */
  readonly sharedBy?: SlackWorkspace | undefined;
  /** The organization of the workspace, in which the app is installed as a whole. */
  readonly organizationId?: string | undefined;
}

/** Deprecated by Slack but still sent in every payload. */
const VERIFICATION_TOKEN = "verification-token-nobody-should-check";

export function messageEvent(message: PostedMessage): SlackEvent {
  return { ...sharedFields(message), type: "message", channel_type: message.channel.type };
}

export function appMentionEvent(message: PostedMessage): SlackEvent {
  return { ...sharedFields(message), type: "app_mention" };
}

const MESSAGES: Readonly<Record<string, string>> = {
  channel: "message.channels",
  group: "message.groups",
  im: "message.im",
  mpim: "message.mpim",
};

/** The name under which an app subscribes to the event. */
export function subscriptionOf({ channel_type: place, type }: SlackEvent): string {
  return type === "message" ? (MESSAGES[String(place)] ?? type) : type;
}

/** Sent once the message is posted, if the app has the domain of the addresses. */
export function linkSharedEvent(message: PostedMessage, urls: readonly string[]): SlackEvent {
  return {
    type: "link_shared",
    channel: message.channel.id,
    is_bot_user_member: true,
    user: message.user.id,
    message_ts: message.ts,
    ...(message.threadTs ? { thread_ts: message.threadTs } : {}),
    unfurl_id: `${message.channel.id}.${message.ts}.${randomBytes(8).toString("hex")}`,
    source: "conversations_history",
    links: urls.map((url) => ({ url, domain: new URL(url).hostname })),
    event_ts: message.ts,
  };
}

export function messageChangedEvent(edited: PostedMessage, previousText: string, editTs: string): SlackEvent {
  const { channel: _channel, event_ts: _eventTs, ...fields } = sharedFields(edited);
  const now = { ...fields, type: "message", edited: { user: edited.user.id, ts: editTs } };
  return {
    type: "message",
    subtype: "message_changed",
    message: now,
    previous_message: { ...fields, type: "message", text: previousText },
    channel: edited.channel.id,
    hidden: true,
    ts: editTs,
    event_ts: editTs,
    channel_type: edited.channel.type,
  };
}

/** Called before the message is deleted. */
export function messageDeletedEvent(deleted: PostedMessage): SlackEvent {
  const { ts: _ts, ...fields } = messageEvent(deleted);
  const at = `${Math.floor(Number(deleted.ts)) + 60}.000100`;
  return {
    type: "message",
    subtype: "message_deleted",
    previous_message: { ...fields, type: "message", ts: deleted.ts },
    channel: deleted.channel.id,
    hidden: true,
    deleted_ts: deleted.ts,
    ts: at,
    event_ts: at,
    channel_type: deleted.channel.type,
  };
}

export function botMessageEvent(
  workspace: SlackWorkspace,
  app: SlackApp,
  channel: SlackChannel,
  ts: string,
): SlackEvent {
  const { botId: id, teamId: team } = workspace;
  return {
    ...messageFields(storedMessage(workspace, channel, ts)),
    type: "message",
    app_id: app.appId,
    team,
    bot_profile: { id, app_id: app.appId, name: "Errand", team_id: team, deleted: false },
    channel: channel.id,
    channel_type: channel.type,
    event_ts: ts,
  };
}

export function eventEnvelope(
  workspace: SlackWorkspace,
  app: SlackApp,
  event: SlackEvent,
  { eventId, eventTime, organizationId, sharedBy }: EnvelopeOptions,
): JsonRecord {
  return {
    token: VERIFICATION_TOKEN,
    team_id: (sharedBy ?? workspace).teamId,
    context_team_id: workspace.teamId,
    context_enterprise_id: null,
    api_app_id: app.appId,
    event,
    type: "event_callback",
    event_id: eventId ?? `Ev${randomBytes(5).toString("hex").toUpperCase()}`,
    event_time: eventTime ?? Math.floor(Date.now() / 1_000),
    ...(organizationId !== undefined && { enterprise_id: organizationId }),
    authorizations: [
      {
        enterprise_id: organizationId ?? null,
        team_id: organizationId === undefined ? workspace.teamId : null,
        user_id: workspace.botUserId,
        is_bot: true,
        is_enterprise_install: organizationId !== undefined,
      },
    ],
    is_ext_shared_channel: sharedBy !== undefined,
    event_context: `4-${randomUUID()}`,
  };
}

export interface ButtonPress {
  readonly actionId: string;
  readonly value: string;
  readonly user: SlackUser;
  readonly message: { readonly channel: string; readonly ts: string };
  readonly blockId?: string;
  /** The values of the boxes that the user ticked in the message before. */
  readonly ticked?: readonly string[];
  /** What holds the value. Default: a button. `menu`: an option of a menu. */
  readonly element?: "button" | "menu" | "feedback_buttons";
}

function ticksOf(values: readonly string[]): JsonRecord {
  return { type: "checkboxes", selected_options: values.map((value) => ({ value })) };
}

/** The `block_actions` payload of a button of one of the bot's messages. */
export function buttonPayload(
  workspace: SlackWorkspace,
  app: SlackApp,
  press: ButtonPress,
  responseUrl: string,
): JsonRecord {
  const { user, message } = press;
  const channel = workspace.channel(message.channel);
  const stored = storedMessage(workspace, channel, message.ts);
  return {
    type: "block_actions",
    user: { id: user.id, username: user.name, name: user.name, team_id: user.teamId },
    api_app_id: app.appId,
    token: VERIFICATION_TOKEN,
    container: {
      type: "message",
      message_ts: message.ts,
      channel_id: channel.id,
      is_ephemeral: false,
      ...(stored.thread_ts ? { thread_ts: stored.thread_ts } : {}),
    },
    trigger_id: newTriggerId(),
    team: { id: workspace.teamId, domain: workspace.domain },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel.id, name: channel.name },
    message: { type: "message", team: workspace.teamId, ...messageFields(stored) },
    state: { values: press.ticked === undefined ? {} : { ticks: { ticks: ticksOf(press.ticked) } } },
    response_url: responseUrl,
    actions: [
      {
        ...pressedElement(press),
        action_id: press.actionId,
        block_id: press.blockId ?? "actions",
        action_ts: (Date.now() / 1_000).toFixed(6),
      },
    ],
  };
}

function pressedElement({ actionId, element = "button", value }: ButtonPress): JsonRecord {
  const text = { type: "plain_text", text: actionId, emoji: true };
  return element === "menu"
    ? { type: "external_select", selected_option: { text, value } }
    : { type: element, text, value };
}

/** What a user typed in a menu of one of the bot's messages. */
export interface MenuSearch extends Pick<ButtonPress, "actionId" | "message" | "user"> {
  readonly words: string;
}

/** The `block_suggestion` payload: https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload */
export function menuSearchPayload(
  workspace: SlackWorkspace,
  app: SlackApp,
  { actionId, message, user, words }: MenuSearch,
): JsonRecord {
  const channel = workspace.channel(message.channel);
  return {
    type: "block_suggestion",
    user: { id: user.id, username: user.name, name: user.name, team_id: user.teamId },
    container: { type: "message", message_ts: message.ts, channel_id: channel.id, is_ephemeral: false },
    api_app_id: app.appId,
    token: VERIFICATION_TOKEN,
    action_id: actionId,
    block_id: "actions",
    value: words,
    team: { id: workspace.teamId, domain: workspace.domain },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel.id, name: channel.name },
  };
}

export interface SlashCommand {
  readonly command: string;
  readonly text: string;
  readonly user: SlackUser;
  readonly channel: string;
}

export function slashCommandForm(
  workspace: SlackWorkspace,
  app: SlackApp,
  { channel, command, text, triggerId, user }: SlashCommand & { readonly triggerId: string },
  responseUrl: string,
): Record<string, string> {
  const { id, name } = workspace.channel(channel);
  return {
    token: VERIFICATION_TOKEN,
    team_id: workspace.teamId,
    team_domain: workspace.domain,
    channel_id: id,
    channel_name: name,
    user_id: user.id,
    user_name: user.name,
    command,
    text,
    api_app_id: app.appId,
    is_enterprise_install: "false",
    response_url: responseUrl,
    trigger_id: triggerId,
  };
}

export function urlVerification(challenge: string): JsonRecord {
  return { token: VERIFICATION_TOKEN, challenge, type: "url_verification" };
}

function sharedFields(message: PostedMessage): JsonRecord {
  return {
    user: message.user.id,
    ts: message.ts,
    client_msg_id: message.clientMsgId,
    text: message.text,
    team: message.user.teamId,
    ...(message.threadTs ? { thread_ts: message.threadTs } : {}),
    blocks: [{ type: "rich_text", block_id: "person", elements: [richText(message.text)] }],
    channel: message.channel.id,
    event_ts: message.ts,
  };
}

function richText(text: string): JsonRecord {
  const parts = text.split(/(<@U\w+>)/).filter((part) => part !== "");
  const elements = parts.map((part) => {
    const userId = /^<@(U\w+)>$/.exec(part)?.[1];
    return userId ? { type: "user", user_id: userId } : { type: "text", text: part };
  });
  return { type: "rich_text_section", elements };
}

function storedMessage(workspace: SlackWorkspace, channel: SlackChannel, ts: string): StoredMessage {
  const stored = workspace.messages(channel.id).find((message) => message.ts === ts);
  if (!stored) {
    throw new Error(`No message ${ts} in ${channel.name}`);
  }
  return stored;
}

function messageFields({ ts, text, user, bot_id, thread_ts, blocks }: StoredMessage): JsonRecord {
  return { ts, text, user, bot_id, thread_ts, blocks };
}

export function newTriggerId(): string {
  return `${Date.now()}.${randomBytes(6).toString("hex")}`;
}
