import { once } from "node:events";
import type { ServerResponse } from "node:http";

export interface StreamLimits {
  readonly streamBufferBytes: number;
  readonly streamStallMs: number;
  readonly heartbeatMs: number;
}

const RECONNECT_MS = 1_000;

/**
 * One `text/event-stream`. What a slow reader has not taken is held up to a cap; then the stream waits for it,
 * and a reader that takes nothing for long is cut off, so that it costs neither memory nor anybody else's time.
 */
export class StreamWriter {
  readonly #raw: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #heartbeat: NodeJS.Timeout;

  /** `onHeartbeat` is called with each heartbeat. */
  constructor(raw: ServerResponse, limits: StreamLimits, onHeartbeat: () => void) {
    this.#raw = raw;
    this.#limits = limits;
    raw.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#heartbeat = setInterval(() => {
      if (!raw.writableNeedDrain) raw.write(": still here\n\n");
      onHeartbeat();
    }, limits.heartbeatMs);
  }

  /** Whether the reader is still there to be written to. */
  async write(text: string, signal: AbortSignal): Promise<boolean> {
    if (this.#raw.destroyed) return false;
    this.#raw.write(text);
    if (this.#raw.writableLength <= this.#limits.streamBufferBytes) return true;
    return this.#drained(signal);
  }

  end(): void {
    clearInterval(this.#heartbeat);
    this.#raw.end();
  }

  cut(): void {
    clearInterval(this.#heartbeat);
    this.#raw.destroy();
  }

  async #drained(signal: AbortSignal): Promise<boolean> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.streamStallMs)]);
    try {
      await once(this.#raw, "drain", { signal: limit });
      return true;
    } catch {
      // Nothing was taken in time, or the stream is being ended: in both cases nobody is left to write to.
      return false;
    }
  }
}
