import { FORMS, type Form, type OptionForm, OUTPUT_FORMAT, REFUSALS } from "./older-form-table.ts";

/** Until then, the older forms of commands work. It is the `Sunset` date of the server as well. */
const SUNSET = "2027-11-20";

/** Options that may stand before the words of a command. True: a value follows. */
const GLOBAL: Readonly<Record<string, boolean>> = {
  "--output-format": true,
  "--api-key": true,
  "--jq": true,
  "--url": true,
  "--context": true,
  "--json": false,
  "--debug": false,
  "--quiet": false,
  "-q": false,
  "--no-input": false,
};
const API_KEY: OptionForm = {
  hasValue: true,
  newer: () => ["--api-key"],
  note: "A key is no argument, because other users of the machine can read arguments. Set ERRAND_API_KEY.",
};

export interface Translation {
  readonly words: readonly string[];
  /** What to tell the user. Undefined: the form is not an older one. */
  readonly note?: string;
  /** What to do instead of an older form that cannot be translated. */
  readonly refusal?: string;
}

/** Translates an older form of a command. */
export function translateOlderForm(
  words: readonly string[],
  { WARP_OUTPUT_FORMAT: format = "" }: Readonly<Record<string, string | undefined>> = {},
): Translation {
  const start = globalWords(words);
  const leading = words.slice(0, start);
  const command = words.slice(start);
  for (const [older, instead] of REFUSALS) {
    if (begins(command, older)) {
      return { words, refusal: `"errand ${typed(command, older)}" does not exist. ${instead}` };
    }
  }
  for (const form of FORMS) {
    const rest = command.slice(lengthOf(form.older));
    if (begins(command, form.older) && isForm(form, rest)) {
      const preset = format === "" ? [] : [`--output-format=${format}`];
      const { notes, words: translated } = withNewerOptions(
        [...preset, ...leading, ...rest],
        optionsOf(form),
      );
      const newer = withArgument(form.newer, translated);
      const successor = `"errand ${typed(command, form.older)}" works until ${SUNSET}. Use "errand ${newer.command}".`;
      return {
        words: [...newer.command.split(" "), ...newer.rest],
        note: [successor, ...notes].join("\n"),
      };
    }
  }
  return { words };
}

const lengthOf = (older: string) => older.split(" ").length;
const typed = (command: readonly string[], older: string) => command.slice(0, lengthOf(older)).join(" ");

function begins(command: readonly string[], older: string): boolean {
  return older.split(" ").every((forms, index) => forms.split("|").includes(command[index] ?? ""));
}

/** `errand run list the files` is a prompt that was not quoted, and an error of its own. */
function isForm({ only, words }: Form, rest: readonly string[]): boolean {
  const isMeant = only === undefined || rest.includes(only);
  return isMeant && argumentCount(rest) <= words + optionValues(rest);
}

/** Some commands take the argument within one of their words. */
function withArgument(
  newer: string,
  words: readonly string[],
): { readonly command: string; readonly rest: readonly string[] } {
  const at = words.findIndex((word) => !word.startsWith("-"));
  return newer.includes("{}") && at >= 0
    ? { command: newer.replace("{}", words[at] ?? ""), rest: words.toSpliced(at, 1) }
    : { command: newer, rest: words };
}

function optionsOf({ options }: Form): Readonly<Record<string, OptionForm>> {
  return { "--output-format": OUTPUT_FORMAT, "--api-key": API_KEY, ...options };
}

/** How many words are options before the command. */
function globalWords(words: readonly string[]): number {
  let count = 0;
  for (;;) {
    const [name = "", ...value] = (words[count] ?? "").split("=");
    if (!Object.hasOwn(GLOBAL, name)) {
      return count;
    }
    count += GLOBAL[name] === true && value.length === 0 ? 2 : 1;
  }
}

/** Each option may stand before its value, or in one word with it. Behind `--` there are none. */
function withNewerOptions(
  words: readonly string[],
  options: Readonly<Record<string, OptionForm>>,
): { readonly words: readonly string[]; readonly notes: readonly string[] } {
  const newer: string[] = [];
  const notes: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "--") {
      newer.push(...words.slice(index));
      break;
    }
    const [, name = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) {
      newer.push(word);
      continue;
    }
    if (option.hasValue && inline === undefined) {
      index += 1;
    }
    newer.push(...option.newer(inline ?? words[index] ?? ""));
    notes.push(...(option.note === undefined ? [] : [option.note]));
  }
  return { words: newer, notes };
}

function argumentCount(words: readonly string[]): number {
  return words.filter((word) => !word.startsWith("-")).length;
}

/** Each option may have a value behind it. */
function optionValues(words: readonly string[]): number {
  return words.filter((word) => word.startsWith("-") && !word.includes("=")).length;
}
