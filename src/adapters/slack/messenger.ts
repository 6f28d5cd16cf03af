import type { types } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import { AppError } from "../../core/errors.ts";
import { messageKeyOf, type Notice } from "../../core/threads/notice.ts";
import type { Delivery, Receipt } from "../../core/threads/thread-adapter.ts";
import type { BotIdentity } from "./bot-identity.ts";
import { blockIdOf, findEarlierPost, metadataOf } from "./earlier-post.ts";
import { readReceipt, type Shown, writeReceipt } from "./receipt.ts";
import { type Rendered, renderCard, renderMessage } from "./render.ts";
import { callSlack, slackCodeOf } from "./slack-error.ts";
import { placeOf } from "./thread-key.ts";

const SEEN = "eyes";

/** Shows notices in Slack's threads. */
export class Messenger {
  readonly #client: WebClient;
  readonly #identity: BotIdentity;

  constructor(client: WebClient, identity: BotIdentity) {
    this.#client = client;
    this.#identity = identity;
  }

  async deliver(delivery: Delivery): Promise<Receipt> {
    const { notice, id } = delivery;
    switch (notice.kind) {
      case "seen":
        return writeReceipt(await this.#react(delivery, notice.messageRef));
      case "card":
        return writeReceipt(await this.#showCard(delivery, renderCard(notice.card, blockIdOf(id))));
      case "message":
        return writeReceipt(await this.#say(delivery, renderMessage(notice, blockIdOf(id))));
    }
  }

  async #react({ thread }: Delivery, ts: string): Promise<Shown> {
    const { channel } = placeOf(thread.key);
    const call = this.#client.reactions.add({ channel, timestamp: ts, name: SEEN });
    await callSlack("reactions.add", call).catch(unlessCode("already_reacted"));
    return { channel, ts };
  }

  /** A card that somebody deleted is posted anew. One of an earlier try may show older news, so it is updated too. */
  async #showCard(delivery: Delivery, card: Rendered): Promise<Shown> {
    const message = marked(card, delivery);
    const known = delivery.shownAt === undefined ? undefined : readReceipt(delivery.shownAt);
    if (known !== undefined && (await this.#update(known, message))) return known;
    const earlier = await this.#findEarlier(delivery);
    if (earlier !== undefined && (await this.#update(earlier, message))) return earlier;
    return this.#post(delivery, message);
  }

  async #say(delivery: Delivery, said: Rendered): Promise<Shown> {
    return (await this.#findEarlier(delivery)) ?? this.#post(delivery, marked(said, delivery));
  }

  async #findEarlier(delivery: Delivery): Promise<Shown | undefined> {
    if (!delivery.maybeShown) return undefined;
    return findEarlierPost(this.#client, await this.#identity.get(), delivery);
  }

  /** False when the message is gone. */
  async #update(shown: Shown, message: MarkedMessage): Promise<boolean> {
    const call = this.#client.chat.update({ ...shown, ...message });
    const answer = await callSlack("chat.update", call).catch(unlessCode("message_not_found"));
    return answer !== undefined;
  }

  async #post({ thread }: Delivery, message: MarkedMessage): Promise<Shown> {
    const { channel, threadTs } = placeOf(thread.key);
    const call = this.#client.chat.postMessage({
      channel,
      thread_ts: threadTs,
      ...message,
      unfurl_links: false,
      unfurl_media: false,
    });
    const answer = await callSlack("chat.postMessage", call);
    const shown = { channel: answer.channel ?? channel, ts: answer.ts ?? "" };
    if (answer.message !== undefined && answer.message.thread_ts === undefined) await this.#takeBack(shown);
    return shown;
  }

  /**
   * The thread's first message is gone, and Slack made our reply a message to the whole channel:
   * https://github.com/slack-go/slack/issues/1571
   */
  async #takeBack(shown: Shown): Promise<never> {
    await callSlack("chat.delete", this.#client.chat.delete(shown)).catch(unlessCode("message_not_found"));
    throw new AppError("resource_not_found", "The thread is gone: its first message was deleted.", {
      retryable: false,
    });
  }
}

interface MarkedMessage {
  readonly text: string;
  readonly blocks: types.KnownBlock[];
  readonly metadata: types.MessageMetadata;
  readonly parse: "none";
  readonly link_names: false;
}

function marked({ text, blocks }: Rendered, { id, notice }: { id: string; notice: Notice }): MarkedMessage {
  const metadata = metadataOf(id, messageKeyOf(notice, id));
  return { text, blocks: [...blocks], metadata, parse: "none", link_names: false };
}

/** For `catch`: this one refusal is no failure. */
function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (slackCodeOf(error) !== code) throw error;
  };
}
