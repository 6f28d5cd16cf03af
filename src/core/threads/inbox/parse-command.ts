import { type SplitText, splitText, wordsFirst } from "../../model/threads/own-words.ts";
import type { InboundMessage } from "../../ports/thread-adapter.ts";

/** What a message asks for. A message without a control word is work for the agent. */
export type Command =
  | { readonly kind: "stop" }
  | { readonly kind: "status" }
  | { readonly kind: "help" }
  | { readonly kind: "retry" }
  | { readonly kind: "mute" | "unmute" }
  | { readonly kind: "aside" }
  | { readonly kind: "new"; readonly prompt: string }
  | { readonly kind: "work" };

const STOP = /^(stop|cancel|abort|halt)\s*[.!]*$/i;
const RETRY = /^(retry|try again)\s*[.!]*$/i;
const MUTE = /^(mute|unmute)\s*[.!]*$/i;
/** People talk to each other in the thread of a run. */
const ASIDE = /^\(aside\)/i;
const STATUS = /^status\s*[?.!]*$/i;
/** `new` without a prompt asks for help as well. */
const HELP = /^(help|new|new\s+run)?\s*[?.!:,]*$/i;
const NEW = /^new(?:\s+run)?\s*[:,]?\s+(\S[\s\S]*)$/i;

/** Beside one of these words, a file is work for the agent. */
const WORDS_ALONE: ReadonlySet<Command["kind"]> = new Set(["status", "help", "retry", "mute", "unmute"]);

/** What people's tools add around the words, such as a quote, does not hide a control word. */
export function parseCommand({ files = [], text }: Pick<InboundMessage, "files" | "text">): Command {
  const command = wordIn(splitText(text), text);
  return files.length > 0 && WORDS_ALONE.has(command.kind) ? { kind: "work" } : command;
}

function wordIn({ quote, tail, words }: SplitText, text: string): Command {
  if (STOP.test(words)) {
    return { kind: "stop" };
  }
  if (STATUS.test(words)) {
    return { kind: "status" };
  }
  if (ASIDE.test(words)) {
    return { kind: "aside" };
  }
  if (RETRY.test(words)) {
    return { kind: "retry" };
  }
  const [, mute] = MUTE.exec(words) ?? [];
  if (mute !== undefined) {
    return { kind: mute.toLowerCase() === "mute" ? "mute" : "unmute" };
  }
  // A quote without words is what the author wants to say.
  if (HELP.test(words) && quote === "" && tail === "") {
    return { kind: "help" };
  }
  const prompt = (NEW.exec(text.trim()) ?? NEW.exec(wordsFirst(text).trim()))?.[1];
  return prompt === undefined ? { kind: "work" } : { kind: "new", prompt };
}

export function helpText(trigger: string): string {
  return [
    `I run a coding agent for you. Tell me what to do: \`${trigger} add a test for the parser\`.`,
    "Options stand before the task: `repo=owner/name`, `ref=…`, `env=…`, `model=…`, `agent=…`, `pr=off`, `pr=draft`, `pr=ready`.",
    `This thread has one run: \`${trigger} …\` continues it, \`${trigger} status\` shows its state,`,
    `\`${trigger} stop\` stops it, \`${trigger} retry\` repeats it, and \`${trigger} new …\` starts another one.`,
    "I take these words only if a message says nothing else.",
    `Replies of the person who asked need no mention, unless others write here too. \`${trigger} mute\` makes me read mentions only,`,
    "and a message that begins with `(aside)` is never for me.",
  ].join("\n");
}
