import { defined } from "../../basics/defined.ts";
import { isOpenTo, isTeamOwned } from "../../model/people/ownership.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import type { Run } from "../../model/runs/run.ts";
import { isEnded } from "../../model/runs/states.ts";
import type { ThreadBinding } from "../../model/threads/thread.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { ConfigDefault, NewRun } from "../../requests/prepare/new-run.ts";
import { storeInputFiles } from "../../requests/prepare/store-input-files.ts";
import { retriedRun } from "../../requests/retried-run.ts";
import { isPlaced, withoutPlace } from "../../requests/routing/route-request.ts";
import { refuseOverBotLimit } from "./bot-limit.ts";
import { askForEnvironment, rememberChoice } from "./environment-choice.ts";
import { contextText, withNames } from "./gather-context.ts";
import { type AuthorizedContext, type InboxDeps, requestOriginOf } from "./message-context.ts";
import { completing, reply, replyWith } from "./message-results.ts";
import { parseOptions, type RequestOptions } from "./parse-command.ts";
import { repositoryConfigFor } from "./repository-settings.ts";

/** Starts the run that the text asks for, or asks its author first where the work is to be done. */
export async function startRun(
  context: AuthorizedContext,
  deps: InboxDeps,
  text: string,
): Promise<Disposition> {
  const { author, message } = context;
  const { form } = message;
  let options: RequestOptions;
  try {
    options = form === undefined ? await parseOptions(text, author, deps) : { config: form, prompt: text };
  } catch (error) {
    return replyWith(error, context, deps);
  }
  const elsewhere = await refusedRepository(context, options.config.repository);
  if (elsewhere !== undefined) {
    return reply(context, deps, elsewhere);
  }
  const said = requestOf(context, options, deps);
  const { provenance, ...ofRepository } = await repositoryConfigFor(context, options.config, deps);
  const asked = { ...said, ...ofRepository, provenance: { ...said.provenance, ...provenance } };
  const resolution = await resolveEnvironment(context, asked, deps);
  if ("choices" in resolution) {
    return askForEnvironment(context, resolution.choices, deps);
  }
  if (context.choice?.remember !== undefined) {
    await rememberChoice(context, deps);
  }
  const { hasEnvironments, request } = resolution;
  const found = hasEnvironments === undefined ? {} : { has_environments: hasEnvironments };
  const { files = [] } = context.gathered;
  const inputs = files.length === 0 ? undefined : await storeInputFiles(deps.blobs, files);
  const newRun = {
    ...request,
    provenance: { ...request.provenance, ...found },
    ...defined({ inputs }),
  };
  return createRun(newRun, context, deps);
}

/** An option that is impossible is answered. */
async function createRun(newRun: NewRun, context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  const refused = await refuseOverBotLimit(context, deps);
  if (refused !== undefined) {
    return refused;
  }
  try {
    const extras = completing(context, "run_created");
    const warnings = [...(extras.warnings ?? []), ...(newRun.provenance?.settings_mistakes ?? [])];
    await deps.runs.create(newRun, { ...extras, warnings, binding: bindingOf(context) });
    return "run_created";
  } catch (error) {
    return replyWith(error, context, deps);
  }
}

function requestOf(
  { adapter, author, choice, gathered, message, proven, roles }: AuthorizedContext,
  { config, isWithoutEnvironment, prompt }: RequestOptions,
  { changesDefault }: Pick<InboxDeps, "changesDefault">,
): NewRun {
  const { permalink, title } = message;
  const surroundings = contextText(message.context, gathered);
  const isProposed =
    adapter.traits.proposesChanges === true && !roles.includes("bot") && message.asksForReview !== true;
  const isEmpty =
    isWithoutEnvironment === true || (choice !== undefined && choice.environmentId === undefined);
  return {
    prompt: withNames(prompt, gathered),
    ...defined({
      config: Object.keys(config).length === 0 ? undefined : config,
      isWithoutEnvironment: isEmpty ? true : undefined,
      changesDefault: isProposed && changesDefault !== "off" ? changesDefault : undefined,
    }),
    source: adapter.traits.source,
    creator: author,
    // An account's first message creates its principal, so there is always one.
    provenance: {
      ...message.provenance,
      ...proven,
      linked_account: author.id,
      ...defined({
        review: message.asksForReview === true ? true : undefined,
        message_ref: message.messageRef === "" ? undefined : message.messageRef,
        bot_place: message.author.botId === undefined ? undefined : message.place,
      }),
    },
    ...defined({ context: surroundings, title, triggerUrl: permalink }),
  };
}

/** A person who may write here can be a stranger in the repository that the request names. */
async function refusedRepository(
  { adapter, message }: AuthorizedContext,
  repository: string | undefined,
): Promise<string | undefined> {
  const isHere = repository?.toLowerCase() === message.place?.toLowerCase();
  if (repository === undefined || isHere || adapter.mayWrite === undefined) {
    return undefined;
  }
  return (await adapter.mayWrite(message, repository))
    ? undefined
    : `I work in ${repository} only for people who can write to it, and only where this App is installed by the same owner.`;
}

/** The participants of the thread's next run are the author and the people whom the author mentions. */
function bindingOf({ message, thread }: AuthorizedContext): ThreadBinding {
  const participants = [...new Set([message.author.subject, ...(message.mentions ?? [])])];
  return { thread, participants, expected: thread.runId };
}

/** The request with what it does not say itself, or the environments that its author may choose from. */
type EnvironmentResolution =
  | { readonly request: NewRun; readonly hasEnvironments?: false }
  | { readonly choices: readonly Environment[] };

/** Finds out whether the author must be asked where the work is to be done. */
async function resolveEnvironment(
  context: AuthorizedContext,
  request: NewRun,
  { requestDefaults, runs, storage }: InboxDeps,
): Promise<EnvironmentResolution> {
  const { adapter, author, choice, message } = context;
  const { installation, place } = message;
  const scope = place === undefined ? undefined : { adapter: adapter.name, installation, place };
  const stored = await requestDefaults.listFor(author.teamId, { person: author.id, place: scope });
  const all = await storage.environments.list(author.teamId);
  const open = all.filter((environment) => isOpenTo(environment, author));
  const usable = stored.map((each) =>
    isUsable(each, open) ? each : { ...each, config: withoutPlace(each.config) },
  );
  const defaults = choice === undefined ? usable : [...usable, defaultOf("choice", choice.environmentId)];
  const known = { ...request, defaults };
  if (
    choice !== undefined ||
    adapter.traits.asksForEnvironment !== true ||
    request.isWithoutEnvironment === true
  ) {
    return { request: known };
  }
  const routed = await runs.preparer.route(known, requestOriginOf(context));
  const { config = {}, provenance = {} } = routed;
  if (isPlaced(config) || homeRepositoryOf({ provenance }) !== undefined) {
    return { request: routed };
  }
  // Everybody in the thread reads the question, and administrators may use the environments of other people.
  const offered = open.filter((each) => isTeamOwned(each) || each.ownerId === author.id);
  if (offered.length > 1) {
    return { choices: offered };
  }
  const only = [...defaults, defaultOf("only_environment", offered[0]?.id)];
  const completed = { ...request, defaults: only };
  return all.length === 0 ? { request: completed, hasEnvironments: false } : { request: completed };
}

/** The environment of a default may be deleted by now, or belong to another person. */
function isUsable({ config: { environment_id: id } }: ConfigDefault, open: readonly Environment[]): boolean {
  return id === undefined || open.some((environment) => environment.id === id);
}

function defaultOf(layer: ConfigDefault["layer"], environment: string | undefined): ConfigDefault {
  return { layer, config: environment === undefined ? {} : { environment_id: environment } };
}

/** Repeats an ended run in the same thread. */
export async function retryRun(
  context: AuthorizedContext,
  deps: InboxDeps,
  runId: Run["id"],
): Promise<Disposition> {
  const { adapter, author, message } = context;
  const run = await deps.runs.requireControl(runId, author, requestOriginOf(context));
  if (!isEnded(run.state)) {
    return reply(context, deps, "The run has not ended yet.");
  }
  const again = await retriedRun(deps, runId, { creator: author, source: adapter.traits.source });
  // The reactions stay on the request, because a button is on a message of the bot and a command is no message.
  const isWritten = message.buttonAction === undefined && message.messageRef !== "";
  const asked = isWritten ? { message_ref: message.messageRef } : {};
  return createRun({ ...again, provenance: { ...again.provenance, ...asked } }, context, deps);
}
