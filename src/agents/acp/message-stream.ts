import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable";

/** No sensible message is larger. The largest one seen in six agents has half a megabyte. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_NOISE_CHARS = 500;
const NEWLINE = 0x0a;

export interface MessageTap {
  /** Awaited before a message is delivered. Meanwhile nothing more is read, and the agent's pipe fills. */
  backpressure(): Promise<void> | undefined;
  /** A `session/update`, in order, and before anything that the agent sent after it. */
  update(update: unknown): void;
  /** The agent answered one of our requests. */
  answered(): void;
  /** A line that is not a message: agents print warnings to the same stream. */
  noise(line: string): void;
}

/**
 * Reads and writes messages on the agent's standard streams. The SDK's own stream is not used for three reasons: its
 * handlers drop unknown kinds of update, it delivers a response before the updates that preceded it, and it answers
 * each line of noise with an error.
 */
export function openMessageStream(stdin: Writable, stdout: Readable, tap: MessageTap): Stream {
  const requests = new OpenRequests();
  return {
    readable: ReadableStream.from(incomingMessages(stdout, tap, requests)) as ReadableStream<AnyMessage>,
    writable: new WritableStream<AnyMessage>({
      write: async (message) => {
        await writeLine(stdin, JSON.stringify(message));
        if (!("method" in message)) {
          requests.answered(message);
        }
      },
    }),
  };
}

async function* incomingMessages(
  stdout: Readable,
  tap: MessageTap,
  requests: OpenRequests,
): AsyncGenerator<AnyMessage> {
  for await (const line of boundedLines(stdout)) {
    await tap.backpressure();
    const message = parseMessage(line);
    if (message === undefined) {
      tellNoise(line, tap);
    } else if ("method" in message && message.method === "session/update") {
      const { update }: { readonly update?: unknown } = Object(message.params);
      tap.update(update);
    } else {
      if (!("method" in message)) {
        tap.answered();
      }
      requests.received(message, line.length);
      yield message;
    }
  }
}

async function* boundedLines(stdout: Readable): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      yield Buffer.concat([...pending, chunk.subarray(start, end)]).toString("utf8");
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > MAX_MESSAGE_BYTES) {
      throw new Error(`The agent sent a message of more than ${MAX_MESSAGE_BYTES} bytes.`);
    }
  }
}

/** Only separates messages from noise, such as the log of an agent as JSON lines. The SDK validates the messages. */
function parseMessage(line: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is AnyMessage {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  return "method" in value || ("id" in value && ("result" in value || "error" in value));
}

function tellNoise(line: string, tap: MessageTap): void {
  const text = line.trim();
  if (text !== "") {
    tap.noise(text.slice(0, MAX_NOISE_CHARS));
  }
}

function writeLine(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** The size of one message at most. */
const MAX_OPEN_BYTES = 16 * 1024 * 1024;
/** What a request costs besides its line: the caller that waits, and the unread answer. */
const REQUEST_BYTES = 10_000;

/**
 * Counts the agent's requests without an answer that it has read. Answers wait for the agent to read and questions
 * wait for people, so an agent could otherwise pile up requests without being slowed down.
 */
class OpenRequests {
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
