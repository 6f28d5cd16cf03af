/** Until then, the older forms of commands work. It is the `Sunset` date of the server as well. */
const SUNSET = "2027-11-20";

/** The older form, the newer one, and how many words may follow. */
const FORMS: readonly (readonly [older: readonly string[], newer: readonly string[], words: number])[] = [
  [["agent", "run-cloud"], ["run"], Number.POSITIVE_INFINITY],
  [["run", "list"], ["runs", "list"], 0],
  [["run", "get"], ["runs", "get"], 1],
  [["environment", "list"], ["environments", "list"], 0],
  [["environment", "get"], ["environments", "get"], 1],
  [["schedule", "list"], ["schedules", "list"], 0],
];

export interface Translation {
  readonly words: readonly string[];
  /** What to tell the user. Undefined: the form is not an older one. */
  readonly note?: string;
}

/** Translates an older form of a command. */
export function translateOlderForm(words: readonly string[]): Translation {
  for (const [older, newer, count] of FORMS) {
    const rest = words.slice(older.length);
    const isOlder = older.every((word, index) => words[index] === word);
    // `errand run list the files` is a prompt that was not quoted, and an error of its own.
    if (isOlder && rest.filter((word) => !word.startsWith("-")).length <= count + optionValues(rest)) {
      const note = `"errand ${older.join(" ")}" works until ${SUNSET}. Use "errand ${newer.join(" ")}".`;
      return { words: [...newer, ...withNewerOptions(rest)], note };
    }
  }
  return { words };
}

/** Options of the older forms that have another name, or another meaning, in the newer ones. */
const OPTIONS: Readonly<Record<string, string>> = {
  "-f": "--config-file",
  "--file": "--config-file",
  "-n": "--name",
};
const FORMATS: Readonly<Record<string, readonly string[]>> = { json: ["--json"], pretty: [], text: [] };

/** Each option may stand before its value, or in one word with it. Behind `--` there are none. */
function withNewerOptions(words: readonly string[]): readonly string[] {
  const [word = "", next = ""] = words;
  if (words.length === 0 || word === "--") {
    return words;
  }
  const [, long = word, inline] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
  const rest = words.slice(inline === undefined ? 2 : 1);
  const value = inline ?? next;
  if (long === "--output-format") {
    return [
      ...(FORMATS[value] ?? [word, ...(inline === undefined ? [next] : [])]),
      ...withNewerOptions(rest),
    ];
  }
  const newer = OPTIONS[long];
  return newer === undefined
    ? [word, ...withNewerOptions(words.slice(1))]
    : [`${newer}=${value}`, ...withNewerOptions(rest)];
}

/** Each option may have a value behind it. */
function optionValues(words: readonly string[]): number {
  return words.filter((word) => word.startsWith("-") && !word.includes("=")).length;
}
