import { cutMiddle, cutText } from "../../basics/clean-text.ts";
import { hasHidden, withHiddenShown } from "../../basics/hidden-characters.ts";
import type { PermissionOption, PermissionRequest } from "./agent-update.ts";

/** Adapters can show a text of this length as a whole. */
const FACTS_LENGTH_MAX = 2_000;
const WORDS_LENGTH_MAX = 500;
const LINE_LENGTH_MAX = 200;

/** What a person reads who answers a question outside of the pages. */
export interface ShownQuestion {
  readonly text: string;
  /**
   * Whether the text says everything that the call would do, with no characters that a reader cannot see. Otherwise
   * nobody allows it with one click or one word: the person opens the page of the run.
   */
  readonly isWhole: boolean;
  /** Those that may be chosen with one click. */
  readonly options: readonly PermissionOption[];
}

export function shownQuestion(question: PermissionRequest): ShownQuestion {
  const { truncated = false, options, reason, title } = question;
  const facts = factsOf(question);
  const raw = facts.map(({ text }) => text).join("\n");
  const shown = facts.map(({ label, text }) => `${label}\n${withHiddenShown(text)}`).join("\n");
  const words = reason ?? title;
  const said = `The agent's own words: ${withHiddenShown(cutText(words, WORDS_LENGTH_MAX))}`;
  const names = options.map(({ name }) => name).join("\n");
  const isWhole = !truncated && shown.length <= FACTS_LENGTH_MAX && !hasHidden(`${raw}\n${words}\n${names}`);
  return {
    // Without facts, the words are the question.
    text: facts.length === 0 ? withHiddenShown(words) : `${cutMiddle(shown, FACTS_LENGTH_MAX)}\n${said}`,
    isWhole,
    options: isWhole ? options : options.filter(({ kind }) => !kind.startsWith("allow")),
  };
}

/** The question in one line, for lists and states. */
export function questionLine({ command, diff, paths = [], title }: PermissionRequest): string {
  if (command !== undefined) {
    return `The agent asks to run: ${oneLine(command)}`;
  }
  return diff === undefined
    ? `The agent asks: ${oneLine(title)}`
    : `The agent asks to change: ${oneLine(paths.join(", "))}`;
}

/** The answer of a turn that a refusal has ended without a word of the agent. */
export function refusalLine({ command, diff, paths = [], title }: PermissionRequest): string {
  return `You said no to: ${oneLine(command ?? (diff === undefined ? title : paths.join(", ")))}`;
}

function oneLine(text: string): string {
  return cutText(withHiddenShown(text.replaceAll(/\s+/g, " ").trim()), LINE_LENGTH_MAX);
}

interface Fact {
  readonly label: string;
  readonly text: string;
}

function factsOf({ command, diff, input, paths = [] }: PermissionRequest): readonly Fact[] {
  const facts: readonly [label: string, text: string | undefined][] = [
    ["It wants to run:", command],
    ["It wants to change:", diff],
    ["Arguments of the call:", input],
    ["Files and directories:", paths.length === 0 ? undefined : paths.join("\n")],
  ];
  return facts.flatMap(([label, text]) => (text === undefined ? [] : [{ label, text }]));
}
