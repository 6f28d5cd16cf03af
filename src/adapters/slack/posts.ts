import type { types } from "@slack/bolt";
import type { ConversationsHistoryArguments, ConversationsRepliesResponse, WebClient } from "@slack/web-api";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { parseThreadKey, type Shown } from "./addresses.ts";
import { hasMarker, type Marker, type Rendered, shortened } from "./blocks.ts";
import { callSlack } from "./client.ts";
import { ignoreCode, ignoreRefusals, refusalClassOf } from "./errors.ts";
import type { Bot, BotIdentity } from "./identity.ts";

const PAGE_SIZE = 200;
const MAX_PAGES = 20;

type Reply = NonNullable<ConversationsRepliesResponse["messages"]>[number];

/** The bot's own messages in threads: creates, updates and finds them. */
export class Posts {
  readonly #client: WebClient;
  readonly #identity: Pick<BotIdentity, "get">;
  /** The subjects for which the workspace refused Slack's own block. */
  readonly #refused = new Set<string>();

  constructor(client: WebClient, identity: Pick<BotIdentity, "get">) {
    this.#client = client;
    this.#identity = identity;
  }

  async create(delivery: Delivery, rendered: Rendered): Promise<Shown> {
    const { channel, threadTs } = parseThreadKey(delivery.thread.key);
    const post = (message: MarkedMessage) => {
      const place = { channel, ...inThread(threadTs), unfurl_links: false, unfurl_media: false };
      return callSlack("chat.postMessage", this.#client.chat.postMessage({ ...place, ...message }));
    };
    const answer = await this.#send(rendered, post);
    const shown = { channel: answer.channel ?? channel, ts: answer.ts ?? "" };
    if (threadTs !== undefined && answer.message !== undefined && answer.message.thread_ts === undefined) {
      await this.#delete(shown);
    }
    return shown;
  }

  /**
   * Posts a message that only one user sees. It cannot be found again, so a repeated try may post it twice. Undefined if
   * Slack cannot show it to the user. Slack shows it in a thread only if that has a reply, and otherwise in the channel:
   * https://docs.slack.dev/reference/methods/chat.postEphemeral
   */
  async createFor(user: string, delivery: Delivery, rendered: Rendered): Promise<Shown | undefined> {
    const { channel, threadTs } = parseThreadKey(delivery.thread.key);
    if (threadTs === undefined) {
      return undefined;
    }
    const place = { channel, user, ...((await this.#hasReplies(channel, threadTs)) && inThread(threadTs)) };
    const post = ({ metadata: _unused, ...message }: MarkedMessage) => {
      return callSlack("chat.postEphemeral", this.#client.chat.postEphemeral({ ...place, ...message }));
    };
    const answer = await this.#send(rendered, post)
      .catch(ignoreCode("user_not_in_channel"))
      .catch(ignoreCode("user_not_found"));
    return answer && { channel, ts: answer.message_ts ?? "" };
  }

  /** False also if Slack does not say it. */
  async #hasReplies(channel: string, ts: string): Promise<boolean> {
    const reading = this.#client.conversations.replies({ channel, ts, limit: 1 });
    const answer = await callSlack("conversations.replies", reading).catch(ignoreFailure);
    return (answer?.messages?.[0]?.reply_count ?? 0) > 0;
  }

  /** Returns false if the message no longer exists, or can no longer be edited. */
  async update({ channel, ts }: Shown, rendered: Rendered): Promise<boolean> {
    const update = (message: MarkedMessage) =>
      callSlack("chat.update", this.#client.chat.update({ channel, ts, ...message }));
    const answer = await this.#send(rendered, update).catch(ignoreRefusals("gone"));
    return answer !== undefined;
  }

  /**
   * A newer block that Slack refuses is sent as text or buttons. A message whose blocks it refuses is sent with fewer, then as plain
   * text, and then as the start of that. Slack shows nothing of a message that it refuses.
   */
  async #send<Answer>(
    { blocks, fewerBlocks, marker, newer, plainText, text }: Rendered,
    send: (message: MarkedMessage) => Promise<Answer>,
  ): Promise<Answer> {
    const tried = newer === undefined || this.#refused.has(newer.subject) ? undefined : newer;
    const fewer = fewerBlocks === undefined ? [] : [{ text, blocks: fewerBlocks }];
    const first = { text, blocks: tried?.blocks ?? blocks };
    const others = [...(tried === undefined ? [] : [{ text, blocks }]), ...fewer];
    // Without blocks, an update also removes those that the message had.
    const plain = [...new Set([plainText, shortened(plainText)])].map((words) => ({
      text: words,
      blocks: [],
    }));
    let answer = await send(messageOf(marker, first)).catch(refusedBlocks);
    for (const other of [...others, ...plain]) {
      if (!(answer instanceof AppError)) {
        break;
      }
      answer = await send(messageOf(marker, other)).catch(refusedBlocks);
      if (tried !== undefined && other.blocks === blocks && !(answer instanceof AppError)) {
        this.#refused.add(tried.subject);
      }
    }
    if (answer instanceof AppError) {
      throw answer;
    }
    return answer;
  }

  /**
   * Finds the messages of an earlier try whose answer was lost, by their markers. Throws if the thread is too long to
   * search, because a missing message is better than a second one.
   */
  async find(delivery: Delivery, markers: readonly Marker[]): Promise<readonly (Shown | undefined)[]> {
    const bot = await this.#identity.get();
    const { channel, threadTs } = parseThreadKey(delivery.thread.key);
    const page = { channel, limit: PAGE_SIZE, include_all_metadata: true };
    const found = new Map<Marker, Shown>();
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const answer = await this.#read(cursor === undefined ? page : { ...page, cursor }, threadTs);
      for (const reply of answer.messages ?? []) {
        const marker = isOf(bot, reply) && markers.find((one) => hasMarker(reply, one));
        if (marker && reply.ts !== undefined) {
          found.set(marker, { channel, ts: reply.ts });
        }
      }
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (cursor === undefined || found.size === markers.length) {
        return markers.map((marker) => found.get(marker));
      }
    }
    throw new AppError(
      "operation_not_supported",
      "The thread is too long to find out whether this was shown.",
    );
  }

  /** Finds the message with the bot's files that has this comment. Slack keeps no marker on such a message. */
  async findFiles(key: ThreadKey, comment: string, count: number): Promise<Shown | undefined> {
    const bot = await this.#identity.get();
    const { channel, threadTs } = parseThreadKey(key);
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page = defined({ channel, limit: PAGE_SIZE, cursor });
      const answer = await this.#read(page, threadTs);
      const found = answer.messages?.find(
        (reply) => isOf(bot, reply) && reply.files?.length === count && reply.text === comment,
      );
      cursor = answer.response_metadata?.next_cursor || undefined;
      if (found?.ts !== undefined || cursor === undefined) {
        return found && { channel, ts: found.ts ?? "" };
      }
    }
    return undefined;
  }

  /** A page of the thread, oldest first, or of the direct conversation, newest first. */
  #read(
    page: ConversationsHistoryArguments & { readonly channel: string },
    threadTs: string | undefined,
  ): Promise<ConversationsRepliesResponse> {
    const { conversations } = this.#client;
    return threadTs === undefined
      ? callSlack("conversations.history", conversations.history(page))
      : callSlack("conversations.replies", conversations.replies({ ...page, ts: threadTs }));
  }

  /**
   * Deletes a reply that Slack posted to the whole channel because the thread's first message was deleted:
   * https://github.com/slack-go/slack/issues/1571
   */
  async #delete(shown: Shown): Promise<never> {
    await callSlack("chat.delete", this.#client.chat.delete(shown)).catch(ignoreCode("message_not_found"));
    throw new AppError("resource_not_found", "The thread is gone: its first message was deleted.", {
      retryable: false,
    });
  }
}

function inThread(threadTs: string | undefined): { readonly thread_ts?: string } {
  return threadTs === undefined ? {} : { thread_ts: threadTs };
}

/** For `catch`: a look-up without which the message is posted as well. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof AppError)) {
    throw error;
  }
}

/** For `catch`: gives the failure if Slack refused the blocks. Any other failure is thrown again. */
function refusedBlocks(error: unknown): AppError {
  if (error instanceof AppError && refusalClassOf(error) === "content") {
    return error;
  }
  throw error;
}

interface MarkedMessage {
  readonly text: string;
  readonly blocks: types.KnownBlock[];
  readonly metadata: types.MessageMetadata;
  readonly parse: "none";
  readonly link_names: false;
}

function messageOf(
  { metadata }: Marker,
  { blocks, text }: { readonly text: string; readonly blocks: readonly types.KnownBlock[] },
): MarkedMessage {
  return { text, blocks: [...blocks], metadata, parse: "none", link_names: false };
}

function isOf(bot: Bot, reply: Reply): boolean {
  return reply.user === bot.userId || (bot.botId !== undefined && reply.bot_id === bot.botId);
}
