/** What becomes of an option and of its value. An empty list drops both. */
export interface OptionForm {
  readonly hasValue: boolean;
  newer(value: string): readonly string[];
  /** What the user must know. */
  readonly note?: string;
}

/** An older command. Each of its words may have several forms, separated by `|`. */
export interface Form {
  readonly older: string;
  /** `{}` stands for the argument. */
  readonly newer: string;
  /** An option without which the command is not this one. */
  readonly only?: string;
  /** How many words may follow. More are a prompt that was not quoted, which is an error of its own. */
  readonly words: number;
  readonly options?: Readonly<Record<string, OptionForm>>;
}

type Options = NonNullable<Form["options"]>;

const renamed = (name: string, newerValue = (value: string) => value): OptionForm => ({
  hasValue: true,
  newer: (value) => [`${name}=${newerValue(value)}`],
});
const flag = (...newer: readonly string[]): OptionForm => ({ hasValue: false, newer: () => newer });
const ignored = (note: string): OptionForm => ({ hasValue: false, newer: () => [], note });
const without = (note: string): OptionForm => ({ hasValue: true, newer: () => [], note });
const team = (records: string): Options => ({
  "--team": ignored(`--team has no effect: ${records} belong to the team.`),
});

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  json: ["--json"],
  ndjson: ['--jq=if type == "array" then .[] else . end'],
  pretty: [],
  text: [],
};
/** What each older command takes, also before its own words. */
export const OUTPUT_FORMAT: OptionForm = {
  hasValue: true,
  newer: (value) => FORMATS[value] ?? [`--output-format=${value}`],
};

const NAME: Options = { "-n": renamed("--name") };
const PLACE: Options = {
  "-e": renamed("--env"),
  "--environment": renamed("--env"),
  "--no-environment": flag("--no-env"),
  "--remove-environment": flag("--no-env"),
};
const CONFIG_FILE: Options = { "-f": renamed("--config-file"), "--file": renamed("--config-file") };
const SNAPSHOT = "has no effect: the workspace of a run is always stored.";
const HARNESSES: Readonly<Record<string, string>> = { "claude-code": "claude", "open-code": "opencode" };
const RUN: Options = {
  ...NAME,
  ...PLACE,
  ...CONFIG_FILE,
  "--open": flag("--web"),
  "--team": ignored("--team has no effect: the team sees a run unless it has --personal."),
  "--harness": renamed("--agent", (name) => HARNESSES[name] ?? name),
  "--no-snapshot": ignored(`--no-snapshot ${SNAPSHOT}`),
  "--snapshot-upload-timeout": without(`--snapshot-upload-timeout ${SNAPSHOT}`),
  "--snapshot-script-timeout": without(`--snapshot-script-timeout ${SNAPSHOT}`),
  "--computer-use": ignored("--computer-use has no effect: the agent decides which tools it has."),
  "--no-computer-use": ignored("--no-computer-use has no effect: the agent decides which tools it has."),
};
const RUNS: Options = { ...PLACE, "--ancestor-run": renamed("--ancestor") };
const ENVIRONMENT: Options = {
  ...NAME,
  ...team("environments"),
  "--docker-image": renamed("--image"),
  "-d": renamed("--image"),
  "-r": renamed("--repo"),
  "--setup-command": renamed("--setup"),
  "-c": renamed("--setup"),
  "--remove-description": flag("--description="),
  "--force": flag(),
};
const SCHEDULE: Options = {
  ...NAME,
  ...PLACE,
  ...CONFIG_FILE,
  ...team("schedules"),
  "-p": renamed("--prompt"),
  "--remove-skill": flag("--skill="),
};
const AGENT: Options = { ...NAME, ...PLACE, "--base-model": renamed("--model") };
const SECRET: Options = {
  ...team("secrets"),
  "-f": renamed("--value-file"),
  "--value": flag(),
  "-d": without("--description has no effect: secrets have no description."),
  "--description": without("--description has no effect: secrets have no description."),
  "-t": without("--type has no effect: the name of a secret is that of its variable."),
  "--type": without("--type has no effect: the name of a secret is that of its variable."),
};
const DELETE: Options = { ...team("records"), "--force": flag("--yes"), "-f": flag("--yes") };

const form = (older: string, newer: string, words: number, options: Options = {}): Form => ({
  older,
  newer,
  words,
  options,
});

export const FORMS: readonly Form[] = [
  form("agent run-cloud|run-ambient|ra", "run", Number.POSITIVE_INFINITY, RUN),
  form("agent list", "skills list", 0, { "-r": renamed("--repo") }),
  form("agent skills", "skills list", 0, { "-r": renamed("--repo") }),
  form("agent get", "agents get", 1),
  form("agent create", "agents create", 0, AGENT),
  form("agent update", "agents edit", 1, AGENT),
  form("agent delete", "agents delete", 1, DELETE),
  form("run|task list", "runs list", 0, RUNS),
  {
    ...form("run|task get", "api GET /agent/runs/{}/conversation", 1, { "--conversation": flag() }),
    only: "--conversation",
  },
  form("run|task get", "runs get", 1),
  form("run|task conversation get", "api GET /agent/conversations/{}", 1),
  form("environment|e list", "environments list", 0),
  form("environment|e get", "environments get", 1),
  form("environment|e create", "environments create", 0, ENVIRONMENT),
  form("environment|e update", "environments edit", 1, ENVIRONMENT),
  form("environment|e delete", "environments delete", 1, DELETE),
  form("schedule list", "schedules list", 0, team("schedules")),
  form("schedule get", "schedules get", 1),
  form("schedule create", "schedules create", 0, SCHEDULE),
  form("schedule update", "schedules edit", 1, SCHEDULE),
  form("schedule pause", "schedules pause", 1),
  form("schedule unpause|resume", "schedules resume", 1),
  form("schedule delete", "schedules delete", 1, DELETE),
  form("schedule", "schedules create", 0, SCHEDULE),
  form("secret list", "secrets list", 0),
  form("secret create|update", "secrets set", 1, SECRET),
  form("secret delete", "secrets delete", 1, DELETE),
  form("api-key list", "keys list", 0),
  form("api-key expire|delete", "keys delete", 1, DELETE),
  form("mcp list", "mcp-servers list", 0),
  form("model list", "models", 0),
  form("completions", "completion", 1),
];

const CONNECTED = "An administrator connects Slack and GitHub on the page Connections of the server.";
const NOTHING_ALIKE = "Errand has nothing like it.";

/** What cannot be translated, and what to do instead. */
export const REFUSALS: readonly (readonly [older: string, instead: string])[] = [
  ["agent run|r", 'Errand runs agents on its workers. Use "errand run".'],
  ["agent profile", 'Errand has named agents instead. Use "errand agents".'],
  ["environment|e image", "Each Docker image can be used: errand environments create --image IMAGE"],
  ["run|task message", 'Runs send each other no messages. For a follow-up, use "errand send RUN".'],
  [
    "secret create|update claude|codex",
    'The name of a secret is that of its variable: "errand secrets set ANTHROPIC_API_KEY".',
  ],
  ["api-key create", 'Use "errand keys create --name NAME --days 30".'],
  ["artifact", 'Use "errand artifacts RUN --download".'],
  ["integration", CONNECTED],
  ["provider", CONNECTED],
  ["federate", NOTHING_ALIKE],
  ["harness-support", NOTHING_ALIKE],
  ["memory|memory-store|memory-stores", NOTHING_ALIKE],
  ["runner", "The image and the setup commands are parts of an environment."],
];
