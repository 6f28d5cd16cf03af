import type { WebClient } from "@slack/web-api";
import type { TurnOutcome } from "../../core/threads/notice.ts";
import type { Delivery, Receipt } from "../../core/threads/thread-adapter.ts";
import { callSlack } from "./client.ts";
import { ignoreCode } from "./errors.ts";
import type { Posts } from "./posts.ts";
import { parseReceipt, receiptOf, type Shown } from "./receipt.ts";
import { type Rendered, render } from "./render.ts";
import { parseThreadKey, userIdOf } from "./thread-key.ts";

const SEEN = "eyes";
const ENDED: Readonly<Record<TurnOutcome, string>> = {
  done: "white_check_mark",
  failed: "x",
  stopped: "octagonal_sign",
};

export interface DeliveryDeps {
  readonly client: WebClient;
  readonly posts: Posts;
}

/** Shows a notice: as a reaction, as the run's card that is edited in place, or as a message of its own. */
export async function deliver(delivery: Delivery, { client, posts }: DeliveryDeps): Promise<Receipt> {
  const { id, notice } = delivery;
  switch (notice.kind) {
    case "seen":
      return receiptOf(await react(delivery, { ts: notice.messageRef, name: SEEN }, client));
    case "ended":
      return receiptOf(await react(delivery, { ts: notice.messageRef, name: ENDED[notice.end] }, client));
    case "card":
      return receiptOf(await showCard(delivery, render({ id, notice }), posts));
    case "message": {
      const rendered = render({ id, notice });
      const only = notice.onlyFor === undefined ? undefined : userIdOf(notice.onlyFor);
      const shown = only === undefined ? undefined : await posts.createFor(only, delivery, rendered);
      return receiptOf(shown ?? (await say(delivery, rendered, posts)));
    }
  }
}

/** Puts one reaction on a message in place of the one before. A message that was deleted needs none. */
async function react(
  { shownAt, thread }: Delivery,
  { name, ts }: { readonly name: string; readonly ts: string },
  client: WebClient,
): Promise<Shown> {
  const { channel } = parseThreadKey(thread.key);
  await callSlack("reactions.add", client.reactions.add({ channel, timestamp: ts, name }))
    .catch(ignoreCode("already_reacted"))
    .catch(ignoreCode("message_not_found"))
    .catch(ignoreCode("missing_scope"));
  const before = shownAt === undefined ? undefined : parseReceipt(shownAt).reaction;
  if (before !== undefined && before !== name) {
    await callSlack("reactions.remove", client.reactions.remove({ channel, timestamp: ts, name: before }))
      .catch(ignoreCode("no_reaction"))
      .catch(ignoreCode("message_not_found"))
      .catch(ignoreCode("missing_scope"));
  }
  return { channel, ts, reaction: name };
}

/** Posts a deleted card again. Updates the card of an earlier try, because it may show an older state. */
async function showCard(delivery: Delivery, card: Rendered, posts: Posts): Promise<Shown> {
  const known = delivery.shownAt === undefined ? undefined : parseReceipt(delivery.shownAt);
  if (known !== undefined && (await posts.update(known, delivery, card))) {
    return known;
  }
  const earlier = await findEarlier(delivery, posts);
  if (earlier !== undefined && (await posts.update(earlier, delivery, card))) {
    return earlier;
  }
  return posts.create(delivery, card);
}

async function say(delivery: Delivery, message: Rendered, posts: Posts): Promise<Shown> {
  return (await findEarlier(delivery, posts)) ?? posts.create(delivery, message);
}

async function findEarlier(delivery: Delivery, posts: Posts): Promise<Shown | undefined> {
  return delivery.maybeShown ? posts.find(delivery) : undefined;
}
