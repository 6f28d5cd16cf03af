import { AppError, Misconfigured, plainMessage, StorageUnavailable } from "../../basics/errors.ts";
import { newId } from "../../basics/ids.ts";
import type { Disposition } from "../../ports/stores/inbox-store.ts";
import type { InboxEvent, ReceivedEvent, ThreadAdapter, Translation } from "../../ports/thread-adapter.ts";
import { admitMessage } from "./admit-message.ts";
import {
  type FoundMessage,
  type InboxDeps,
  type MessageContext,
  messageContextOf,
} from "./message-context.ts";
import { complete, isAnswered, replyNotice } from "./message-results.ts";
import { deleteMessage } from "./message-revision.ts";
import { stopByReaction } from "./stop-by-reaction.ts";
import { readReport } from "./work-report.ts";

const FAILURES_MAX = 10;

/**
 * Gives each stored event its one result: a run, a follow-up, an answer, or the reason why it had no effect. The life of
 * an event, a file a step:
 *
 * 1. A route has stored it before it was acknowledged. The queue has at most one job for each ordering key.
 * 2. `work` takes the oldest open event of the key. The adapter translates it, without asking the platform.
 * 3. `admitMessage` decides whether a message is for the bot and whether its author may use it.
 * 4. `executeCommand` does what the message asks for. Work without a run is a request: `startRun`. `message-revision.ts`
 *    changes or withdraws what an earlier version of the message did.
 * 5. `message-results.ts` words what became of it. Effect and result are stored in one transaction, so that a repeated
 *    event has no second effect.
 * 6. A failure that says nothing about the event (storage, configuration, a limit of the platform) is tried again without
 *    an end. Every other failure counts. The last one ends the event, with a reply to an author who addressed the bot.
 */
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
      const content =
        translation.kind === "report"
          ? await readReport(translation.report, { adapter, inboxId: event.id }, this.#deps)
          : translation;
      let disposition: Disposition;
      if (content.kind === "message") {
        context = await this.#contextOf(event, adapter, content);
        disposition = await admitMessage(context, this.#deps);
      } else {
        disposition = await this.#processOther(event, content);
      }
      this.#deps.log.info("inbox.completed", { inboxId: event.id, adapter: event.adapter, disposition });
    } catch (error) {
      await this.#fail(event, error, context);
    }
  }

  async #processOther(
    event: InboxEvent,
    translation: Exclude<Translation, { readonly kind: "message" | "report" }>,
  ): Promise<Disposition> {
    switch (translation.kind) {
      case "ignored":
        return this.#ignore(event, translation.reason);
      case "several":
        return this.#spread(event, translation.events);
      case "deletion":
        return deleteMessage(event.id, translation.deletion, this.#deps);
      case "removal": {
        const { installations, reason } = translation;
        for (const installation of installations) {
          await this.#deps.installationHealth.removed(reason, event.adapter, installation);
        }
        return this.#ignore(event, reason);
      }
      case "unconnected": {
        const { installation: externalId, organization: organizationId, reason } = translation;
        const unconnected = { adapter: event.adapter, externalId, organizationId };
        return complete({ inboxId: event.id, disposition: "failed", reason, unconnected }, this.#deps);
      }
      case "stop":
        return stopByReaction({ inboxId: event.id, stop: translation.stop }, this.#deps);
      default:
        return translation satisfies never;
    }
  }

  #ignore({ id: inboxId }: InboxEvent, reason: string): Promise<Disposition> {
    return complete({ inboxId, disposition: "ignored", reason }, this.#deps);
  }

  /** The same delivery, processed again, stores no event twice. */
  async #spread(event: InboxEvent, events: readonly ReceivedEvent[]): Promise<Disposition> {
    const receivedAt = this.#deps.clock.now();
    for (const each of events) {
      await this.#deps.storage.inbox.put({ ...each, id: newId(receivedAt), receivedAt });
    }
    return this.#ignore(event, `It concerns ${events.length} threads, each with an event of its own.`);
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
      await this.#deps.installationHealth.failed(error, event.adapter, known?.message.installation);
      await inbox.noteFailure(event.id, error.message);
      throw error;
    }
    // Not counted: the platform accepts no call now, and says until when.
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
    const reason = error instanceof AppError ? plainMessage(error) : "Errand failed while it handled this.";
    const result = { inboxId: event.id, disposition: "failed", reason } as const;
    const context = known ?? (await this.#translateAgain(event));
    if (context === undefined) {
      return inbox.complete(result);
    }
    await inbox.complete({ ...result, teamId: context.installation.teamId }, failureNotices(context, reason));
  }

  /** If the translation itself failed, the team and the thread of the event may be unknown. */
  async #translateAgain(event: InboxEvent): Promise<MessageContext | undefined> {
    const adapter = this.#deps.adapters.get(event.adapter);
    const translation = await adapter?.translate(event).catch(() => undefined);
    if (adapter === undefined || translation?.kind !== "message") {
      return undefined;
    }
    return this.#contextOf(event, adapter, translation);
  }

  #contextOf(
    { id: inboxId, receivedAt }: InboxEvent,
    adapter: ThreadAdapter,
    found: FoundMessage,
  ): Promise<MessageContext> {
    return messageContextOf({ adapter, inboxId, receivedAt }, found, this.#deps);
  }

  #adapterOf(event: InboxEvent): ThreadAdapter {
    const adapter = this.#deps.adapters.get(event.adapter);
    if (adapter !== undefined) {
      return adapter;
    }
    const message = `The adapter ${event.adapter} is not switched on here.`;
    throw new AppError("integration_not_configured", message, { integrationName: event.adapter });
  }
}

/** Posted once, although a platform may deliver a message as several events. */
function failureNotices(context: MessageContext, reason: string) {
  const { message, thread } = context;
  if (!isAnswered(context)) {
    return undefined;
  }
  const text = `I could not handle this: ${reason}`;
  const notices = [replyNotice(context, text)];
  return { thread, notices, once: `failed ${message.dedupeKey}` };
}
