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
import type { Sessions } from "./sessions.ts";
import type { Uploads } from "./uploads.ts";

const SEEN = "eyes";
const ENDED: Readonly<Record<TurnOutcome, string>> = {
  done: "white_check_mark",
  failed: "x",
  stopped: "octagonal_sign",
};

/** Of a turn that is done, except that not everything was handed over. */
const THANKED = "heart";
const INCOMPLETE = "warning";

export interface DeliveryDeps {
  readonly client: WebClient;
  readonly posts: Posts;
  readonly uploads: Uploads;
  /** The address of a shown message. */
  readonly linkTo: NonNullable<ThreadAdapter["permalinkOf"]>;
  readonly sessions: Pick<Sessions, "isShown" | "show">;
}

/** Shows a notice: as a reaction, as the run's card that is edited in place, or as a message of its own. */
export async function deliver(delivery: Delivery, deps: DeliveryDeps): Promise<Receipt> {
  const { client, posts, sessions, uploads } = deps;
  const { id, notice } = delivery;
  switch (notice.kind) {
    case "seen":
      return receiptOf(await sign(delivery, { ts: notice.messageRef, name: SEEN }, deps));
    case "ended":
      return receiptOf(await sign(delivery, { ts: notice.messageRef, name: signOf(notice) }, deps));
    case "card": {
      const shown = await showCard({ ...delivery, notice }, deps);
      return receiptOf({
        ...shown,
        session: await sessions.show(delivery, notice.card, { before: shown.session, client }),
      });
    }
    case "check":
      throw new Error("Slack shows no checks.");
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

function signOf({ end, isIncomplete, isThanks }: Extract<Notice, { readonly kind: "ended" }>): string {
  if (isThanks === true) {
    return THANKED;
  }
  return isIncomplete === true ? INCOMPLETE : ENDED[end];
}

/** Puts one reaction on a message in place of the one before. Where a session shows the same, there is none. */
async function sign(
  delivery: Delivery,
  reaction: { readonly name: string; readonly ts: string },
  { client, sessions }: DeliveryDeps,
): Promise<Shown> {
  const { channel } = parseThreadKey(delivery.thread.key);
  const { name, ts } = reaction;
  const isNeeded = !(sessions.isShown(delivery) && (name === SEEN || name === ENDED.done));
  if (isNeeded) {
    await quietly("reactions.add", client.reactions.add({ channel, timestamp: ts, name }));
  }
  const before = delivery.shownAt === undefined ? undefined : parseReceipt(delivery.shownAt).reaction;
  if (before !== undefined && !(isNeeded && before === name)) {
    await quietly("reactions.remove", client.reactions.remove({ channel, timestamp: ts, name: before }));
  }
  return { channel, ts, reaction: isNeeded ? name : undefined };
}

/** A message that was deleted needs no reaction. */
async function quietly(method: string, call: Promise<unknown>): Promise<void> {
  await callSlack(method, call)
    .catch(ignoreRefusals("already", "gone", "reaction"))
    .catch(ignoreCode("missing_scope"));
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
