import { StatusError } from "../errors.ts";

/** The streams of this process, so that nobody has too many, and all end when the server closes. */
export class OpenStreams {
  readonly #perKey: number;
  readonly #open = new Map<string, Set<AbortController>>();

  /** 0: as many as they like. */
  constructor(perKey: number) {
    this.#perKey = perKey;
  }

  open(keyId: string): AbortController {
    const streams = this.#open.get(keyId) ?? new Set();
    if (this.#perKey > 0 && streams.size >= this.#perKey) throw tooMany(this.#perKey);
    const stream = new AbortController();
    this.#open.set(keyId, streams.add(stream));
    return stream;
  }

  done(keyId: string, stream: AbortController): void {
    const streams = this.#open.get(keyId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#open.delete(keyId);
  }

  endAll(): void {
    for (const streams of this.#open.values()) {
      for (const stream of streams) stream.abort();
    }
  }

  get size(): number {
    return Array.from(this.#open.values()).reduce((sum, streams) => sum + streams.size, 0);
  }
}

function tooMany(limit: number): StatusError {
  return new StatusError(
    429,
    "resource_unavailable",
    `You have ${limit} streams open, which is as many as you may.`,
    {
      retryAfterMs: 5_000,
      remedy: "Close a stream, or ask for pages with Accept: application/json.",
    },
  );
}
