import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";

/** The size of one message at most. */
const MAX_OPEN_BYTES = 16 * 1024 * 1024;
/** What a request costs besides its line: the caller that waits, and the unread answer. */
const REQUEST_BYTES = 10_000;

/**
 * Counts the agent's requests without an answer that it has read. Answers wait for the agent to read and questions
 * wait for people, so an agent could otherwise pile up requests without being slowed down.
 */
export class OpenRequests {
  /** By id. An agent may use an id twice. */
  readonly #open = new Map<string, number[]>();
  #bytes = 0;

  /** Throws when there is too much. */
  received(message: AnyMessage, lineBytes: number): void {
    if (isAnswer(message) || isNotification(message)) {
      return;
    }
    const bytes = lineBytes + REQUEST_BYTES;
    const key = keyOf(message);
    this.#open.set(key, [...(this.#open.get(key) ?? []), bytes]);
    this.#bytes += bytes;
    if (this.#bytes > MAX_OPEN_BYTES) {
      throw new Error("The agent sends more requests than it reads answers.");
    }
  }

  /** The answer was read by the agent, or is in its pipe. */
  answered(message: AnyMessage): void {
    const key = keyOf(message);
    const [bytes = 0, ...others] = this.#open.get(key) ?? [];
    if (others.length === 0) {
      this.#open.delete(key);
    } else {
      this.#open.set(key, others);
    }
    this.#bytes -= bytes;
  }
}

function isAnswer(message: AnyMessage): boolean {
  return "result" in message || "error" in message;
}

function isNotification(message: AnyMessage): boolean {
  return "method" in message && !("id" in message);
}

/** Invalid messages are answered without an id. */
function keyOf(message: AnyMessage): string {
  return JSON.stringify("id" in message ? message.id : null);
}
