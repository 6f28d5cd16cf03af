import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { isOpenTo, isTeamOwned } from "../../model/people/ownership.ts";
import type { Principal } from "../../model/people/principal.ts";
import { PULL_REQUEST_SETTINGS } from "../../model/repositories/pull-request-setting.ts";
import { repositoryIn } from "../../model/repositories/repository-address.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import { type SplitText, splitText, wordsFirst } from "../../model/threads/own-words.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { InboundMessage } from "../../ports/thread-adapter.ts";

/** What a message asks for. A message without a control word is work for the agent. */
export type Command =
  | { readonly kind: "stop" }
  | { readonly kind: "pause" }
  | { readonly kind: "status" }
  | { readonly kind: "help" }
  | { readonly kind: "retry" }
  | { readonly kind: "mute" | "unmute" }
  | { readonly kind: "aside" }
  | { readonly kind: "new"; readonly prompt: string }
  | { readonly kind: "work" };

const STOP = /^(stop|cancel|abort|halt)\s*[.!]*$/i;
const PAUSE = /^pause\s*[.!]*$/i;
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

/** What people's tools add around the words, such as a quote, does not hide a control word. A form has none. */
export function parseCommand({
  files = [],
  form,
  text,
}: Pick<InboundMessage, "files" | "form" | "text">): Command {
  if (form !== undefined) {
    return { kind: "new", prompt: text };
  }
  const command = wordIn(splitText(text), text);
  return files.length > 0 && WORDS_ALONE.has(command.kind) ? { kind: "work" } : command;
}

function wordIn({ quote, tail, words }: SplitText, text: string): Command {
  if (STOP.test(words)) {
    return { kind: "stop" };
  }
  if (PAUSE.test(words)) {
    return { kind: "pause" };
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
    `\`${trigger} pause\` ends its turn and waits for what you write next, \`${trigger} stop\` stops it, \`${trigger} retry\` repeats it, and \`${trigger} new …\` starts another one.`,
    "I take these words only if a message says nothing else.",
    `Replies of the person who asked need no mention, unless others write here too. \`${trigger} mute\` makes me read mentions only,`,
    "and a message that begins with `(aside)` is never for me.",
  ].join("\n");
}

/** What a request says about its run before its words: `repo=acme/web env=Backend fix the parser`. */
export interface RequestOptions {
  readonly config: RunConfig;
  /** `env=none` */
  readonly isWithoutEnvironment?: true;
  /** The words without the options. */
  readonly prompt: string;
}

const NAMES = ["repo", "ref", "env", "model", "agent", "pr"] as const;
type Name = (typeof NAMES)[number];
const NO_ENVIRONMENT = "none";
/**
 * Some keyboards turn straight quotation marks into curly ones. A text matches in one way only, otherwise a hostile one
 * would take exponential time.
 */
export const OPTION_VALUE = '(?:["“”][^"“”\\n]*["“”]|[^\\s"“”]\\S*)';
const OPTION = new RegExp(`^\\s*(${NAMES.join("|")})=(${OPTION_VALUE})(?=\\s|$)`, "i");

const OPTION_OF: Readonly<Record<string, Name>> = { repository: "repo", ref: "ref", pull_request: "pr" };

/** The message of an error with a member of the configuration as the option that its author wrote. */
export function withOptionName(message: string): string {
  return message.replace(/^config\.(\w+): /, (whole, member: string) => {
    const option = OPTION_OF[member];
    return option === undefined ? whole : `\`${option}=\` `;
  });
}

export interface OptionDeps {
  readonly storage: Pick<Storage, "environments">;
  /** The address of the host whose repositories people name. */
  readonly gitUrl: string;
}

/** Reads the options at the front of a request of the author. Throws `invalid_request` for a value that is impossible. */
export async function parseOptions(
  text: string,
  author: Principal,
  { gitUrl, storage: { environments } }: OptionDeps,
): Promise<RequestOptions> {
  let rest = text;
  const options = new Map<Name, string>();
  for (let found = OPTION.exec(rest); found !== null; found = OPTION.exec(rest)) {
    const [whole, name = "", value = ""] = found;
    options.set(name.toLowerCase() as Name, value.replace(/["“”]/g, ""));
    rest = rest.slice(whole.length);
  }
  const environment = options.get("env");
  const isNone = environment?.toLowerCase() === NO_ENVIRONMENT;
  const id =
    environment === undefined || isNone
      ? undefined
      : environmentOf(author, await environments.list(author.teamId), environment);
  const [agent, model, ref, repository] = (["agent", "model", "ref", "repo"] as const).map((name) =>
    options.get(name),
  );
  const pullRequest = pullRequestOf(options.get("pr"));
  const config: RunConfig = defined({
    environment_id: id,
    repository: repository === undefined ? undefined : repositoryIn(repository, gitUrl),
    ref,
    model_id: model,
    harness: agent === undefined ? undefined : { type: agent },
    pull_request: pullRequest,
  });
  return defined({ config, prompt: rest.trim(), isWithoutEnvironment: isNone ? true : undefined });
}

export function environmentOf(author: Principal, all: readonly Environment[], name: string): string {
  const wanted = name.toLowerCase();
  const found = all
    .filter((environment) => isOpenTo(environment, author))
    .find(({ config, id }) => id === wanted || config.name.toLowerCase() === wanted);
  if (found !== undefined) {
    return found.id;
  }
  // Everybody in the thread reads the answer, so it leaves out the environments of single people.
  const names = all.filter(isTeamOwned).map(({ config }) => config.name);
  const list = names.length === 0 ? "Your team has none." : `There are: ${names.join(", ")}.`;
  throw new AppError("invalid_request", `There is no environment ${name}. ${list}`);
}

function pullRequestOf(value: string | undefined) {
  const setting = PULL_REQUEST_SETTINGS.find((one) => one === value?.toLowerCase());
  if (value !== undefined && setting === undefined) {
    throw new AppError(
      "invalid_request",
      `\`pr=${value}\`: it must be one of ${PULL_REQUEST_SETTINGS.join(", ")}.`,
    );
  }
  return setting;
}
