import { cleaned } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Installation } from "../people/installation.ts";
import { UniqueConflict } from "../storage.ts";
import type { Thread } from "../threads/thread.ts";
import type { InboundMessage, InboxEvent, ThreadAdapter } from "../threads/thread-adapter.ts";
import type { InboxProcessorDeps, MessageContext } from "./arrival.ts";
import { decideMessage } from "./decide-message.ts";
import type { InboxResult } from "./settlement.ts";

const FAILURES_MAX = 10;
/** A thread can be bound by somebody else between looking and binding; twice in a row is already strange. */
const TAKEN_MAX = 5;
const SWITCHED_OFF = {
  allowed: false,
  reason: "This integration is not switched on here. An administrator of the server can do that.",
} as const;

const DISABLED = "An administrator has switched your account here off.";

/** Gives every stored event its one end: a run, a follow-up, an answer, or a reason why nothing came of it. */
export class InboxProcessor {
  readonly #deps: InboxProcessorDeps;

  constructor(deps: InboxProcessorDeps) {
    this.#deps = deps;
  }

  /** Does what an `inbox` job asks for: the lane's open events, one after the other. */
  async work(lane: string, stop: AbortSignal): Promise<void> {
    for (;;) {
      // Thrown, not returned: a job that ends well is gone, and what is still open would have none.
      stop.throwIfAborted();
      const event = await this.#deps.storage.inbox.next(lane);
      if (event === undefined) return;
      await this.#settle(event);
    }
  }

  async #settle(event: InboxEvent): Promise<void> {
    const { log } = this.#deps;
    try {
      const disposition = await this.#process(event);
      log.info("inbox.completed", { inboxId: event.id, adapter: event.adapter, disposition });
    } catch (error) {
      await this.#failed(event, error);
    }
  }

  /** Held back and tried again while that can help; then ended with its reason, which its author is told. */
  async #failed(event: InboxEvent, error: unknown): Promise<void> {
    const { inbox } = this.#deps.storage;
    const facts = { inboxId: event.id, adapter: event.adapter, error };
    const isFinal = error instanceof AppError && !error.retryable;
    const failures = isFinal ? FAILURES_MAX : await inbox.countFailure(event.id, String(error));
    if (failures < FAILURES_MAX) {
      this.#deps.log.warn("inbox.retried", { ...facts, failures });
      throw error;
    }
    this.#deps.log.error("inbox.failed", facts);
    const reason = error instanceof AppError ? error.message : "Something broke while this was handled.";
    const settles = { inboxId: event.id, disposition: "failed", reason } as const;
    const message = await this.#messageOf(event);
    if (message === undefined) return inbox.settle(settles);
    const { teamId } = await this.#installationOf(message);
    await inbox.settle({ ...settles, teamId }, await this.#apology(message, reason));
  }

  /** What failed may have been the translation itself; then nobody knows whose event it is. */
  async #messageOf(event: InboxEvent): Promise<InboundMessage | undefined> {
    const adapter = this.#deps.adapters.get(event.adapter);
    const translated = await adapter?.translate(event).catch(() => undefined);
    return translated?.kind === "message" ? translated.message : undefined;
  }

  async #apology(message: InboundMessage, reason: string) {
    if (message.addressed === "reply") return undefined;
    const thread = await this.#threadOf(message);
    const text = `I could not take this up: ${reason}`;
    return { thread, notices: [{ kind: "message", purpose: "reply", text }] } as const;
  }

  async #process(event: InboxEvent): Promise<string> {
    const adapter = this.#adapterOf(event);
    const translated = await adapter.translate(event);
    if (translated.kind === "ignored")
      return this.#end(event, { disposition: "ignored", reason: translated.reason });
    const message = cleaned(translated.message, (text) => text);
    if (message.addressed === "reply" && (await this.#threadOf(message)).runId === undefined) {
      const { teamId } = await this.#installationOf(message);
      const reason = "Not addressed to the bot, in a thread without a run.";
      return this.#end(event, { disposition: "ignored", reason, teamId });
    }
    return this.#take(event, adapter, message);
  }

  async #take(event: InboxEvent, adapter: ThreadAdapter, message: InboundMessage): Promise<string> {
    const { enabled, teamId } = await this.#installationOf(message);
    const settles = { inboxId: event.id, meaning: message.meaning, teamId };
    const allowed = enabled ? await adapter.authorize(message) : SWITCHED_OFF;
    try {
      if (!allowed.allowed) return await this.#refuse(settles, message, allowed.reason);
      const { displayName, subject } = allowed.author;
      const author = await this.#deps.storage.people.ensure(teamId, subject, displayName);
      if (author.disabled) return await this.#refuse(settles, message, DISABLED);
      const proven = { ...allowed.provenance, permission: allowed.permission };
      const { trigger } = adapter.traits;
      return await this.#decide({ message, adapter, author, proven, settles, trigger });
    } catch (error) {
      if (!(error instanceof UniqueConflict) || error.what !== "meaning") throw error;
      const reason = "The same thing came in another delivery.";
      return this.#end(event, { disposition: "duplicate", reason, teamId });
    }
  }

  async #decide(messageContext: Omit<MessageContext, "thread">): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      try {
        const thread = await this.#threadOf(messageContext.message);
        return await decideMessage({ ...messageContext, thread }, this.#deps);
      } catch (error) {
        if (isForbidden(error))
          return this.#sayNo(messageContext.settles, messageContext.message, error.message);
        if (!(error instanceof UniqueConflict) || error.what !== "thread" || tries === TAKEN_MAX) throw error;
      }
    }
  }

  async #refuse(
    settles: MessageContext["settles"],
    message: InboundMessage,
    reason: string,
  ): Promise<string> {
    // Who did not address us is not told off in front of everybody.
    if (message.addressed === "reply") {
      await this.#deps.storage.inbox.settle({ ...settles, disposition: "refused", reason });
      return "refused";
    }
    return this.#sayNo(settles, message, reason, this.#onceADay(message, reason));
  }

  /** A stranger could have us say it without end, and use up what the platform lets us post. */
  #onceADay({ adapter, author, installation, key }: InboundMessage, reason: string): string {
    const day = this.#deps.clock.now().toISOString().slice(0, "2026-01-01".length);
    return ["refused", day, adapter, installation, key, author.subject, reason].join(" ");
  }

  async #sayNo(
    settles: MessageContext["settles"],
    message: InboundMessage,
    reason: string,
    once?: string,
  ): Promise<string> {
    const thread = await this.#threadOf(message);
    const notices = [{ kind: "message", purpose: "reply", text: reason }] as const;
    const says = { thread, notices, ...(once === undefined ? {} : { once }) };
    await this.#deps.storage.inbox.settle({ ...settles, disposition: "refused", reason }, says);
    return "refused";
  }

  /** For events without a meaning of their own: they may be told any number of times. */
  async #end(
    event: InboxEvent,
    end: Pick<InboxResult, "disposition" | "reason" | "teamId">,
  ): Promise<string> {
    await this.#deps.storage.inbox.settle({ inboxId: event.id, ...end });
    return end.disposition;
  }

  #installationOf({ adapter, installation }: InboundMessage): Promise<Installation> {
    return this.#deps.storage.installations.ensure(adapter, installation);
  }

  async #threadOf({ adapter, installation, key }: InboundMessage): Promise<Thread> {
    const known = await this.#deps.storage.threads.find({ adapter, installation, key });
    return known ?? { id: newId(this.#deps.clock.now()), adapter, installation, key };
  }

  #adapterOf(event: InboxEvent): ThreadAdapter {
    const adapter = this.#deps.adapters.get(event.adapter);
    if (adapter !== undefined) return adapter;
    const message = `The adapter ${event.adapter} is not switched on here.`;
    throw new AppError("integration_not_configured", message, { integrationName: event.adapter });
  }
}

/** What a policy forbids to somebody who may otherwise talk to us is said, whether we were named or not. */
function isForbidden(error: unknown): error is AppError {
  return error instanceof AppError && error.code === "not_authorized";
}
