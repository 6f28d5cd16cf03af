/** A message of a response of the type `text/event-stream`. */
export interface SseMessage {
  /** The position to continue behind. undefined if no message has had one so far. */
  readonly id: string | undefined;
  /** Empty if the message only tells the position. */
  readonly data: string;
}

/**
 * Reads the messages of an event stream. An incomplete message at the end is left out: the server sends it again to
 * the next connection. `onBytes` is called for all that arrives, also for comments.
 */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<SseMessage, void, undefined> {
  let id: string | undefined;
  let data: string[] = [];
  let isNewId = false;
  for await (const line of readLines(body, onBytes)) {
    const [, field, value = ""] = /^([^:]*)(?::[ ]?(.*))?$/s.exec(line) ?? [];
    if (field === "id") {
      id = value;
      isNewId = true;
    } else if (field === "data") {
      data.push(value);
    } else if (line === "" && (data.length > 0 || isNewId)) {
      yield { id, data: data.join("\n") };
      data = [];
      isNewId = false;
    }
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // The pieces of an incomplete line. Joining them only once keeps long lines fast.
  let pieces: string[] = [];
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      onBytes();
      const [first = "", ...others] = decoder.decode(chunk.value, { stream: true }).split("\n");
      pieces.push(first);
      for (const piece of others) {
        yield pieces.join("").replace(/\r$/, "");
        pieces = [piece];
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
