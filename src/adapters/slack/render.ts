import type { types } from "@slack/bolt";
import type { Notice } from "../../core/model/threads/notice.ts";
import type { Delivery } from "../../core/ports/thread-adapter.ts";
import { HEADINGS } from "../card-words.ts";
import { answerParts } from "./answer-parts.ts";
import {
  context,
  link,
  MAX_FALLBACK,
  mrkdwnSection,
  plainSection,
  plainText,
  type Rendered,
  safeUrl,
  withLinks,
} from "./blocks.ts";
import { choiceBlocks, filesButton } from "./buttons.ts";
import { defuseMrkdwn } from "./defuse.ts";
import { type Marker, markerOf } from "./marker.ts";
import { renderCard } from "./render-card.ts";

type ShownNotice = Exclude<Notice, { readonly kind: "seen" | "ended" }>;
type ChoiceNotice = Extract<Notice, { readonly kind: "choice" }>;
type MessageNotice = Extract<Notice, { readonly kind: "message" }>;

/** Leaves room for the marks that turn addresses into links. */
const MAX_REPLY = 2_300;
/** Slack cuts texts at 40,000 characters. A message is never edited, so the smaller limit of edits does not count. */
const MAX_PLAIN_TEXT = 15_000;

/** The messages that show a card or a message notice, marked with the delivery's id. */
export function render(
  delivery: Pick<Delivery, "id"> & { readonly notice: ShownNotice },
): readonly [Rendered, ...Rendered[]] {
  const { notice } = delivery;
  const marker = markerOf(delivery);
  if (notice.kind === "card") {
    return [renderCard(notice.card, marker)];
  }
  if (notice.kind === "choice") {
    return [renderChoice(notice, marker)];
  }
  if (notice.purpose === "reply") {
    return [renderReply(notice, marker)];
  }
  if (notice.purpose === "outcome" || notice.purpose === "question") {
    return [renderWords(notice, { marker, words: plainSection(notice.text), text: notice.text })];
  }
  return renderAnswer(notice, (part) => markerOf(delivery, part));
}

/** A question of the bot itself. Once it is decided, it has no buttons. */
function renderChoice({ options, requestId, text }: ChoiceNotice, marker: Marker): Rendered {
  const said = { ...mrkdwnSection(defuseMrkdwn(text, MAX_REPLY)), block_id: marker.blockId };
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: options.length === 0 ? [said] : [said, ...choiceBlocks(requestId, options)],
    plainText: plainText({ heading: "", text, sessionLink: undefined, max: MAX_PLAIN_TEXT }),
  };
}

function renderReply({ sessionLink, text }: MessageNotice, marker: Marker): Rendered {
  const linked = sessionLink === undefined ? [] : [context(link(sessionLink, "Session"))];
  const said = { ...mrkdwnSection(withLinks(defuseMrkdwn(text, MAX_REPLY))), block_id: marker.blockId };
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: [said, ...linked],
    plainText: plainText({ heading: "", text, sessionLink, max: MAX_PLAIN_TEXT }),
  };
}

/** The agent's words, in several messages if they are long. Slack renders Markdown itself. */
function renderAnswer(
  notice: MessageNotice,
  markerOfPart: (part: number) => Marker,
): readonly [Rendered, ...Rendered[]] {
  const { sessionLink } = notice;
  const more = sessionLink === undefined ? "" : `\n\n[The rest is in the session](${safeUrl(sessionLink)})`;
  const { isCut, parts } = answerParts(notice.text, more.length);
  const [first, ...others] = parts.map((text, index) => {
    const rest = isCut && index === parts.length - 1 ? more : "";
    const place = parts.length === 1 ? undefined : { number: index + 1, of: parts.length };
    const words: types.MarkdownBlock = { type: "markdown", text: `${text}${rest}` };
    const rendered = renderWords(notice, { marker: markerOfPart(index + 1), words, text, place });
    return index === parts.length - 1 ? withFiles(withUnpushed(rendered, notice), notice) : rendered;
  });
  return [first, ...others] as [Rendered, ...Rendered[]];
}

/** Why the work is not pushed. The page of the run has the patch. */
function withUnpushed(rendered: Rendered, { sessionLink, unpushed }: MessageNotice): Rendered {
  if (unpushed === undefined) {
    return rendered;
  }
  const place = sessionLink === undefined ? "" : link(sessionLink, "The session has the patch");
  return {
    ...rendered,
    blocks: [...rendered.blocks, plainSection(unpushed.words), ...(place === "" ? [] : [context(place)])],
    plainText: `${rendered.plainText}\n\n${unpushed.words}`,
  };
}

/** The button stands under the last part of the answer. */
function withFiles(rendered: Rendered, { offersFiles }: MessageNotice): Rendered {
  if (offersFiles === undefined) {
    return rendered;
  }
  const actions: types.ActionsBlock = { type: "actions", elements: [filesButton(offersFiles)] };
  return { ...rendered, blocks: [...rendered.blocks, actions] };
}

interface Words {
  readonly marker: Marker;
  readonly words: types.KnownBlock;
  readonly text: string;
  readonly place?: { readonly number: number; readonly of: number } | undefined;
}

/**
 * A separate message. Its first block is one that Markdown cannot imitate, so an agent's answer cannot pass for a
 * card. The block id is never on the markdown block, because Slack drops it there.
 */
function renderWords(
  { purpose, sessionLink }: MessageNotice,
  { marker, place, text, words }: Words,
): Rendered {
  const name = purpose === "reply" ? "" : HEADINGS[purpose];
  const part = place === undefined ? "" : `part ${place.number} of ${place.of}`;
  const continues = place !== undefined && place.number > 1;
  const title = continues ? `*${name}, ${part}*` : `*${name}*`;
  const linked = sessionLink === undefined ? "" : link(sessionLink, "Session");
  const heading = [title, continues ? "" : part, linked].filter(Boolean).join(" · ");
  const plainHeading = part === "" ? `${name}:` : `${name}, ${part}:`;
  return {
    marker,
    text: defuseMrkdwn(text, MAX_FALLBACK),
    blocks: [context(heading, marker.blockId), words],
    plainText: plainText({ heading: plainHeading, text, sessionLink, max: MAX_PLAIN_TEXT }),
  };
}
