import type { ConversationsRepliesResponse, WebClient } from "@slack/web-api";
import type { GatheredContext, GatherPurpose, InboundMessage } from "../../core/threads/thread-adapter.ts";
import { callSlack } from "./client.ts";
import type { Bot } from "./identity.ts";
import { hasMention, withoutMention } from "./mention.ts";
import { parseThreadKey } from "./thread-key.ts";

type ThreadMessage = NonNullable<ConversationsRepliesResponse["messages"]>[number] & { readonly ts: string };

const MESSAGES_MAX = 50;
const CHARACTERS_MAX = 16_000;
const MESSAGE_CHARACTERS_MAX = 4_000;
/** The heading and the line that says how many messages are left out. */
const FRAME_CHARACTERS_MAX = 200;
const PAGE_SIZE = 200;
const PAGES_MAX = 5;
/** Each unknown name is one more call. */
const NAMES_MAX = 10;

const CUT = "… [cut]";
const HEADING = "Earlier messages of this Slack thread, the oldest first. Each one begins with its author:";

/**
 * The messages of the thread before this one: the first message and the newest others. A message that was changed
 * after the request is not quoted, because nobody asked with these words in view.
 */
export async function readThread(
  client: WebClient,
  bot: Bot,
  message: InboundMessage,
  { isFollowUp }: GatherPurpose,
): Promise<GatheredContext> {
  const { channel, threadTs } = parseThreadKey(message.key);
  if (message.addressed !== "mention" || threadTs === undefined || threadTs === message.messageRef) {
    return {};
  }
  const { isWhole, messages } = await messagesBefore(client, { channel, threadTs, ts: message.messageRef });
  const known = isFollowUp ? afterLastRequest(messages, bot) : messages;
  const candidates = firstAndNewest(known);
  const names = await namesOf(client, candidates, bot);
  const quotes = candidates.map((one) => quoted(one, { bot, names, until: message.messageRef }));
  const shown = withinLimit(quotes);
  const unread = isWhole
    ? []
    : [`I read only the first ${PAGE_SIZE * PAGES_MAX} messages of this thread, because it is longer.`];
  const [first, ...others] = shown;
  if (first === undefined) {
    return { unread };
  }
  const left = known.length - shown.length;
  const gap = left === 0 ? [] : [`(${left} messages after the first one are left out.)`];
  return { context: [HEADING, first, ...gap, ...others].join("\n"), unread };
}

interface Request {
  readonly channel: string;
  readonly threadTs: string;
  /** The message that asks. */
  readonly ts: string;
}

async function messagesBefore(
  client: WebClient,
  { channel, threadTs, ts }: Request,
): Promise<{ readonly messages: readonly ThreadMessage[]; readonly isWhole: boolean }> {
  const found = new Map<string, ThreadMessage>();
  const request = { channel, ts: threadTs, latest: ts, inclusive: false, limit: PAGE_SIZE };
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const call = client.conversations.replies(cursor === undefined ? request : { ...request, cursor });
    const answer = await callSlack("conversations.replies", call);
    for (const message of answer.messages ?? []) {
      // Slack repeats the first message on every page.
      if (message.ts !== undefined && message.ts < ts) {
        found.set(message.ts, { ...message, ts: message.ts });
      }
    }
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) {
      break;
    }
  }
  const messages = [...found.values()].sort((one, other) => (one.ts < other.ts ? -1 : 1));
  return { messages, isWhole: cursor === undefined };
}

/** The agent of a run knows the thread up to the last request, and its own words. */
function afterLastRequest(messages: readonly ThreadMessage[], bot: Bot): readonly ThreadMessage[] {
  const last = messages.findLastIndex(
    ({ text = "", user }) => user !== bot.userId && hasMention(text, bot.userId),
  );
  return messages.slice(last + 1).filter((message) => !isOwn(message, bot));
}

function firstAndNewest(messages: readonly ThreadMessage[]): readonly ThreadMessage[] {
  const [root, ...others] = messages;
  return root === undefined ? [] : [root, ...others.slice(1 - MESSAGES_MAX)];
}

/** The first quote and the newest others that fit. */
function withinLimit(quotes: readonly string[]): readonly string[] {
  const [root, ...others] = quotes;
  if (root === undefined) {
    return [];
  }
  let characters = FRAME_CHARACTERS_MAX + root.length;
  const kept: string[] = [];
  for (const quote of others.reverse()) {
    characters += quote.length + 1;
    if (characters > CHARACTERS_MAX) {
      break;
    }
    kept.unshift(quote);
  }
  return [root, ...kept];
}

interface Quoting {
  readonly bot: Bot;
  readonly names: ReadonlyMap<string, string>;
  readonly until: string;
}

/** Lines of a message are indented, so that its text cannot pass for another message. */
function quoted(message: ThreadMessage, { bot, names, until }: Quoting): string {
  const author = isOwn(message, bot) ? "the bot" : authorOf(message, names);
  const files = (message.files ?? []).map(({ name = "a file" }) => `[file: ${name}]`);
  const isLater = message.edited?.ts !== undefined && message.edited.ts > until;
  const words = isLater
    ? "[changed after the request, so its words are left out]"
    : wordsOf(message, bot, names);
  const text = [words, ...files].filter((part) => part !== "").join("\n");
  const quote = `${author}:\n${text.replace(/^/gm, "    ")}`;
  return quote.length > MESSAGE_CHARACTERS_MAX
    ? `${quote.slice(0, MESSAGE_CHARACTERS_MAX - CUT.length).toWellFormed()}${CUT}`
    : quote;
}

function wordsOf({ text = "" }: ThreadMessage, bot: Bot, names: Quoting["names"]): string {
  const named = text.replace(/<@([UW][A-Z0-9]+)>/g, (mention, id: string) =>
    names.has(id) ? `<@${id}|${names.get(id)}>` : mention,
  );
  return withoutMention(named, bot.userId);
}

function authorOf(
  { bot_id: botId, bot_profile: profile, user = "" }: ThreadMessage,
  names: Quoting["names"],
): string {
  if (botId !== undefined) {
    return `the app ${line(profile?.name ?? "")} (${botId})`;
  }
  const name = names.get(user);
  return name === undefined ? user : `${line(name)} (${user})`;
}

function line(name: string): string {
  return name.replace(/\s+/g, " ");
}

/** The names of the authors. A name that Slack does not tell is left out: the id stays. */
async function namesOf(
  client: WebClient,
  messages: readonly ThreadMessage[],
  bot: Bot,
): Promise<ReadonlyMap<string, string>> {
  const people = messages.filter((message) => !isOwn(message, bot) && message.bot_id === undefined);
  const ids = [...new Set(people.flatMap(({ user }) => (user === undefined ? [] : [user])))].slice(
    0,
    NAMES_MAX,
  );
  const names = new Map<string, string>();
  await Promise.all(
    ids.map(async (id) => {
      const answer = await client.users.info({ user: id }).catch(() => undefined);
      const name = answer?.user?.profile?.display_name || answer?.user?.real_name || answer?.user?.name;
      if (name) {
        names.set(id, name);
      }
    }),
  );
  return names;
}

function isOwn({ bot_id: botId, user }: ThreadMessage, bot: Bot): boolean {
  return user === bot.userId || (botId !== undefined && botId === bot.botId);
}
