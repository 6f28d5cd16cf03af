/** One event of a stream, with its original bytes. */
export interface SseEvent {
  readonly raw: Buffer;
  readonly data: string;
}

/** A larger event is not read. */
const EVENT_BYTES_MAX = 4 * 2 ** 20;
const EVENT_END = /\r\n\r\n|\n\n|\r\r/g;
/** The longest end of an event, minus one byte. */
const END_OVERLAP = 3;

/** Parses a stream of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export class SseEvents {
  /** One character per byte. */
  #text = "";
  #searchedTo = 0;

  push(chunk: Buffer): readonly SseEvent[] {
    this.#text += chunk.toString("latin1");
    const events: SseEvent[] = [];
    EVENT_END.lastIndex = this.#searchedTo;
    let begin = 0;
    for (let end = EVENT_END.exec(this.#text); end !== null; end = EVENT_END.exec(this.#text)) {
      events.push(eventOf(this.#text.slice(begin, EVENT_END.lastIndex)));
      begin = EVENT_END.lastIndex;
    }
    this.#text = this.#text.slice(begin);
    this.#searchedTo = Math.max(0, this.#text.length - END_OVERLAP);
    return this.#text.length > EVENT_BYTES_MAX ? [...events, this.#unread()] : events;
  }

  /** What is left at the end of the stream. Some servers omit the last empty line. */
  rest(): readonly SseEvent[] {
    return this.#text === "" ? [] : [eventOf(this.#taken())];
  }

  #unread(): SseEvent {
    return { raw: Buffer.from(this.#taken(), "latin1"), data: "" };
  }

  #taken(): string {
    const text = this.#text;
    this.#text = "";
    this.#searchedTo = 0;
    return text;
  }
}

function eventOf(text: string): SseEvent {
  const raw = Buffer.from(text, "latin1");
  const lines = raw.toString("utf8").split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice("data:".length));
  return { raw, data: data.map((line) => line.replace(/^ /, "")).join("\n") };
}
