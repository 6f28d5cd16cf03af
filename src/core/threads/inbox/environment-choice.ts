import { cleaned } from "../../basics/clean-text.ts";
import { defined } from "../../basics/defined.ts";
import type { TeamId } from "../../basics/ids.ts";
import { isOpenTo } from "../../model/people/ownership.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { Notice } from "../../model/threads/notice.ts";
import type { Thread } from "../../model/threads/thread.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { AskedEvent, Disposition, MessageResult } from "../../ports/stores/inbox-store.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type {
  EnvironmentChoice,
  InboundMessage,
  InboxEvent,
  ThreadAdapter,
} from "../../ports/thread-adapter.ts";
import {
  type AuthorizedContext,
  type ChosenEnvironment,
  type InboxDeps,
  type MessageContext,
  resultOf,
} from "./message-context.ts";
import { seenNotice } from "./message-results.ts";

/** How long a request waits for the choice of its environment. */
const CHOICE_MS = 60 * 60_000;

/** An environment that a person may choose, as it is shown. */
export interface ChoiceOption {
  readonly id: string;
  readonly name: string;
}

/** A person looks for an environment in the question where a request is to be worked on, or in the form of a new one. */
export interface ChoiceSearch {
  readonly adapter: string;
  readonly installation: string;
  /** The subject of the person. */
  readonly subject: string;
  /** The inbox event of the request. Absent: the person fills in a form. */
  readonly requestId?: string;
  /** What the person typed. Empty: all environments. */
  readonly query: string;
}

const QUESTION =
  "Where should I work? Neither your message nor a routing rule nor a default says it. Choose an environment, " +
  "or write the request again with `env=…` at its front. Without a choice within an hour, nothing happens.";
const DECIDED = "This question was decided already, or nobody chose within an hour.";
const CHANGED = "The request was changed or deleted meanwhile, so this choice has no effect.";
const NOT_YOURS = "Only the person who asked and administrators choose where the work is done.";

/**
 * Asks in the thread. The request waits in the inbox until a person chooses, at most for an hour. A request in a thread with
 * an open question waits for that one, and is processed again after it: then the thread has a run, or asks anew.
 */
export async function askForEnvironment(
  context: AuthorizedContext,
  choices: readonly Environment[],
  { storage }: InboxDeps,
): Promise<Disposition> {
  const { thread } = context;
  const [open] = await storage.inbox.listAskedIn(thread.id);
  if (open !== undefined) {
    const waitsWith = open.waitsWith ?? open.id;
    const waiting = { ...resultOf(context), disposition: "asked", waitsWith } as const;
    await storage.inbox.complete(waiting, { thread, notices: seenNotice(context) });
    return "asked";
  }
  const options = choices.map(optionOf);
  const question: Notice = { kind: "choice", requestId: context.inboxId, text: QUESTION, options };
  await storage.inbox.complete(
    { ...resultOf(context), disposition: "asked" },
    { thread, notices: [...seenNotice(context), question] },
  );
  return "asked";
}

interface SearchDeps extends Pick<InboxDeps, "adapters"> {
  readonly storage: Pick<Storage, "environments" | "identities" | "inbox" | "installations" | "people">;
}

/** The environments that match the query. Only the person who asked and administrators see their names. */
export async function searchChoices(
  search: ChoiceSearch,
  deps: SearchDeps,
): Promise<readonly ChoiceOption[]> {
  const { adapter: name, installation: externalId, subject, query } = search;
  const { storage } = deps;
  const asker = await askerOf(search, deps);
  if (asker === undefined) {
    return [];
  }
  const { enabled, teamId } = await storage.installations.ensure(name, externalId);
  if (!enabled) {
    return [];
  }
  const author = await findPrincipal(teamId, asker, storage);
  const isAuthor = subject === asker;
  const searcher = isAuthor ? author : await findPrincipal(teamId, subject, storage);
  if (author === undefined || searcher === undefined || !(isAuthor || searcher.administrator)) {
    return [];
  }
  const open = (await storage.environments.list(teamId)).filter((each) => isOpenTo(each, author));
  const parts = query.toLowerCase().split(/\s+/);
  return open
    .map(optionOf)
    .filter((option) => parts.every((part) => option.name.toLowerCase().includes(part)));
}

/** The subject of the person whose request the search is for. */
async function askerOf(
  { adapter: name, installation, requestId, subject }: ChoiceSearch,
  { adapters, storage }: SearchDeps,
): Promise<string | undefined> {
  if (requestId === undefined) {
    return subject;
  }
  const adapter = adapters.get(name);
  const event = await storage.inbox.findAsked(requestId);
  const request = adapter && event?.adapter === name ? await requestIn(event, adapter) : undefined;
  return request?.installation === installation ? request.author.subject : undefined;
}

function optionOf({ config: { name, repositories }, id }: Environment): ChoiceOption {
  const names = repositories.map((repository) => `${repository.owner}/${repository.name}`);
  return { id, name: names.length === 0 ? name : `${name} (${names.join(", ")})` };
}

/** The request that a choice is about, or why the choice has no effect. */
export async function findChosen(
  context: MessageContext,
  action: EnvironmentChoice,
  deps: InboxDeps,
): Promise<
  { readonly message: InboundMessage; readonly choice: ChosenEnvironment } | { readonly refusal: string }
> {
  const { adapter, installation, message: pressed, thread } = context;
  const { storage } = deps;
  const event = await storage.inbox.findAsked(action.requestId);
  const request = event && (await requestIn(event, adapter));
  if (request === undefined || request.key !== thread.key || request.installation !== thread.installation) {
    return { refusal: DECIDED };
  }
  const by = await findPrincipal(installation.teamId, pressed.author.subject, storage);
  const isAuthor = request.author.subject === pressed.author.subject;
  const mayChoose = isAuthor || (by?.administrator === true && (await adapter.authorize(pressed)).allowed);
  if (by === undefined || !mayChoose) {
    return { refusal: NOT_YOURS };
  }
  if (await isOutdated(request, deps)) {
    return { refusal: CHANGED };
  }
  const { environmentId, remember, requestId } = action;
  const environment =
    environmentId === undefined ? undefined : await storage.environments.find(by.teamId, environmentId);
  const isRefusedForPlace = remember === "place" && !by.administrator;
  const kept = remember === undefined || isRefusedForPlace || environment === undefined ? {} : { remember };
  const named = environment === undefined ? {} : { environmentName: environment.config.name };
  const chosen = environmentId === undefined ? {} : { environmentId };
  const { dedupeKey } = pressed;
  const revision = request.revision && { ...request.revision, isEdit: false };
  return {
    message: { ...request, dedupeKey, ...defined({ revision }) },
    choice: { requestId, by, isRefusedForPlace, ...chosen, ...named, ...kept },
  };
}

/** Makes the choice the default of the person who chose, or of the place. */
export async function rememberChoice(
  { adapter, choice, message }: AuthorizedContext,
  { requestDefaults }: InboxDeps,
): Promise<void> {
  const { installation, place } = message;
  if (choice?.remember === undefined || (choice.remember === "place" && place === undefined)) {
    return;
  }
  const { by, environmentId } = choice;
  const scope =
    choice.remember === "place" && place !== undefined
      ? { adapter: adapter.name, installation, place }
      : { principalId: by.id };
  const { repository: _repository, ref: _ref, ...others } = await requestDefaults.get(by.teamId, scope);
  await requestDefaults.set(by, scope, { ...others, environment_id: environmentId ?? "" });
}

/** Why a question can no longer be answered. The text replaces the question. */
const ENDS = {
  expired:
    "Nobody chose within an hour where I should work, so nothing was started. Write the request again.",
  stopped: "The request was stopped before anybody chose where I should work, so nothing was started.",
  deleted: "The request was deleted, so nothing was started.",
  changed: "The request was changed, so this question no longer counts.",
  unaddressed: "The request no longer mentions me, so nothing was started.",
} as const;
type QuestionEnd = keyof typeof ENDS;

type EndDeps = Pick<InboxDeps, "adapters" | "log"> & {
  readonly storage: Pick<InboxDeps["storage"], "inbox" | "threads">;
};

/** How questions end. */
export interface QuestionsEnd {
  readonly end: QuestionEnd;
  /** The account whose questions end. Default: those of everybody. */
  readonly subject?: string;
}

/** Gives up the requests for which nobody chose in time, and says so where they were made. */
export async function giveUpUnanswered(deps: EndDeps, limit: number): Promise<void> {
  for (const event of await deps.storage.inbox.listAsked(CHOICE_MS, limit)) {
    const waiting = await deps.storage.inbox.listWaitingWith(event.id);
    await endQuestions([event, ...waiting], { end: "expired" }, deps);
  }
}

/** Ends the questions among the results of a message. False when none of them was open. */
export async function endQuestionsOf(
  results: readonly MessageResult[],
  how: QuestionsEnd,
  deps: EndDeps,
): Promise<boolean> {
  const asked = results.filter(({ disposition }) => disposition === "asked");
  const events = await Promise.all(asked.map(({ inboxId }) => deps.storage.inbox.findAsked(inboxId)));
  return endQuestions(
    events.filter((event) => event !== undefined),
    how,
    deps,
  );
}

/** Ends the questions that were asked in a thread. False when none of them was open. */
export async function endQuestionsIn(
  threadId: Thread["id"],
  how: QuestionsEnd,
  deps: EndDeps,
): Promise<boolean> {
  return endQuestions(await deps.storage.inbox.listAskedIn(threadId), how, deps);
}

/** Those that wait for the question of another come first, because they are open again once that has ended. */
async function endQuestions(
  events: readonly AskedEvent[],
  how: QuestionsEnd,
  deps: EndDeps,
): Promise<boolean> {
  let isEnded = false;
  const waiting = events.filter(({ waitsWith }) => waitsWith !== undefined);
  for (const event of [...waiting, ...events.filter(({ waitsWith }) => waitsWith === undefined)]) {
    if (await endQuestion(event, how, deps)) {
      isEnded = true;
    }
  }
  return isEnded;
}

async function endQuestion(
  event: AskedEvent,
  { end, subject }: QuestionsEnd,
  { adapters, log, storage }: EndDeps,
): Promise<boolean> {
  const adapter = adapters.get(event.adapter);
  const request =
    adapter &&
    (await requestIn(event, adapter).catch((error: unknown) => {
      log.warn("inbox.request.not_translated", { inboxId: event.id, error });
      return undefined;
    }));
  if (subject !== undefined && request?.author.subject !== subject) {
    return false;
  }
  const thread = request && (await storage.threads.find(request));
  if (request === undefined || thread === undefined) {
    return storage.inbox.giveUpAsked(event.id, ENDS[end]);
  }
  const { messageRef } = request;
  const closed: Notice = { kind: "choice", requestId: event.id, text: ENDS[end], options: [] };
  const reaction: Notice = { kind: "ended", messageRef, end: "stopped" };
  const closing = event.waitsWith === undefined ? [closed] : [];
  const notices = end === "changed" || messageRef === "" ? closing : [...closing, reaction];
  return storage.inbox.giveUpAsked(event.id, ENDS[end], { thread, notices });
}

async function requestIn(event: InboxEvent, adapter: ThreadAdapter): Promise<InboundMessage | undefined> {
  const translation = await adapter.translate(event);
  return translation.kind === "message" ? cleaned(translation.message, (text) => text) : undefined;
}

/** Undefined: the account has not written here before, or its principal is disabled. */
async function findPrincipal(
  teamId: TeamId,
  subject: string,
  { identities, people }: Pick<Storage, "identities" | "people">,
): Promise<Principal | undefined> {
  const identity = await identities.find(teamId, subject);
  const [principal] = identity === undefined ? [] : await people.getMany([identity.principalId]);
  return principal?.disabled === false ? principal : undefined;
}

async function isOutdated({ revision }: InboundMessage, { storage }: InboxDeps): Promise<boolean> {
  if (revision === undefined) {
    return false;
  }
  const results = await storage.inbox.listResultsOf(revision.messageId);
  return results.some(({ version }) => version > revision.version);
}
