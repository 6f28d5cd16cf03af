import type { ConversationsRepliesResponse, WebClient } from "@slack/web-api";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import type {
  GatheredContext,
  GatherPurpose,
  InboundMessage,
  MessageFile,
} from "../../core/ports/thread-adapter.ts";
import { parseThreadKey } from "./addresses.ts";
import { callSlack } from "./client.ts";
import { type Bot, isBot } from "./identity.ts";
import { parseFile } from "./incoming-message.ts";
import { hasMention, readableText, withoutMention } from "./mention.ts";
import { contentOf, forwardedFiles, indented, lines, plainName } from "./message-content.ts";
import { type DownloadDeps, readFiles } from "./message-files.ts";
import { namesIn, userNames } from "./names.ts";
import type { Workspace } from "./workspaces.ts";

type ThreadMessage = NonNullable<ConversationsRepliesResponse["messages"]>[number] & {
  readonly ts: string;
  /** The name of an incoming webhook. */
  readonly username?: string;
};

const MESSAGES_MAX = 50;
const CHARACTERS_MAX = 16_000;
const MESSAGE_CHARACTERS_MAX = 4_000;
/** The heading and the line that says how many messages are left out. */
const FRAME_CHARACTERS_MAX = 200;
/** As many as Slack gives at once: https://docs.slack.dev/reference/methods/conversations.replies */
const PAGE_SIZE = 1_000;
/** Of a longer thread, this period before the request is read first. Each further one is longer by the factor. */
const WINDOW_SECONDS = 600;
const WINDOW_GROWTH = 8;
const CALLS_MAX = 12;

const CUT = "… [cut]";
const GAP = "(Messages after the first one are left out.)";
const HEADING = "Earlier messages of this Slack thread, the oldest first. Each one begins with its author:";

type GatherDeps = Pick<DownloadDeps, "apiUrl" | "fetch"> & {
  readonly log: Log;
  readonly workspace: Workspace;
};

/** Reads what is around a message: its thread, the files of both, and the names of those whom the texts mention. */
export async function gather(
  message: InboundMessage,
  purpose: GatherPurpose,
  { workspace, ...deps }: GatherDeps,
): Promise<GatheredContext> {
  const { botToken, client } = workspace;
  if (purpose.isEdit === true) {
    return defined({ names: await namesIn(client, [message.text]) });
  }
  const thread = await readThread(client, await workspace.bot(), message, purpose).catch((error: unknown) =>
    unreadThread(error, deps.log),
  );
  const { context, shownFiles = [] } = thread;
  const [{ files, unread }, names] = await Promise.all([
    readFiles([...(message.files ?? []), ...shownFiles], { ...deps, botToken, client }),
    namesIn(client, [message.text, message.context ?? "", context ?? ""]),
  ]);
  return { ...defined({ context, names }), files, unread: [...(thread.unread ?? []), ...unread] };
}

/** What was said in a thread, with the files that its messages show. They are not read yet. */
interface ReadThread extends Pick<GatheredContext, "context" | "unread"> {
  readonly shownFiles?: readonly MessageFile[];
}

/**
 * The messages of the thread before this one: the first message and the newest others. A message that was changed
 * after the request is not quoted, because the author of the request has not seen that text.
 */
async function readThread(
  client: WebClient,
  bot: Bot,
  message: InboundMessage,
  { isFollowUp }: GatherPurpose,
): Promise<ReadThread> {
  const { channel, threadTs } = parseThreadKey(message.key);
  const ts = timeOf(message);
  if (message.addressed !== "mention" || threadTs === undefined || threadTs === ts) {
    return {};
  }
  const read = await messagesBefore(client, { channel, threadTs, ts });
  const known = isFollowUp ? afterLastRequest(read.messages, bot) : read.messages;
  const candidates = firstAndNewest(known);
  const people = candidates.filter((one) => !isOwn(one, bot) && one.bot_id === undefined);
  const names = await userNames(
    client,
    people.flatMap(({ user }) => user ?? []),
  );
  const quotes = candidates.map((one) => quoted(one, { bot, names, until: ts }));
  const [first, ...others] = withinLimit(quotes);
  const { unread } = read;
  if (first === undefined) {
    return { unread };
  }
  const shownFiles = candidates.filter((one) => !isOwn(one, bot)).flatMap(filesOf);
  const hasGap = !read.isWhole && known[0]?.ts === threadTs;
  const gap = hasGap ? [GAP] : leftOut(known.length - 1 - others.length);
  return { context: [HEADING, first, ...gap, ...others].join("\n"), shownFiles, unread };
}

/** When it was asked. A form stands for no message: what it was opened with is a message of the thread. */
function timeOf({ form, messageRef, provenance }: InboundMessage): string {
  return form === undefined ? messageRef : String(provenance.version);
}

/** A thread that cannot be read is named, and the files of the message reach the agent. */
function unreadThread(error: unknown, log: Log): ReadThread {
  if (!(error instanceof AppError)) {
    throw error;
  }
  log.warn("slack.thread.not_read", { error });
  return { unread: [`I could not read the earlier messages of this thread. ${error.message}`] };
}

function leftOut(count: number): readonly string[] {
  return count === 0 ? [] : [`(${count} messages after the first one are left out.)`];
}

interface Request {
  readonly channel: string;
  readonly threadTs: string;
  /** The message that asks. */
  readonly ts: string;
}

interface ReadMessages {
  /** The first message of the thread and the newest others, the oldest first. */
  readonly messages: readonly ThreadMessage[];
  /** No message between them is missing. */
  readonly isWhole: boolean;
  readonly unread: readonly string[];
}

/** Slack gives a thread from its start, so the end of a long one is read by its time. */
async function messagesBefore(client: WebClient, request: Request): Promise<ReadMessages> {
  const start = await readPage(client, request, {});
  if (start.cursor === undefined) {
    return { messages: inOrder(start.messages), isWhole: true, unread: [] };
  }
  const root = start.messages.filter(({ ts }) => ts === request.threadTs);
  const { messages, unread } = await newestBefore(client, request);
  return { messages: inOrder([...root, ...messages]), isWhole: false, unread };
}

/** Reads a growing period before the request until it has enough messages. Then none of the newest is missing. */
async function newestBefore(client: WebClient, request: Request): Promise<Omit<ReadMessages, "isWhole">> {
  const budget = { calls: CALLS_MAX - 1 };
  let newest: readonly ThreadMessage[] = [];
  for (let seconds = WINDOW_SECONDS; newest.length < MESSAGES_MAX - 1; seconds *= WINDOW_GROWTH) {
    const found = await readLast(seconds, { budget, client, request }).catch(reasonOf);
    if (typeof found === "string") {
      const read = `Of this long thread I read only the first message and the newest ${newest.length}.`;
      return { messages: newest, unread: [`${read} ${found}`] };
    }
    newest = found;
  }
  return { messages: newest, unread: [] };
}

interface Reading {
  readonly client: WebClient;
  readonly request: Request;
  /** How many more calls the thread may take. */
  readonly budget: { calls: number };
}

/** The replies of the last seconds before the request. */
async function readLast(
  seconds: number,
  { budget, client, request }: Reading,
): Promise<readonly ThreadMessage[]> {
  const oldest = (Number(request.ts) - seconds).toFixed(6);
  const found: ThreadMessage[] = [];
  let cursor: string | undefined;
  do {
    budget.calls -= 1;
    if (budget.calls < 0) {
      throw new AppError("operation_not_supported", `More would take over ${CALLS_MAX} calls to Slack.`);
    }
    const page = await readPage(client, request, defined({ oldest, cursor }));
    found.push(...page.messages.filter(({ ts }) => ts !== request.threadTs));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

function inOrder(messages: readonly ThreadMessage[]): readonly ThreadMessage[] {
  return messages.toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
}

function reasonOf(error: unknown): string {
  if (error instanceof AppError) {
    return error.message;
  }
  throw error;
}

/** One answer of Slack: messages of the thread before the request, and where the next one continues. */
async function readPage(
  client: WebClient,
  { channel, threadTs, ts }: Request,
  part: { readonly oldest?: string; readonly cursor?: string },
): Promise<{ readonly messages: readonly ThreadMessage[]; readonly cursor: string | undefined }> {
  const page = { channel, ts: threadTs, latest: ts, inclusive: false, limit: PAGE_SIZE, ...part };
  const answer = await callSlack("conversations.replies", client.conversations.replies(page));
  const messages = (answer.messages ?? []).flatMap((message) =>
    message.ts !== undefined && message.ts < ts ? [{ ...message, ts: message.ts }] : [],
  );
  return { messages, cursor: answer.response_metadata?.next_cursor || undefined };
}

/** The agent of a run knows the thread up to the last request, and its own words. */
function afterLastRequest(messages: readonly ThreadMessage[], bot: Bot): readonly ThreadMessage[] {
  const last = messages.findLastIndex(({ text = "", user }) => user !== bot.userId && hasMention(text, bot));
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
  const files = filesOf(message).map(({ name }) => `[file: ${name}]`);
  const isLater = message.edited?.ts !== undefined && message.edited.ts > until;
  const words = isLater ? "[changed after the request, so its words are left out]" : wordsOf(message, bot);
  const quote = `${author}:\n${indented(lines([words, ...files]))}`;
  return quote.length > MESSAGE_CHARACTERS_MAX
    ? `${quote.slice(0, MESSAGE_CHARACTERS_MAX - CUT.length).toWellFormed()}${CUT}`
    : quote;
}

function wordsOf(message: ThreadMessage, bot: Bot): string {
  // The bot's own cards have buttons and figures that are old by now.
  const { words, attached } = contentOf(isOwn(message, bot) ? { text: message.text } : message);
  return lines([withoutMention(words, bot), ...attached.map((one) => readableText(one, bot))]);
}

function filesOf(message: ThreadMessage): readonly MessageFile[] {
  return [...(message.files ?? []), ...forwardedFiles(message)].map(parseFile);
}

function authorOf(
  { bot_id: botId, bot_profile: profile, user = "", username = "" }: ThreadMessage,
  names: Quoting["names"],
): string {
  if (botId !== undefined) {
    const name = plainName(profile?.name ?? username);
    return name === "" ? `an app (${botId})` : `the app ${name} (${botId})`;
  }
  const name = names.get(user);
  return name === undefined ? user : `${name} (${user})`;
}

function isOwn({ bot_id: botId, user }: ThreadMessage, bot: Bot): boolean {
  return isBot(bot, user) || isBot(bot, botId);
}
