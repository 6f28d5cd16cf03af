import type { PrincipalId } from "../../core/ids.ts";
import { StatusError } from "../errors.ts";

/** The streams of this process, so that nobody has too many, and all end when the server closes. */
export class OpenStreams {
  readonly #perPrincipal: number;
  readonly #open = new Map<PrincipalId, Set<AbortController>>();

  constructor(perPrincipal: number) {
    this.#perPrincipal = perPrincipal;
  }

  open(principalId: PrincipalId): AbortController {
    const streams = this.#open.get(principalId) ?? new Set();
    if (streams.size >= this.#perPrincipal) throw tooMany(this.#perPrincipal);
    const stream = new AbortController();
    this.#open.set(principalId, streams.add(stream));
    return stream;
  }

  done(principalId: PrincipalId, stream: AbortController): void {
    const streams = this.#open.get(principalId);
    streams?.delete(stream);
    if (streams?.size === 0) this.#open.delete(principalId);
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
