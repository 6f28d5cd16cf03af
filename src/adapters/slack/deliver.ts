import type { WebClient } from "@slack/web-api";
import type { Notice, TurnOutcome } from "../../core/model/threads/notice.ts";
import type { Delivery, Receipt, ThreadAdapter } from "../../core/ports/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import { parseReceipt, parseThreadKey, receiptOf, type Shown, userIdOf } from "./addresses.ts";
import type { Rendered } from "./blocks.ts";
import { callSlack } from "./client.ts";
import { ignoreCode, ignoreRefusals } from "./errors.ts";
import type { Posts } from "./posts.ts";
import { render, type ShownNotice } from "./render.ts";
import type { Uploads } from "./uploads.ts";

const SEEN = "eyes";
const ENDED: Readonly<Record<TurnOutcome, string>> = {
  done: "white_check_mark",
  failed: "x",
  stopped: "octagonal_sign",
};

/** Of a turn that is done, except that not everything was handed over. */
const INCOMPLETE = "warning";

export interface DeliveryDeps {
  readonly client: WebClient;
  readonly posts: Posts;
  readonly uploads: Uploads;
  /** The address of a shown message. */
  readonly linkTo: NonNullable<ThreadAdapter["permalinkOf"]>;
}

/** Shows a notice: as a reaction, as the run's card that is edited in place, or as a message of its own. */
export async function deliver(delivery: Delivery, deps: DeliveryDeps): Promise<Receipt> {
  const { client, posts, uploads } = deps;
  const { id, notice } = delivery;
  switch (notice.kind) {
    case "seen":
      return receiptOf(await react(delivery, { ts: notice.messageRef, name: SEEN }, client));
    case "ended":
      return receiptOf(await react(delivery, { ts: notice.messageRef, name: signOf(notice) }, client));
    case "card":
    case "choice":
      return receiptOf(await showCard({ ...delivery, notice }, deps));
    case "message": {
      if (notice.attached !== undefined) {
        return receiptOf(await uploads.show({ ...delivery, notice }, notice.attached.files));
      }
      if (notice.asks !== undefined) {
        return receiptOf(await showCard({ ...delivery, notice }, deps));
      }
      const rendered = render({ id, notice });
      const only = notice.onlyFor === undefined ? undefined : userIdOf(notice.onlyFor);
      const shown = only === undefined ? undefined : await posts.createFor(only, delivery, rendered[0]);
      return receiptOf(shown ?? (await say(delivery, rendered, posts)));
    }
  }
}

function signOf({ end, isIncomplete }: Extract<Notice, { readonly kind: "ended" }>): string {
  return isIncomplete === true ? INCOMPLETE : ENDED[end];
}

/** Puts one reaction on a message in place of the one before. A message that was deleted needs none. */
async function react(
  { shownAt, thread }: Delivery,
  { name, ts }: { readonly name: string; readonly ts: string },
  client: WebClient,
): Promise<Shown> {
  const { channel } = parseThreadKey(thread.key);
  await callSlack("reactions.add", client.reactions.add({ channel, timestamp: ts, name }))
    .catch(ignoreRefusals("already", "gone", "reaction"))
    .catch(ignoreCode("missing_scope"));
  const before = shownAt === undefined ? undefined : parseReceipt(shownAt).reaction;
  if (before !== undefined && before !== name) {
    await callSlack("reactions.remove", client.reactions.remove({ channel, timestamp: ts, name: before }))
      .catch(ignoreRefusals("already", "gone", "reaction"))
      .catch(ignoreCode("missing_scope"));
  }
  return { channel, ts, reaction: name };
}

/**
 * A card, or a question with buttons. Posts a deleted one again. Updates that of an earlier try, because it may show an
 * older state. An update that would change nothing is not made.
 */
async function showCard(
  delivery: Delivery & { readonly notice: ShownNotice },
  { linkTo, posts }: DeliveryDeps,
): Promise<Shown> {
  const { id, notice, questionShownAt, thread } = delivery;
  const asked = questionShownAt === undefined ? undefined : { link: await linkTo(thread, questionShownAt) };
  const [card] = render({ id, notice }, asked);
  const known = delivery.shownAt === undefined ? undefined : parseReceipt(delivery.shownAt);
  // Without the id of the delivery, by which all cards differ.
  const hash = contentHash({ body: JSON.stringify(render({ id: "", notice }, asked)) });
  if (known !== undefined && (known.hash === hash || (await posts.update(known, card)))) {
    return { ...known, hash };
  }
  const [earlier] = delivery.maybeShown ? await posts.find(delivery, [card.marker]) : [];
  if (earlier !== undefined && (await posts.update(earlier, card))) {
    return { ...earlier, hash };
  }
  return { ...(await posts.create(delivery, card)), hash };
}

/** Posts the parts of a message that no earlier try has posted. */
async function say(
  delivery: Delivery,
  parts: readonly [Rendered, ...Rendered[]],
  posts: Posts,
): Promise<Shown> {
  const markers = parts.map(({ marker }) => marker);
  const earlier = delivery.maybeShown ? await posts.find(delivery, markers) : [];
  const [first, ...others] = parts;
  const shown = earlier[0] ?? (await posts.create(delivery, first));
  for (const [index, part] of others.entries()) {
    if (earlier[index + 1] === undefined) {
      await posts.create(delivery, part);
    }
  }
  return shown;
}
