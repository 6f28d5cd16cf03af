import type { Readable, Writable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable";
import { OpenRequests } from "./open-requests.ts";

/** No sane message is larger; the largest seen in six agents is half a megabyte. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const MAX_NOISE_CHARS = 500;
const NEWLINE = 0x0a;

export interface MessageTap {
  /** Awaited before a message is told: while it is, nothing more is read, and the agent's pipe fills. */
  room(): Promise<void> | undefined;
  /** A `session/update` of the agent, in the order told and before anything the agent sent after it. */
  update(update: unknown): void;
  /** The agent answered one of our requests. */
  answered(): void;
  /** A line that is no message: agents print warnings where only messages belong. */
  noise(line: string): void;
}

/**
 * The agent's standard streams as messages. The SDK's own stream is not used, for three reasons: its handlers drop
 * updates of kinds that it does not know; it hands out an answer before the updates ahead of it are handled; and it
 * answers each line of noise with an error.
 */
export function openMessageStream(stdin: Writable, stdout: Readable, tap: MessageTap): Stream {
  const requests = new OpenRequests();
  return {
    readable: ReadableStream.from(incomingMessages(stdout, tap, requests)) as ReadableStream<AnyMessage>,
    writable: new WritableStream<AnyMessage>({
      write: async (message) => {
        await writeLine(stdin, JSON.stringify(message));
        if (!("method" in message)) requests.answered(message);
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
    await tap.room();
    const message = parseMessage(line);
    if (message === undefined) {
      tellNoise(line, tap);
    } else if ("method" in message && message.method === "session/update") {
      tap.update((message.params as { update?: unknown } | undefined)?.update);
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

/** Whether it is a message that makes sense is the SDK's to say; here it is only told from noise. */
function parseMessage(line: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as AnyMessage) : undefined;
  } catch {
    return undefined;
  }
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
