import { cleaned } from "../clean-text.ts";
import { AppError, Misconfigured, StorageUnavailable, TooMany } from "../errors.ts";
import { newId } from "../ids.ts";
import { isOutsider } from "../policies/evaluate-policies.ts";
import { type Role, UNADDRESSED_KINDS } from "../policies/policy.ts";
import { UniqueConflict } from "../storage.ts";
import type { Thread } from "../threads/thread.ts";
import type {
  Deletion,
  InboundMessage,
  InboxEvent,
  ReceivedEvent,
  ThreadAdapter,
  Translation,
  WhereChoice,
} from "../threads/thread-adapter.ts";
import { admitAuthor } from "./admit-author.ts";
import { findChosen } from "./ask-where.ts";
import { changeMessage, takenMessage, withdrawMessage } from "./change-message.ts";
import { gatherContext } from "./gather-context.ts";
import { handleMessage } from "./handle-message.ts";
import { messageOfReport, questionInsteadOf } from "./handle-report.ts";
import type { Disposition } from "./inbox-result.ts";
import type { InboxStore, ThreadNotices } from "./inbox-store.ts";
import {
  type AuthorizedContext,
  type InboxDeps,
  type MessageContext,
  requestOriginOf,
  resultOf,
} from "./message-context.ts";
import { replyNotice } from "./message-results.ts";
import { parseCommand } from "./parse-command.ts";
import { type Refusal, refusalText } from "./refusal-text.ts";
import { stopBySign } from "./stop-by-sign.ts";

const FAILURES_MAX = 10;
/** Another change can bind the thread between the look-up and the binding. Twice in a row is already unusual. */
const TAKEN_MAX = 5;
const SWITCHED_OFF = {
  allowed: false,
  reason: "This integration is not switched on here. An administrator of the server can do that.",
} as const;

/** Gives each stored event its one result: a run, a follow-up, an answer, or the reason why it had no effect. */
export class InboxProcessor {
  readonly #deps: InboxDeps;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Does an `inbox` job: handles the open events of an ordering key one at a time. */
  async work(orderingKey: string, stop: AbortSignal): Promise<void> {
    for (;;) {
      // Thrown, not returned: the queue deletes a job that ends well, and the open events would have no job.
      stop.throwIfAborted();
      const event = await this.#deps.storage.inbox.next(orderingKey);
      if (event === undefined) {
        return;
      }
      await this.#handle(event);
    }
  }

  async #handle(event: InboxEvent): Promise<void> {
    let context: MessageContext | undefined;
    try {
      const adapter = this.#adapterOf(event);
      const translation = await adapter.translate(event);
      if (translation.kind === "ignored") {
        return this.#logResult(event, await this.#ignoreEvent(event, translation.reason));
      }
      if (translation.kind === "several") {
        return this.#logResult(event, await this.#spread(event, translation.events));
      }
      if (translation.kind === "deletion") {
        return this.#logResult(event, await this.#delete(event.id, translation.deletion));
      }
      if (translation.kind === "removal") {
        return this.#logResult(event, await this.#noteRemoval(event, translation));
      }
      if (translation.kind === "stop") {
        const stopped = await stopBySign({ inboxId: event.id, stop: translation.stop }, this.#deps);
        return this.#logResult(event, stopped);
      }
      const message =
        translation.kind === "report"
          ? await messageOfReport(translation.report, adapter, this.#deps)
          : translation.message;
      if (typeof message === "string") {
        return this.#logResult(event, await this.#ignoreEvent(event, message));
      }
      context = await this.#contextOf(event, adapter, message);
      this.#logResult(event, await this.#process(context));
    } catch (error) {
      await this.#fail(event, error, context);
    }
  }

  #ignoreEvent({ id: inboxId }: InboxEvent, reason: string): Promise<Disposition> {
    return this.#store({ inboxId, disposition: "ignored", reason });
  }

  /** The same delivery, processed again, stores no event twice. */
  async #spread(event: InboxEvent, events: readonly ReceivedEvent[]): Promise<Disposition> {
    const receivedAt = this.#deps.clock.now();
    for (const each of events) {
      await this.#deps.storage.inbox.put({ ...each, id: newId(receivedAt), receivedAt });
    }
    return this.#ignoreEvent(event, `It concerns ${events.length} threads, each with an event of its own.`);
  }

  async #noteRemoval(
    event: InboxEvent,
    { installation, reason }: Extract<Translation, { readonly kind: "removal" }>,
  ): Promise<Disposition> {
    await this.#deps.watch.removed(reason, event.adapter, installation);
    return this.#ignoreEvent(event, reason);
  }

  /** Looks up the installation and the thread: the only time for this event, unless the thread is taken meanwhile. */
  async #contextOf(
    event: InboxEvent,
    adapter: ThreadAdapter,
    received: InboundMessage,
  ): Promise<MessageContext> {
    const message = cleaned(received, (text) => text);
    const { installations } = this.#deps.storage;
    const installation = await installations.ensure(message.adapter, message.installation);
    return { inboxId: event.id, adapter, message, installation, thread: await this.#threadOf(message) };
  }

  async #process(context: MessageContext): Promise<Disposition> {
    const { message, thread } = context;
    const { buttonAction: action } = message;
    if (action?.kind === "choose") {
      return this.#once(context, () => this.#processChoice(context, action));
    }
    if (message.addressed === "reply" && thread.runId === undefined) {
      const reason = "Not addressed to the bot, in a thread without a run.";
      return this.#store({ ...ignoredBy(context), reason, mayComeEarly: true });
    }
    return this.#once(context, async () => (await this.#processEdit(context)) ?? this.#processNew(context));
  }

  /** Processes the request that waited for the choice, as it was when it was made. */
  async #processChoice(context: MessageContext, action: WhereChoice): Promise<Disposition> {
    const chosen = await findChosen(context, action, this.#deps);
    return "refusal" in chosen
      ? this.#replyRefused(context, chosen.refusal)
      : this.#authorizeAndDecide({ ...context, ...chosen });
  }

  async #processNew(context: MessageContext): Promise<Disposition> {
    const { message } = context;
    if (parseCommand(message.text).kind === "aside") {
      return this.#ignore(context, "An aside.");
    }
    const ignored = message.addressed === "reply" ? await this.#ignoreReply(context) : undefined;
    return ignored ?? this.#authorizeAndDecide(context);
  }

  /**
   * Processes a message as the edit of an earlier version of it. Undefined: as far as the agent is concerned, it is new. An
   * edit whose original never came, or had no effect, is one of these.
   */
  async #processEdit(context: MessageContext): Promise<Disposition | undefined> {
    const { inboxId, message } = context;
    const { addressed, revision } = message;
    if (revision === undefined) {
      return undefined;
    }
    const results = await this.#deps.storage.inbox.listResultsOf(revision.messageId);
    if (results.some(({ version }) => version > revision.version)) {
      return this.#ignore(context, "A later version of the message came before.");
    }
    if (!revision.isEdit || results.length === 0) {
      return undefined;
    }
    const { kind } = parseCommand(message.text);
    const taken = takenMessage(results);
    if (taken !== undefined && kind === "aside") {
      return withdrawMessage({ inboxId, deletion: { ...message, ...revision }, taken }, this.#deps);
    }
    if (taken !== undefined && (kind === "work" || kind === "new")) {
      return this.#authorizeAndDecide({ ...context, taken });
    }
    if (results.some(({ disposition }) => disposition === "cancelled" || disposition === "answered")) {
      return this.#ignore(context, "The message had its effect before this edit.");
    }
    if (taken === undefined && addressed === "reply") {
      return this.#ignore(context, "An edit of a message that was not for the bot.");
    }
    return undefined;
  }

  /** What was never for the bot is deleted without a sign. */
  async #delete(inboxId: string, deletion: Deletion): Promise<Disposition> {
    const { messageId, version } = deletion;
    const taken = takenMessage(await this.#deps.storage.inbox.listResultsOf(messageId));
    if (taken === undefined) {
      const reason = "A deleted message that nothing was made of.";
      const revision = { messageId, version, isEdit: false };
      return this.#store({ inboxId, disposition: "ignored", reason, revision });
    }
    return this.#once({ inboxId }, () => withdrawMessage({ inboxId, deletion, taken }, this.#deps));
  }

  /** Of two events with the same content, the second has no effect. */
  async #once(
    { inboxId, installation }: Pick<MessageContext, "inboxId"> & Partial<MessageContext>,
    process: () => Promise<Disposition>,
  ): Promise<Disposition> {
    try {
      return await process();
    } catch (error) {
      if (!(error instanceof UniqueConflict) || error.what !== "dedupeKey") {
        throw error;
      }
      const reason = "The same thing came in another delivery.";
      const ofTeam = installation === undefined ? {} : { teamId: installation.teamId };
      return this.#store({ inboxId, disposition: "duplicate", reason, ...ofTeam });
    }
  }

  async #ignore(context: MessageContext, reason: string, says?: ThreadNotices): Promise<Disposition> {
    return this.#store({ ...ignoredBy(context), reason }, says);
  }

  /**
   * A reply without a mention is for the bot only if nobody but the participants writes in the thread. Others never
   * become principals by it, and the platform is not asked about them.
   */
  async #ignoreReply(context: MessageContext): Promise<Disposition | undefined> {
    const { adapter, message, thread } = context;
    const { needsMention = false, participants = [], verbosity } = thread;
    if (!participants.includes(message.author.subject)) {
      await this.#deps.storage.threads.setNeedsMention(thread.id, true);
      return this.#ignore(context, "A reply of a user who does not take part in the run.");
    }
    if (!needsMention) {
      return undefined;
    }
    const reason = "A reply without a mention, in a thread where others write too.";
    if (verbosity === "quiet") {
      return this.#ignore(context, reason);
    }
    const text = `Others write here too, so I take only messages that mention me: \`${adapter.traits.trigger} …\`.`;
    const notices = [replyNotice(context, text, true)];
    return this.#ignore(context, reason, { thread, notices, once: `mention-needed ${thread.id}` });
  }

  async #authorizeAndDecide(context: MessageContext): Promise<Disposition> {
    const { adapter, installation, message } = context;
    const authorization = installation.enabled ? await adapter.authorize(message) : SWITCHED_OFF;
    if (installation.enabled) {
      await this.#deps.watch.worked(message.adapter, message.installation);
    }
    if (!authorization.allowed) {
      return this.#refuse(context, authorization.reason);
    }
    const roles = rolesIn(context, authorization.roles);
    const from = requestOriginOf({ adapter, message, roles });
    const admitted = await admitAuthor(authorization, { from, teamId: installation.teamId }, this.#deps);
    if ("refusal" in admitted) {
      return this.#refuse(context, await this.#textOf(context, admitted.refusal));
    }
    const question = await questionInsteadOf(context, from, this.#deps);
    if (question !== undefined) {
      return this.#store({ ...resultOf(context), disposition: "replied" }, question);
    }
    const { author } = admitted;
    const proven = { ...authorization.provenance, permission: authorization.permission };
    const gathered = await gatherContext(context, this.#deps);
    return this.#decide({ ...context, author, proven, roles, gathered });
  }

  /** Decides again with the thread as it is now if another change took the thread first. */
  async #decide(context: AuthorizedContext): Promise<Disposition> {
    let current = context;
    for (let tries = 1; ; tries += 1) {
      try {
        const { taken } = current;
        return await (taken === undefined
          ? handleMessage(current, this.#deps)
          : changeMessage(current, taken, this.#deps));
      } catch (error) {
        if (isForbidden(error)) {
          const { message: reason, options } = error;
          const text = await this.#textOf(current, { reason, policyName: options.policyName });
          return isOutsider(requestOriginOf(current)) || !isAddressed(current)
            ? this.#refuse(current, text)
            : this.#replyRefused(current, text);
        }
        if (tries === TAKEN_MAX) {
          throw error;
        }
        const thread = await this.#threadOf(context.message);
        if (isNotFound(error) && thread.runId !== current.thread.runId) {
          // The thread's run was deleted after the look-up.
          return this.#process({ ...context, thread });
        }
        if (!(error instanceof UniqueConflict) || error.what !== "thread") {
          throw error;
        }
        current = { ...context, thread };
      }
    }
  }

  /** Names of administrators are not posted in public. */
  async #textOf({ adapter, installation }: MessageContext, refusal: Refusal): Promise<string> {
    return adapter.traits.hasPrivateReplies === true
      ? refusalText(refusal, installation.teamId, this.#deps.storage)
      : refusal.reason;
  }

  async #refuse(context: MessageContext, reason: string): Promise<Disposition> {
    if (!isAnswered(context)) {
      return this.#store({ ...resultOf(context), disposition: "refused", reason });
    }
    return this.#replyRefused(context, reason, this.#refusalOfToday(context.message, reason));
  }

  /** A refusal is posted once a day: otherwise a stranger could use up what the platform lets the bot post. */
  #refusalOfToday({ adapter, author, installation, key }: InboundMessage, reason: string): string {
    const day = this.#deps.clock.now().toISOString().slice(0, "2026-01-01".length);
    return ["refused", day, adapter, installation, key, author.subject, reason].join(" ");
  }

  async #replyRefused(context: MessageContext, reason: string, once?: string): Promise<Disposition> {
    const notices = [replyNotice(context, reason, true)];
    const says = { thread: context.thread, notices, ...(once === undefined ? {} : { once }) };
    return this.#store({ ...resultOf(context), disposition: "refused", reason }, says);
  }

  /** Counts the failure and throws, so that the job is tried again. A final failure ends the event with a reply. */
  async #fail(event: InboxEvent, error: unknown, known: MessageContext | undefined): Promise<void> {
    const { inbox } = this.#deps.storage;
    const facts = { inboxId: event.id, adapter: event.adapter, error };
    // Not counted: the event is not the cause, and the job is tried again until the storage is back.
    if (error instanceof StorageUnavailable) {
      this.#deps.log.warn("inbox.retried", facts);
      throw error;
    }
    // Not counted either: the event waits for an operator, and the queue tries again with a growing pause.
    if (error instanceof Misconfigured) {
      this.#deps.log.error("inbox.misconfigured", facts);
      await this.#deps.watch.failed(error, event.adapter, known?.message.installation);
      await inbox.noteFailure(event.id, error.message);
      throw error;
    }
    // Not counted: the platform takes no call now and says until when.
    if (error instanceof AppError && error.options.retryAfterMs !== undefined) {
      this.#deps.log.warn("inbox.retried", facts);
      await inbox.noteFailure(event.id, error.message);
      throw error;
    }
    const isFinal = error instanceof AppError && !error.retryable;
    const failures = isFinal ? FAILURES_MAX : await inbox.countFailure(event.id, String(error));
    if (failures < FAILURES_MAX) {
      this.#deps.log.warn("inbox.retried", { ...facts, failures });
      throw error;
    }
    this.#deps.log.error("inbox.failed", facts);
    const reason = error instanceof AppError ? error.message : "Something broke while this was handled.";
    const result = { inboxId: event.id, disposition: "failed", reason } as const;
    const context = known ?? (await this.#translateAgain(event));
    if (context === undefined) {
      return inbox.complete(result);
    }
    await inbox.complete({ ...result, teamId: context.installation.teamId }, apologyIn(context, reason));
  }

  /** If the translation itself failed, the team and the thread of the event may be unknown. */
  async #translateAgain(event: InboxEvent): Promise<MessageContext | undefined> {
    const adapter = this.#deps.adapters.get(event.adapter);
    const translation = await adapter?.translate(event).catch(() => undefined);
    if (adapter === undefined || translation?.kind !== "message") {
      return undefined;
    }
    return this.#contextOf(event, adapter, translation.message);
  }

  async #store(...args: Parameters<InboxStore["complete"]>): Promise<Disposition> {
    await this.#deps.storage.inbox.complete(...args);
    return args[0].disposition;
  }

  async #threadOf({ adapter, installation, key }: InboundMessage): Promise<Thread> {
    const known = await this.#deps.storage.threads.find({ adapter, installation, key });
    return known ?? { id: newId(this.#deps.clock.now()), adapter, installation, key };
  }

  #adapterOf(event: InboxEvent): ThreadAdapter {
    const adapter = this.#deps.adapters.get(event.adapter);
    if (adapter !== undefined) {
      return adapter;
    }
    const message = `The adapter ${event.adapter} is not switched on here.`;
    throw new AppError("integration_not_configured", message, { integrationName: event.adapter });
  }

  #logResult({ id, adapter }: InboxEvent, disposition: Disposition): void {
    this.#deps.log.info("inbox.completed", { inboxId: id, adapter, disposition });
  }
}

/** An ignored message keeps its dedupe key free, because the same words may be for the bot later. */
function ignoredBy(context: MessageContext) {
  const { dedupeKey: _free, ...result } = resultOf(context);
  return { ...result, disposition: "ignored" } as const;
}

/** The roles that the platform proved, and what the author is in the thread. */
function rolesIn({ message, thread }: MessageContext, proven: readonly Role[] = []): readonly Role[] {
  const isParticipant = thread.participants?.includes(message.author.subject) === true;
  return isParticipant ? [...proven, "participant"] : proven;
}

/** Said once, although a platform may deliver a message as several events. */
function apologyIn(context: MessageContext, reason: string) {
  const { message, thread } = context;
  if (!isAnswered(context)) {
    return undefined;
  }
  const text = `I could not take this up: ${reason}`;
  const notices = [replyNotice(context, text)];
  return { thread, notices, once: `failed ${message.dedupeKey}` };
}

/** An author who did not address the bot gets no public refusal, and a program gets no answer. */
function isAnswered({ message }: Pick<MessageContext, "message">): boolean {
  return message.addressed !== "reply" && message.author.isBot !== true && isAddressed({ message });
}

function isAddressed({ message: { requestKind } }: Pick<MessageContext, "message">): boolean {
  return !UNADDRESSED_KINDS.some((kind) => kind === requestKind);
}

/** What a policy or a quota forbids is posted even to a member who did not address the bot. */
function isForbidden(error: unknown): error is AppError {
  const isOverQuota =
    error instanceof TooMany || (error instanceof AppError && error.code === "budget_exceeded");
  return isOverQuota || (error instanceof AppError && error.code === "not_authorized");
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === "resource_not_found";
}
