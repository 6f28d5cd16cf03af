import { AppError } from "../../basics/errors.ts";
import type { DefaultsScope } from "../../model/defaults/request-defaults.ts";
import { isOpenTo } from "../../model/people/ownership.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { RequestDefaultsService } from "../../requests/routing/request-defaults-service.ts";
import { isPlaced, withoutPlace } from "../../requests/routing/route-request.ts";
import type { RunService } from "../../requests/run-service.ts";
import { OPTION_VALUE, parseOptions } from "./parse-command.ts";

/** `channel env=Backend`, `model=m agent=codex`, `clear`, or nothing. Anything else is no command about settings. */
const SETTINGS = new RegExp(
  `^(?:(channel)(?=\\s|$))?\\s*(clear|(?:[a-z]+=${OPTION_VALUE}(?:\\s+|$))*)$`,
  "i",
);

export interface SettingsCommand {
  readonly author: Principal;
  readonly text: string;
  readonly place: DefaultsScope;
}

export interface SettingsDeps {
  readonly requestDefaults: RequestDefaultsService;
  readonly runs: Pick<RunService, "preparer">;
  readonly gitUrl: string;
  readonly storage: Pick<Storage, "environments">;
}

export function isSettings(text: string): boolean {
  return SETTINGS.test(text.trim());
}

/** Sets the defaults of the person or of the place, and shows both. Throws an AppError that says what is wrong. */
export async function answerSettings(
  { author, place, text }: SettingsCommand,
  deps: SettingsDeps,
): Promise<string> {
  const [, channel, change = ""] = SETTINGS.exec(text.trim()) ?? [];
  const own: DefaultsScope = { principalId: author.id };
  const isOfPlace = channel !== undefined;
  if (change !== "") {
    if (isOfPlace && !author.administrator) {
      throw new AppError("not_authorized", "Only administrators set the defaults of a channel.");
    }
    await setDefaults({ author, change, scope: isOfPlace ? place : own }, deps);
  }
  const { requestDefaults } = deps;
  const [ofPerson, ofPlace] = [
    await requestDefaults.get(author.teamId, own),
    await requestDefaults.get(author.teamId, place),
  ];
  return [
    `Your defaults: ${await wordsOf(ofPerson, author, deps)}.`,
    `The defaults of this channel, which precede yours: ${await wordsOf(ofPlace, author, deps)}.`,
    "Set them by `settings env=… repo=… model=… agent=… pr=…`, with `channel` before that for the channel, or `clear` them.",
  ].join("\n");
}

interface Change {
  readonly author: Principal;
  readonly change: string;
  readonly scope: DefaultsScope;
}

async function setDefaults({ author, change, scope }: Change, deps: SettingsDeps): Promise<void> {
  const { requestDefaults, runs } = deps;
  if (change.toLowerCase() === "clear") {
    await requestDefaults.set(author, scope, {});
    return;
  }
  const before = await requestDefaults.get(author.teamId, scope);
  const options = await parseOptions(change, author, deps);
  if (options.prompt !== "") {
    throw new AppError("invalid_request", `I do not know the setting ${options.prompt}.`);
  }
  const { config, isWithoutEnvironment = false } = options;
  // An environment and a repository say together where the work is done.
  const kept = isPlaced(config) || isWithoutEnvironment ? withoutPlace(before) : before;
  const after: RunConfig = { ...kept, ...config };
  runs.preparer.requireStorable(after, "config");
  await requestDefaults.set(author, scope, after);
}

async function wordsOf(config: RunConfig, author: Principal, { storage }: SettingsDeps): Promise<string> {
  const { environment_id: id, harness, model_id: model, pull_request: pullRequest, ref, repository } = config;
  const words = Object.entries({
    env: id === undefined ? undefined : await nameOf(id, author, storage),
    repo: repository,
    ref,
    model,
    agent: harness?.type,
    pr: pullRequest,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return words.length === 0 ? "none" : `\`${words.join(" ")}\``;
}

/** The default of a channel may be an environment of the administrator who set it. Requests of others do not use it. */
async function nameOf(
  id: string,
  author: Principal,
  { environments }: SettingsDeps["storage"],
): Promise<string> {
  const environment = await environments.find(author.teamId, id);
  if (environment === undefined) {
    return "(deleted)";
  }
  return isOpenTo(environment, author) ? environment.config.name : "(of another person)";
}
