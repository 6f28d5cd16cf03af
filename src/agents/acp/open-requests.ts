import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";

/** As much as one message may be. */
const MAX_OPEN_BYTES = 16 * 1024 * 1024;
/** Of a request, besides its line: who waits for what, and the answer that is not taken. */
const REQUEST_BYTES = 10_000;

/**
 * What the agent has asked and been given no answer that it read. Answers wait for it to read them and questions for
 * people, so this is the one thing it can pile up without being made to wait.
 */
export class OpenRequests {
  /** By id, which an agent may give twice. */
  readonly #open = new Map<string, number[]>();
  #bytes = 0;

  /** Throws where it is too much. */
  received(message: AnyMessage, lineBytes: number): void {
    if (isAnswer(message) || isNotification(message)) return;
    const bytes = lineBytes + REQUEST_BYTES;
    const key = keyOf(message);
    this.#open.set(key, [...(this.#open.get(key) ?? []), bytes]);
    this.#bytes += bytes;
    if (this.#bytes > MAX_OPEN_BYTES) throw new Error("The agent asks more than it waits for answers to.");
  }

  /** Read by the agent, or in its pipe. */
  answered(message: AnyMessage): void {
    const key = keyOf(message);
    const [bytes = 0, ...others] = this.#open.get(key) ?? [];
    if (others.length === 0) this.#open.delete(key);
    else this.#open.set(key, others);
    this.#bytes -= bytes;
  }
}

function isAnswer(message: AnyMessage): boolean {
  return "result" in message || "error" in message;
}

function isNotification(message: AnyMessage): boolean {
  return "method" in message && !("id" in message);
}

/** What makes no sense is answered without an id. */
function keyOf(message: AnyMessage): string {
  return JSON.stringify("id" in message ? message.id : null);
}
