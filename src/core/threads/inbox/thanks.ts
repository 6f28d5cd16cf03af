import { isEnded } from "../../model/runs/states.ts";
import { splitText } from "../../model/threads/own-words.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import { type AuthorizedContext, type InboxDeps, type MessageContext, resultOf } from "./message-context.ts";
import { complete, completing } from "./message-results.ts";

/** One of these makes a message thanks, if the rest are words that go with it. */
const THANKS = new Set(
  (
    "thanks thank thx ty tysm cheers danke dankeschön dank merci gracias obrigado obrigada grazie tack takk " +
    "спасибо ありがとう ありがとうございます 谢谢 謝謝 감사합니다 👍 👎 🙏 ❤ 🎉 👏 🙌"
  ).split(" "),
);
/** `yes`, `no` and `please` are not among them: they answer something. */
const BESIDE = new Set(
  (
    "you u so very much a an lot many again great good nice perfect awesome excellent cool wonderful lovely brilliant " +
    "job work well done ok okay all that that's thats it for this the help everyone vielen schön sehr super toll prima " +
    "klasse dir euch ihnen beaucoup muchas muito mille"
  ).split(" "),
);
/** How platforms write these emoji in texts, with the colour of a skin. */
const EMOJI: readonly (readonly [RegExp, string])[] = [
  [/:(?:\+1|thumbsup):|👍/gu, " 👍 "],
  [/:(?:-1|thumbsdown):|👎/gu, " 👎 "],
  [/:(?:pray|heart|tada|clap|raised_hands):|[🙏❤🎉👏🙌]/gu, " 🙏 "],
  [/:skin-tone-\d:|[\u{1f3fb}-\u{1f3ff}\ufe0f]/gu, ""],
];
const LENGTH_MAX = 100;

/** The words of a text that only thanks, or is only a thumb. Undefined: it asks for something. */
export function thanksIn(text: string): readonly string[] | undefined {
  const { quote, tail, words } = splitText(text);
  if (words.length > LENGTH_MAX || quote !== "" || tail !== "") {
    return undefined;
  }
  const plain = EMOJI.reduce((rest, [pattern, sign]) => rest.replaceAll(pattern, sign), words.toLowerCase());
  const found = plain.split(/[\s,.!:;()–—~]+/u).filter((word) => word !== "");
  const isThanks = found.some((word) => THANKS.has(word));
  return isThanks && found.every((word) => THANKS.has(word) || BESIDE.has(word)) ? found : undefined;
}

/**
 * Answers thanks with a reaction, and starts no turn. A thumb alone rates the last turn. A run that waits for an answer,
 * or whose answer ends with a question, gets the words.
 */
export async function answerThanks(
  context: AuthorizedContext,
  deps: InboxDeps,
): Promise<Disposition | undefined> {
  const { author, message, reportedRun, thread } = context;
  const { files = [], text } = message;
  const found = files.length > 0 || reportedRun !== undefined ? undefined : thanksIn(text);
  if (found === undefined) {
    return undefined;
  }
  const run = thread.runId === undefined ? undefined : await deps.runs.get({ id: thread.runId }, author);
  if (run !== undefined && (!isEnded(run.state) || /[?？]\W*$/u.test(run.answer ?? ""))) {
    return undefined;
  }
  const notices = reactionTo(context);
  const rating = found.includes("👎") ? "bad" : "good";
  if (run === undefined || run.turn === 0 || !found.every((word) => word === "👍" || word === "👎")) {
    return complete({ ...resultOf(context), disposition: "replied" }, deps, { thread, notices });
  }
  const extras = completing(context, "answered");
  const threadNotices = { threadId: thread.id, notices };
  await deps.runs.rate(run.id, author, { ratedTurn: run.turn, rating }, { ...extras, threadNotices });
  return "answered";
}

function reactionTo({ message: { messageRef } }: MessageContext) {
  return messageRef === "" ? [] : [{ kind: "ended", messageRef, end: "done", isThanks: true } as const];
}
