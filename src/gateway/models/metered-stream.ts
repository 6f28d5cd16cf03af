import { Transform, type TransformCallback } from "node:stream";
import type { ResponseMeter } from "./response-meter.ts";
import { type SseEvent, SseEvents } from "./sse-events.ts";

/** Reads a stream of events while it passes, so that usage is recorded before the sandbox sees it. */
export class MeteredStream extends Transform {
  readonly #meter: ResponseMeter;
  readonly #isDropped: ((event: SseEvent) => boolean) | undefined;
  readonly #events = new SseEvents();

  /** Without `isDropped` bytes pass unchanged, otherwise event by event. */
  constructor(meter: ResponseMeter, isDropped?: (event: SseEvent) => boolean) {
    super();
    this.#meter = meter;
    this.#isDropped = isDropped;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const kept = this.#read(this.#events.push(chunk));
    done(null, this.#isDropped === undefined ? chunk : kept);
  }

  override _flush(done: TransformCallback): void {
    const kept = this.#read(this.#events.rest());
    done(null, this.#isDropped === undefined ? null : kept);
  }

  #read(events: readonly SseEvent[]): Buffer {
    for (const { data } of events) {
      this.#meter.read(data);
    }
    return Buffer.concat(events.filter((event) => this.#isDropped?.(event) !== true).map(({ raw }) => raw));
  }
}
