import { type EmitterWebhookEvent, type EmitterWebhookEventName, Webhooks } from "@octokit/webhooks";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";

/** What `receive` passes to handlers beside the event, because it returns nothing. */
interface Stored {
  readonly stored: InboxEvent;
  /** Says what the event means. */
  readonly settle: (translation: Translation) => void;
}

/** Undefined: the event means nothing to this handler. */
type Handler = (event: InboxEvent) => Promise<Translation | undefined>;

/** Replays stored events through handlers of Octokit's `Webhooks`, which say what each one means. */
export class StoredEvents {
  readonly #webhooks: Webhooks<Stored>;

  constructor(handlers: readonly (readonly [readonly EmitterWebhookEventName[], Handler])[]) {
    // The signature was checked at the door, so nothing uses the secret.
    this.#webhooks = new Webhooks<Stored>({
      secret: "unused",
      transform: (event) => event as EmitterWebhookEvent & Stored,
    });
    for (const [names, handler] of handlers) {
      this.#webhooks.on([...names], async ({ settle, stored }) => {
        const translation = await handler(stored);
        if (translation !== undefined) {
          settle(translation);
        }
      });
    }
  }

  /** Throws what a handler threw. */
  async translate(stored: InboxEvent): Promise<Translation> {
    const { body, deliveryId: id, name } = stored;
    let result: Translation | undefined;
    const settle: Stored["settle"] = (translation) => {
      if (result !== undefined) {
        throw new Error(`Two handlers said what GitHub's ${name} means.`);
      }
      result = translation;
    };
    const event = { id, name, payload: Object(parseJson(body)), stored, settle };
    try {
      await this.#webhooks.receive(event as unknown as EmitterWebhookEvent);
    } catch (error) {
      throw error instanceof AggregateError ? withoutEvent(error.errors[0]) : error;
    }
    return result ?? { kind: "ignored", reason: `${name} is no event in which a user can address the bot.` };
  }
}

/** Octokit adds the whole event to the error, which a log line would show. */
function withoutEvent(error: unknown): unknown {
  if (error instanceof Error && "event" in error) {
    delete error.event;
  }
  return error;
}
