import { defined } from "../../basics/defined.ts";
import { AppError, TooMany } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import { isOutsider, refusingPolicy } from "../../model/policies/evaluate-policies.ts";
import type { Role } from "../../model/policies/policy.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { isEnded } from "../../model/runs/states.ts";
import type { Disposition, ThreadNotices } from "../../ports/stores/inbox-store.ts";
import { UniqueConflict } from "../../ports/stores/storage.ts";
import type { Authorization, EnvironmentChoice } from "../../ports/thread-adapter.ts";
import { endQuestionsIn, endQuestionsOf, findChosen } from "./environment-choice.ts";
import { executeCommand } from "./execute-command.ts";
import { gatherContext } from "./gather-context.ts";
import {
  type AuthorizedContext,
  findThread,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
  triggerIn,
} from "./message-context.ts";
import {
  complete,
  type Refusal,
  refuse,
  refuseFor,
  refuseForbidden,
  replyNotice,
  replyRefused,
  unlessDuplicate,
} from "./message-results.ts";
import { changeMessage, effectOf, withdrawMessage } from "./message-revision.ts";
import { parseCommand } from "./parse-command.ts";
import { refusalBy, settingsFor } from "./repository-settings.ts";
import { wantsReviews } from "./review-request.ts";
import { questionInsteadOf } from "./work-report.ts";

/** Another event can bind the thread between the look-up and the binding. Twice in a row is already unusual. */
const BINDING_TRIES_MAX = 5;
const SWITCHED_OFF = {
  allowed: false,
  reason: "This integration is not switched on here. An administrator of the server can do that.",
} as const;
const WAITING_MAX = 5;
const TOO_OFTEN = `${WAITING_MAX} of your requests wait for approval already. One of them has to be decided first.`;
const NO_ACCESS = "You have no access here.";
const DISABLED = "An administrator has switched your account here off.";

/** Decides whether a message is for the bot, and whether its author may use the bot. If so, `executeCommand` acts on it. */
export async function admitMessage(context: MessageContext, deps: InboxDeps): Promise<Disposition> {
  const { message, reportedRun, thread } = context;
  const { buttonAction: action } = message;
  if (reportedRun !== undefined && reportedRun.id !== thread.runId) {
    return ignore(context, "The run that it is about was deleted.", deps);
  }
  if (message.requestKind === "pull_request_opened" && !(await wantsReviews(context, deps))) {
    return ignore(context, "No policy asks for reviews of opened pull requests here.", deps);
  }
  if (action?.kind === "choose") {
    return unlessDuplicate(context, deps, () => processChoice(context, action, deps));
  }
  if (message.addressed === "reply" && thread.runId === undefined) {
    return processReplyWithoutRun(context, deps);
  }
  return unlessDuplicate(
    context,
    deps,
    async () => (await processEdit(context, deps)) ?? processNew(context, deps),
  );
}

/** Without a run, a thread may have a request that waits for a choice, which its author stops or takes back. */
async function processReplyWithoutRun(context: MessageContext, deps: InboxDeps): Promise<Disposition> {
  const { author, revision } = context.message;
  const { kind } = parseCommand(context.message);
  const { isEdit = false, messageId = "" } = revision ?? {};
  const results = isEdit ? await deps.storage.inbox.listResultsOf(messageId) : [];
  if (await endQuestionsOf(results, { end: "unaddressed" }, deps)) {
    return complete({ ...resultOf(context), disposition: "withdrawn" }, deps);
  }
  const { subject } = author;
  if (kind === "stop" && (await endQuestionsIn(context.thread.id, { end: "stopped", subject }, deps))) {
    return complete({ ...resultOf(context), disposition: "cancelled" }, deps);
  }
  const reason = "Not addressed to the bot, in a thread without a run.";
  return complete({ ...ignoredBy(context), reason, mayComeEarly: true }, deps);
}

/** Processes the request that waited for the choice, as it was when it was made. */
async function processChoice(
  context: MessageContext,
  action: EnvironmentChoice,
  deps: InboxDeps,
): Promise<Disposition> {
  const chosen = await findChosen(context, action, deps);
  return "refusal" in chosen
    ? replyRefused(context, chosen.refusal, deps)
    : authorizeAndDecide({ ...context, ...chosen }, deps);
}

/**
 * Processes a message as the edit of an earlier version. Undefined: the message is processed as a new one. So is an edit
 * whose original never arrived or had no effect.
 */
async function processEdit(context: MessageContext, deps: InboxDeps): Promise<Disposition | undefined> {
  const { inboxId, message } = context;
  const { addressed, revision } = message;
  if (revision === undefined) {
    return undefined;
  }
  const results = await deps.storage.inbox.listResultsOf(revision.messageId);
  if (results.some(({ version }) => version > revision.version)) {
    return ignore(context, "A later version of the message was processed before.", deps);
  }
  if (!revision.isEdit || results.length === 0) {
    return undefined;
  }
  const end = addressed === "reply" ? "unaddressed" : "changed";
  await endQuestionsOf(results, { end }, deps);
  const { kind } = parseCommand(message);
  const effect = effectOf(results);
  if (effect !== undefined && kind === "aside") {
    return withdrawMessage({ inboxId, deletion: { ...message, ...revision }, effect }, deps);
  }
  if (effect !== undefined && (kind === "work" || kind === "new")) {
    return authorizeAndDecide({ ...context, effect }, deps);
  }
  if (results.some(({ disposition }) => disposition === "cancelled" || disposition === "answered")) {
    return ignore(context, "The message had its effect before this edit.", deps);
  }
  if (effect === undefined && addressed === "reply") {
    return ignore(context, "An edit of a message that was not for the bot.", deps);
  }
  return undefined;
}

async function processNew(context: MessageContext, deps: InboxDeps): Promise<Disposition> {
  const { message, thread } = context;
  const { kind } = parseCommand(message);
  if (kind === "aside") {
    return ignore(context, "An aside.", deps);
  }
  // `new` and `retry` give the thread a run of their author.
  if (isByOther(context) && thread.needsMention !== true && kind !== "new" && kind !== "retry") {
    await deps.storage.threads.setNeedsMention(thread.id, true);
  }
  const ignored = message.addressed === "reply" ? await ignoreReply(context, deps) : undefined;
  return ignored ?? authorizeAndDecide(context, deps);
}

/** A user wrote in the thread of a run who does not take part in it. */
function isByOther({ message, reportedRun, thread: { participants = [], runId } }: MessageContext): boolean {
  const isWritten = message.buttonAction === undefined && reportedRun === undefined;
  return isWritten && runId !== undefined && !participants.includes(message.author.subject);
}

/**
 * A reply without a mention is for the bot only if all who write in the thread are participants. A reply makes nobody
 * else a principal, and the platform is not asked about its author.
 */
async function ignoreReply(context: MessageContext, deps: InboxDeps): Promise<Disposition | undefined> {
  const { thread } = context;
  if (isByOther(context)) {
    const reason = "A reply of a user who does not take part in the run.";
    return ignore(context, reason, deps, await stopRefusal(context, deps));
  }
  if (thread.needsMention !== true) {
    return undefined;
  }
  const reason = "A reply without a mention, in a thread where others write too.";
  if (thread.verbosity === "quiet") {
    return ignore(context, reason, deps);
  }
  const text = `Others write here too, so I take only messages that mention me: \`${triggerIn(context)} …\`.`;
  const notices = [replyNotice(context, text, true)];
  return ignore(context, reason, deps, { thread, notices, once: `mention-needed ${thread.id}` });
}

/** Who writes `stop` about a run that works learns privately why it was not stopped. */
async function stopRefusal(
  context: MessageContext,
  { storage }: InboxDeps,
): Promise<ThreadNotices | undefined> {
  const { adapter, message, thread } = context;
  const isStop = parseCommand(message).kind === "stop" && message.author.isBot !== true;
  const run =
    isStop && adapter.traits.hasPrivateReplies === true && thread.runId !== undefined
      ? await storage.runs.find({ id: thread.runId })
      : undefined;
  if (run === undefined || isEnded(run.state)) {
    return undefined;
  }
  const text =
    "I did not stop the run: only the people who take part in it and administrators may. " +
    `An administrator writes \`${triggerIn(context)} stop\`.`;
  const once = `stop-refused ${thread.id} ${message.author.subject}`;
  return { thread, notices: [replyNotice(context, text, true)], once };
}

async function ignore(
  context: MessageContext,
  reason: string,
  deps: InboxDeps,
  threadNotices?: ThreadNotices,
): Promise<Disposition> {
  return complete({ ...ignoredBy(context), reason }, deps, threadNotices);
}

/** An ignored message keeps its dedupe key free, because the same words may be for the bot later. */
function ignoredBy(context: MessageContext) {
  const { dedupeKey: _free, ...result } = resultOf(context);
  return { ...result, disposition: "ignored" } as const;
}

async function authorizeAndDecide(known: MessageContext, deps: InboxDeps): Promise<Disposition> {
  const { adapter, installation, message } = known;
  const authorization = installation.enabled ? await adapter.authorize(message) : SWITCHED_OFF;
  if (installation.enabled) {
    await deps.installationHealth.worked(message.adapter, message.installation);
  }
  const settings = installation.enabled ? await settingsFor(known) : undefined;
  const context = { ...known, ...defined({ settings }) };
  const reason = authorization.allowed ? refusalBy(context) : authorization.reason;
  if (!authorization.allowed || reason !== undefined) {
    return refuse(context, reason ?? NO_ACCESS, deps);
  }
  const roles = rolesIn(context, authorization.roles);
  const from = requestOriginOf({ adapter, message, roles });
  const admitted = await admitAuthor(authorization, { from, teamId: installation.teamId }, deps);
  if ("refusal" in admitted) {
    return refuseFor(context, admitted.refusal, deps);
  }
  const { reportedRun } = context;
  const question = reportedRun && (await questionInsteadOf({ ...context, reportedRun }, from, deps));
  if (question !== undefined) {
    return complete({ ...resultOf(context), disposition: "replied" }, deps, question);
  }
  const { author } = admitted;
  if (isOutsider(from) && (await waitsTooOften(context, author, deps))) {
    return refuseFor(context, { reason: TOO_OFTEN }, deps);
  }
  const proven = { ...authorization.provenance, permission: authorization.permission };
  const gathered = await gatherContext(context, deps);
  return decide({ ...context, author, proven, roles, gathered }, deps);
}

/** Requests of strangers cost people who approve them time, so one stranger has only a few that wait. */
async function waitsTooOften(
  { effect, message }: MessageContext,
  viewer: Principal,
  { storage }: InboxDeps,
): Promise<boolean> {
  const { kind } = parseCommand(message);
  if (effect !== undefined || (kind !== "work" && kind !== "new")) {
    return false;
  }
  const filters = { states: ["BLOCKED"], creatorId: viewer.id } as const;
  const page = { viewer, filters, sort: "created_at", order: "desc", limit: WAITING_MAX } as const;
  return (await storage.runs.list(page)).runs.length >= WAITING_MAX;
}

/** The author whom a platform allowed, as a principal of the team, or why nothing is done for them. */
export async function admitAuthor(
  { author, refusal = NO_ACCESS }: Extract<Authorization, { readonly allowed: true }>,
  { from, teamId }: { readonly from: RequestOrigin; readonly teamId: TeamId },
  {
    joins,
    policies,
    storage,
  }: Pick<InboxDeps, "joins" | "policies"> & { readonly storage: Pick<InboxDeps["storage"], "people"> },
): Promise<{ readonly author: Principal } | { readonly refusal: Refusal }> {
  // Decided before the author becomes a principal: otherwise every stranger on a public platform would be one.
  const refusing = isOutsider(from) ? refusingPolicy(await policies.of(teamId), from) : undefined;
  if (refusing !== undefined) {
    const { builtin, name, reason, refusal: sign } = refusing;
    const words = builtin === true ? refusal : (reason ?? refusal);
    return { refusal: { reason: words, policyName: name, sign } };
  }
  const known = await storage.people.ensure(teamId, author.subject, author.displayName, author.aliases);
  const principal = await joins.joinedOf(known, author);
  return principal.disabled ? { refusal: { reason: DISABLED } } : { author: principal };
}

/** The roles that the platform proved, and what the author is in the thread. */
function rolesIn({ message, thread }: MessageContext, proven: readonly Role[] = []): readonly Role[] {
  const isParticipant = thread.participants?.includes(message.author.subject) === true;
  return isParticipant ? [...proven, "participant"] : proven;
}

/** Decides again with the thread as it is now if another event has bound the thread first. */
async function decide(context: AuthorizedContext, deps: InboxDeps): Promise<Disposition> {
  let current = context;
  for (let tries = 1; ; tries += 1) {
    try {
      const { effect } = current;
      return await (effect === undefined
        ? executeCommand(current, deps)
        : changeMessage(current, effect, deps));
    } catch (error) {
      if (isForbidden(error)) {
        return refuseForbidden(current, error, deps);
      }
      if (tries === BINDING_TRIES_MAX) {
        throw error;
      }
      const thread = await findThread(context.message, deps);
      if (isNotFound(error) && thread.runId !== current.thread.runId) {
        // The thread's run was deleted after the look-up.
        return admitMessage({ ...context, thread }, deps);
      }
      if (!(error instanceof UniqueConflict) || error.what !== "thread") {
        throw error;
      }
      current = { ...context, thread };
    }
  }
}

/** A policy or a quota forbids it. */
function isForbidden(error: unknown): error is AppError {
  const isOverQuota =
    error instanceof TooMany || (error instanceof AppError && error.code === "budget_exceeded");
  return isOverQuota || (error instanceof AppError && error.code === "not_authorized");
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === "resource_not_found";
}
