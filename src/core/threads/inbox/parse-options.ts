import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import { isOpenTo, isTeamOwned } from "../../model/people/ownership.ts";
import type { Principal } from "../../model/people/principal.ts";
import { PULL_REQUEST_SETTINGS, type RunConfig } from "../../model/runs/run.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { Storage } from "../../ports/stores/storage.ts";

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

/** Reads the options at the front of a request of the author. Throws `invalid_request` for a value that is impossible. */
export async function parseOptions(
  text: string,
  author: Principal,
  { environments }: Pick<Storage, "environments">,
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
    repository,
    ref,
    model_id: model,
    harness: agent === undefined ? undefined : { type: agent },
    pull_request: pullRequest,
  });
  return defined({ config, prompt: rest.trim(), isWithoutEnvironment: isNone ? true : undefined });
}

function environmentOf(author: Principal, all: readonly Environment[], name: string): string {
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
