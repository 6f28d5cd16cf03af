/** Until then, the older forms of commands work. It is the `Sunset` date of the server as well. */
const SUNSET = "2027-11-20";

/** What becomes of an option and of its value. An empty list drops both. */
interface OptionForm {
  readonly hasValue: boolean;
  newer(value: string): readonly string[];
  /** What the user must know. */
  readonly note?: string;
}

interface Form {
  readonly older: readonly string[];
  readonly newer: readonly string[];
  /** How many words may follow. More are a prompt that was not quoted, which is an error of its own. */
  readonly words: number;
  readonly options?: Readonly<Record<string, OptionForm>>;
}

const renamed = (name: string): OptionForm => ({ hasValue: true, newer: (value) => [`${name}=${value}`] });
const flag = (...newer: readonly string[]): OptionForm => ({ hasValue: false, newer: () => newer });
const ignored = (note: string): OptionForm => ({ hasValue: false, newer: () => [], note });

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  json: ["--json"],
  ndjson: ["--jq=.[]?"],
  pretty: [],
  text: [],
};
const COMMON: Readonly<Record<string, OptionForm>> = {
  "--output-format": {
    hasValue: true,
    newer: (value) => FORMATS[value] ?? [`--output-format=${value}`],
  },
};
const RUN: Readonly<Record<string, OptionForm>> = {
  "-f": renamed("--config-file"),
  "--file": renamed("--config-file"),
  "-n": renamed("--name"),
  "--open": flag("--web"),
  "--team": ignored("--team has no effect: the team sees a run unless it has --personal."),
  "--harness": renamed("--agent"),
  "--no-environment": flag("--no-env"),
};
const ENVIRONMENT: Readonly<Record<string, OptionForm>> = {
  "-n": renamed("--name"),
  "--docker-image": renamed("--image"),
  "-r": renamed("--repo"),
  "--setup-command": renamed("--setup"),
  "-c": renamed("--setup"),
  "-d": renamed("--description"),
  "--team": ignored("--team has no effect: environments belong to the team."),
};
const SCHEDULE: Readonly<Record<string, OptionForm>> = {
  "-n": renamed("--name"),
  "-p": renamed("--prompt"),
  "-e": renamed("--env"),
  "--environment": renamed("--env"),
  "--team": ignored("--team has no effect: schedules belong to the team."),
};
const DELETE: Readonly<Record<string, OptionForm>> = { "--force": flag("--yes"), "-f": flag("--yes") };

const FORMS: readonly Form[] = [
  form("agent run-cloud", "run", Number.POSITIVE_INFINITY, RUN),
  form("agent list", "skills list", 0),
  form("run list", "runs list", 0),
  form("run get", "runs get", 1),
  form("task list", "runs list", 0),
  form("task get", "runs get", 1),
  form("environment list", "environments list", 0),
  form("environment get", "environments get", 1),
  form("environment create", "environments create", 0, ENVIRONMENT),
  form("environment update", "environments edit", 1, ENVIRONMENT),
  form("environment delete", "environments delete", 1, DELETE),
  form("schedule list", "schedules list", 0),
  form("schedule get", "schedules get", 1),
  form("schedule create", "schedules create", 0, SCHEDULE),
  form("schedule update", "schedules edit", 1, SCHEDULE),
  form("schedule pause", "schedules pause", 1),
  form("schedule unpause", "schedules resume", 1),
  form("schedule delete", "schedules delete", 1, DELETE),
  form("secret list", "secrets list", 0),
  form("secret delete", "secrets delete", 1, DELETE),
  form("mcp list", "mcp-servers list", 0),
  form("model list", "models", 0),
];

function form(older: string, newer: string, words: number, options: Form["options"] = {}): Form {
  return { older: older.split(" "), newer: newer.split(" "), words, options: { ...COMMON, ...options } };
}

export interface Translation {
  readonly words: readonly string[];
  /** What to tell the user. Undefined: the form is not an older one. */
  readonly note?: string;
}

/** Translates an older form of a command. */
export function translateOlderForm(words: readonly string[]): Translation {
  for (const { newer, older, options = {}, words: count } of FORMS) {
    const rest = words.slice(older.length);
    const isOlder = older.every((word, index) => words[index] === word);
    // `errand run list the files` is a prompt that was not quoted, and an error of its own.
    if (isOlder && rest.filter((word) => !word.startsWith("-")).length <= count + optionValues(rest)) {
      const translated = withNewerOptions(rest, options);
      const successor = `"errand ${older.join(" ")}" works until ${SUNSET}. Use "errand ${newer.join(" ")}".`;
      return { words: [...newer, ...translated.words], note: [successor, ...translated.notes].join("\n") };
    }
  }
  return { words };
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

/** Each option may have a value behind it. */
function optionValues(words: readonly string[]): number {
  return words.filter((word) => word.startsWith("-") && !word.includes("=")).length;
}
