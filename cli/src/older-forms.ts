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
      return { words: [...newer, ...rest], note };
    }
  }
  return { words };
}

/** Each option may have a value behind it. */
function optionValues(words: readonly string[]): number {
  return words.filter((word) => word.startsWith("-") && !word.includes("=")).length;
}
