import type { types } from "@slack/bolt";
import { z } from "zod";
import { cutText } from "../../core/basics/clean-text.ts";
import { defined } from "../../core/basics/defined.ts";
import { listText } from "../../core/basics/list-text.ts";
import type { Author, InboundMessage, Translation } from "../../core/ports/thread-adapter.ts";
import { authorSubject, isDirect, messageIdOf, permalinkOf, threadKeyOf } from "./addresses.ts";
import { parseButton } from "./buttons.ts";
import { remedyOf } from "./errors.ts";
import { type Bot, isBot } from "./identity.ts";
import { type IncomingMessage, readDeletion, readIncomingMessage } from "./incoming-message.ts";
import {
  hasMention,
  mentionedUsers,
  readableText,
  startsWithOtherMention,
  withoutMention,
} from "./mention.ts";
import { provenanceOf } from "./provenance.ts";

/** The reaction ❌ to a request stops its run. */
export const STOP_REACTION = "x";
const APP_UNINSTALLED: types.SlackEvent["type"] = "app_uninstalled";
const ACCESS_REVOKED: types.SlackEvent["type"] = "team_access_revoked";

/** Subtypes of messages that a user or another app wrote. All others are Slack's own notes: joins, topics, deletions. */
const SPOKEN_SUBTYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  // Workflows and incoming webhooks, which have no user.
  "bot_message",
  "file_share",
  "me_message",
  "thread_broadcast",
]);

// Slackbot's profile is not a bot's, and its messages have no `bot_id`.
const SLACKBOT = "USLACKBOT";

/** The request of a message that has no words. Without it, the message would be empty, which asks for help. */
const FILES_ONLY = "See the attached files.";
const ATTACHED_ONLY = "See the attached messages.";

const text = z.string().optional().catch(undefined);
const envelopeSchema = z.object({
  api_app_id: text,
  event_id: text,
  is_ext_shared_channel: z.boolean().optional().catch(undefined),
});
const reactionSchema = z.object({
  user: z.string(),
  reaction: z.string(),
  item: z.object({ type: z.literal("message"), channel: z.string(), ts: z.string() }),
});
const ticks = z.object({ selected_options: z.array(z.object({ value: z.string() })).optional() });
const stateSchema = z
  .object({ values: z.record(z.string(), z.record(z.string(), ticks)) })
  .optional()
  .catch(undefined);
const buttonSchema = z.object({
  state: stateSchema,
  user: z.object({ id: z.string() }),
  channel: z.object({ id: z.string() }),
  message: z.object({ ts: z.string(), thread_ts: z.string().optional() }),
  actions: z.array(
    z.object({
      action_id: z.string(),
      value: z.string().default(""),
      selected_option: z.object({ value: z.string() }).optional().catch(undefined),
      action_ts: z.string(),
    }),
  ),
});

const removalSchema = z.object({
  type: z.string(),
  tokens: z.object({ bot: z.array(z.string()).optional() }).optional(),
  team_ids: z.array(z.string().min(1)).optional().catch(undefined),
});

/** The app lost its access. Slack refuses to say who the bot is by then. */
export function translateRemoval(event: unknown, installation: string): Translation {
  const { team_ids: teams = [], tokens, type } = removalSchema.parse(event);
  if (type === ACCESS_REVOKED) {
    const reason =
      "The organization no longer lets the app into these workspaces. Its administrators can add them again.";
    return teams.length === 0
      ? ignored("No workspace lost the app.")
      : { kind: "removal", installations: teams, reason };
  }
  const isUninstalled = type === APP_UNINSTALLED;
  // Tokens of users are not those of Errand.
  if (!isUninstalled && (tokens?.bot ?? []).length === 0) {
    return ignored("Tokens that Errand does not use were revoked.");
  }
  const what = isUninstalled ? "The app was uninstalled from its workspace." : "The app's token was revoked.";
  return {
    kind: "removal",
    installations: [installation],
    reason: `${what} ${remedyOf("token_revoked")}`,
  };
}

/** The `app_mention` and `message` events of one message give the same translation. */
export function translateMessage(event: unknown, bot: Bot, body: unknown): Translation {
  const deleted = readDeletion(event);
  if (deleted !== undefined) {
    const { channel, ts, version } = deleted;
    const messageId = messageIdOf({ teamId: bot.teamId, channel, ts, ...envelopeOf(body) });
    const installation = bot.teamId;
    return {
      kind: "deletion",
      deletion: { adapter: "slack", installation, messageId, messageRef: ts, version },
    };
  }
  const incoming = readIncomingMessage(event);
  if (incoming === undefined) {
    return ignored("A message without what every message has.");
  }
  const reason = reasonToIgnore(incoming);
  if (reason !== undefined) {
    return ignored(reason);
  }
  const { botId, userId = botId } = incoming;
  const envelope = envelopeOf(body);
  const sender = ownSenderOf(incoming, bot, envelope);
  if (sender !== undefined || userId === undefined) {
    return ignored(`A message of ${sender ?? "no user"}.`);
  }
  const addressed = addressedBy(incoming, bot);
  if (addressed === undefined) {
    return ignored("A message in the channel that does not mention the bot.");
  }
  if (addressed === "reply" && botId !== undefined) {
    return ignored(`A reply of another app (${botId}) that does not mention the bot.`);
  }
  if (addressed === "reply" && startsWithOtherMention(incoming.text, bot)) {
    return ignored("A reply that addresses another user.");
  }
  return {
    kind: "message",
    message: messageOf({ ...incoming, userId }, { addressed, bot, ...envelope }),
  };
}

export function translateReaction(event: unknown, bot: Bot, body: unknown): Translation {
  const parsed = reactionSchema.safeParse(event);
  if (!parsed.success || parsed.data.reaction !== STOP_REACTION || isBot(bot, parsed.data.user)) {
    return ignored("A reaction that asks for nothing.");
  }
  const { item, user } = parsed.data;
  const { teamId } = bot;
  const messageId = messageIdOf({ teamId, ...item, ...envelopeOf(body) });
  const subject = authorSubject(teamId, user);
  return { kind: "stop", stop: { adapter: "slack", installation: teamId, messageId, subject } };
}

const stoppedSchema = z.object({
  channel: z.string(),
  user: z.string(),
  thread_ts: z.string(),
  event_ts: z.string(),
});

/** The Stop of a session is the word `stop` in its thread. */
export function translateStop(event: unknown, { teamId }: Bot, body: unknown): Translation {
  const parsed = stoppedSchema.safeParse(event);
  if (!parsed.success) {
    return ignored("A Stop without its thread.");
  }
  const { channel, event_ts: version, thread_ts: ts, user: userId } = parsed.data;
  const location = { teamId, channel, ts, threadTs: ts };
  return {
    kind: "message",
    message: {
      adapter: "slack",
      installation: teamId,
      key: threadKeyOf(location),
      place: channel,
      dedupeKey: `${messageIdOf({ ...location, ...envelopeOf(body) })}:stopped:${userId}:${version}`,
      addressed: "mention",
      author: { subject: authorSubject(teamId, userId) },
      text: "stop",
      messageRef: "",
      provenance: provenanceOf(location, { userId, content: "stop", action: "pressed", version }),
    },
  };
}

function reasonToIgnore({ isRepeatedMention, isTextEdited, subtype }: IncomingMessage): string | undefined {
  // Only the message_changed event has the text before the edit: https://github.com/slackapi/bolt-js/issues/960
  if (isRepeatedMention) {
    return "An edit; its message_changed event decides.";
  }
  if (!isTextEdited) {
    return "A change that leaves the text as it is.";
  }
  return SPOKEN_SUBTYPES.has(subtype) ? undefined : `Nobody spoke: ${subtype}.`;
}

function addressedBy(incoming: IncomingMessage, bot: Bot): InboundMessage["addressed"] | undefined {
  // app_mention has no channel_type.
  if (incoming.channelType === "im" || isDirect(incoming.channel)) {
    return "direct";
  }
  if (hasMention(incoming.text, bot)) {
    return "mention";
  }
  const { action, textBefore, threadTs, ts } = incoming;
  // An edit may take the mention out of a request. Slack gives the first message of a thread its own `thread_ts`.
  const mayBeRequest = action === "edited" && (textBefore === undefined || hasMention(textBefore, bot));
  return (threadTs === undefined || threadTs === ts) && !mayBeRequest ? undefined : "reply";
}

/** Identifies the bot itself by id, because names are not unique. Its app can also have incoming webhooks. */
function ownSenderOf(
  { appId, botId, isOfErrand, userId }: IncomingMessage,
  bot: Bot,
  envelope: Envelope,
): string | undefined {
  const isOfApp = appId !== undefined && appId === envelope.appId && botId !== undefined;
  if (isBot(bot, userId) || isBot(bot, botId) || isOfApp) {
    return "the bot itself";
  }
  if (isOfErrand && botId !== undefined) {
    return "another Errand";
  }
  return userId === SLACKBOT ? "Slackbot" : undefined;
}

interface Envelope {
  /** The app that gets the event: this one. */
  readonly appId: string | undefined;
  readonly eventId: string | undefined;
  /** Another organization takes part in the channel. */
  readonly isShared: boolean | undefined;
}

function envelopeOf(body: unknown): Envelope {
  const parsed = envelopeSchema.parse(body);
  const { api_app_id: appId, event_id: eventId, is_ext_shared_channel: isShared } = parsed;
  return { appId, eventId, isShared };
}

interface MessageFacts extends Envelope {
  readonly addressed: InboundMessage["addressed"];
  readonly bot: Bot;
}

function messageOf(
  incoming: IncomingMessage & { readonly userId: string },
  { addressed, bot, eventId, isShared }: MessageFacts,
): InboundMessage {
  const { action, attached, botId, channel, files, text: content, threadTs, ts, userId, version } = incoming;
  const { teamId, workspaceUrl } = bot;
  const location = { teamId, channel, ts, threadTs };
  const messageId = messageIdOf({ ...location, isShared });
  const permalink = permalinkOf(location, workspaceUrl);
  const others = mentionedUsers(content).filter((id) => !isBot(bot, id) && id !== userId);
  const instead = attached.length > 0 ? ATTACHED_ONLY : files.length > 0 ? FILES_ONLY : "";
  const isInvitation = addressed === "mention" && others.length > 0;
  return defined({
    adapter: "slack",
    installation: teamId,
    key: threadKeyOf(location),
    place: channel,
    dedupeKey: `${messageId}:${action}:${version}`,
    addressed,
    author: authorOf(teamId, { botId, userId, hasAccount: botId !== userId }),
    mentions: isInvitation ? others.map((id) => authorSubject(teamId, id)) : undefined,
    text: withoutMention(content, bot) || instead,
    context: attached.length === 0 ? undefined : attached.map((one) => readableText(one, bot)).join("\n\n"),
    files: files.length === 0 ? undefined : files,
    unread: incoming.unread.length === 0 ? undefined : [unreadText(incoming.unread)],
    messageRef: ts,
    revision: { messageId, version, isEdit: action === "edited" },
    permalink,
    provenance: provenanceOf(location, { userId, content, eventId, action, isShared, version }),
  });
}

const UNREAD_MAX = 5;
const UNREAD_LENGTH_MAX = 100;

function unreadText(unread: readonly string[]): string {
  const named = unread
    .slice(0, UNREAD_MAX)
    .map((what) => cutText(what.replaceAll("\n", " "), UNREAD_LENGTH_MAX));
  return `I could not read these parts of the message: ${listText(named, unread.length)}.`;
}

interface Sender {
  readonly botId: string | undefined;
  readonly userId: string;
  readonly hasAccount: boolean;
}

/** An app that posts with the token of a user also has the id of that user. Its messages are not the user's. */
function authorOf(teamId: string, { botId, hasAccount, userId }: Sender): Author {
  return botId === undefined
    ? { subject: authorSubject(teamId, userId) }
    : defined({
        subject: authorSubject(teamId, botId),
        isBot: true,
        botId,
        isByNameOnly: hasAccount ? undefined : true,
      });
}

/** A button of one of the bot's messages. */
export function translateButton(payload: unknown, { teamId }: Bot): Translation {
  const parsed = buttonSchema.safeParse(payload);
  if (!parsed.success) {
    return ignored("Not a button of a message.");
  }
  const { user, channel, message, actions, state } = parsed.data;
  const [pressed] = actions;
  if (pressed === undefined) {
    return ignored("No button was pressed.");
  }
  const { action_id: actionId, action_ts: version, selected_option: selected } = pressed;
  const content = selected?.value ?? pressed.value;
  const elements = Object.values(state?.values ?? {}).flatMap((block) => Object.values(block));
  const ticked = elements.flatMap(({ selected_options: options = [] }) => options.map(({ value }) => value));
  const buttonAction = parseButton(actionId, content, ticked);
  if (buttonAction === undefined) {
    return ignored(`No button of Errand: ${actionId}.`);
  }
  const location = { teamId, channel: channel.id, ts: message.ts, threadTs: message.thread_ts };
  return {
    kind: "message",
    message: {
      adapter: "slack",
      installation: teamId,
      key: threadKeyOf(location),
      place: channel.id,
      dedupeKey: `slack:${teamId}/${channel.id}/${message.ts}:pressed:${user.id}:${version}`,
      addressed: "mention",
      author: { subject: authorSubject(teamId, user.id) },
      text: "",
      messageRef: message.ts,
      buttonAction,
      provenance: provenanceOf(location, { userId: user.id, content, action: "pressed", version }),
    },
  };
}

function ignored(reason: string): Translation {
  return { kind: "ignored", reason };
}
