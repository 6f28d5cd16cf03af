import type { Redactor } from "../../ports/redactor.ts";

/** Of a longer output, its beginning and its end are stored. Both together fit into one text of the log. */
const HEAD_LENGTH = 60_000;
const TAIL_LENGTH = 60_000;

/** Some agents send only the last part of a long output, after a mark such as "...". */
const MARK_LENGTH_MAX = 32;
const ANCHOR_LENGTH = 200;
const ANCHORS_MAX = 16;

/**
 * The output of one tool call, which arrives in pieces. A piece is redacted before it is cut, and its end is held back
 * while it could be the beginning of a secret. The end of a long output is stored when the call ends.
 */
export class CappedOutput {
  readonly #redactor: Redactor;
  #raw = "";
  #ready = "";
  #headRoom = HEAD_LENGTH;
  #tail = "";
  #leftOutBytes = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  add(text: string): void {
    const raw = this.#raw + text;
    const end = raw.length - Math.max(this.#redactor.openTail(raw), HALF_CHARACTER.test(raw) ? 1 : 0);
    this.#raw = raw.slice(end);
    this.#append(this.#redactor.redact(raw.slice(0, end)));
  }

  /** The further output that can be stored now. */
  take(): string {
    const ready = this.#ready;
    this.#ready = "";
    return ready;
  }

  /** All further output, with the end of a long one. */
  end(): string {
    this.#append(this.#redactor.redact(this.#raw));
    this.#raw = "";
    this.#trim(TAIL_LENGTH);
    const rest = this.take() + (this.#leftOutBytes === 0 ? "" : leftOut(this.#leftOutBytes)) + this.#tail;
    this.#tail = "";
    this.#leftOutBytes = 0;
    return rest;
  }

  #append(text: string): void {
    const head = text.slice(0, this.#headRoom);
    this.#ready += head;
    this.#headRoom -= head.length;
    this.#tail += text.slice(head.length);
    // Trimmed rarely, because each time copies the tail.
    if (this.#tail.length > 2 * TAIL_LENGTH) {
      this.#trim(TAIL_LENGTH);
    }
  }

  #trim(length: number): void {
    const excess = Math.max(0, this.#tail.length - length);
    this.#leftOutBytes += bytesOf(this.#tail.slice(0, excess));
    this.#tail = this.#tail.slice(excess);
  }
}

/** A text that is complete, without its middle if it is too long. */
export function capped(text: string): string {
  const excess = text.length - HEAD_LENGTH - TAIL_LENGTH;
  if (excess <= 0) {
    return text;
  }
  const middle = text.slice(HEAD_LENGTH, HEAD_LENGTH + excess);
  return text.slice(0, HEAD_LENGTH) + leftOut(bytesOf(middle)) + text.slice(-TAIL_LENGTH);
}

/**
 * The text that `after` adds to `before`. `after` repeats `before` from its beginning, or from a later place after a mark
 * such as "...". Undefined: it does not repeat it.
 */
export function addedText(before: string, after: string): string | undefined {
  if (after.startsWith(before)) {
    return after.slice(before.length);
  }
  const anchor = before.slice(-ANCHOR_LENGTH);
  if (anchor.length < ANCHOR_LENGTH) {
    return undefined;
  }
  let at = after.lastIndexOf(anchor);
  for (let tries = 0; at !== -1 && tries < ANCHORS_MAX; tries += 1) {
    const end = at + ANCHOR_LENGTH;
    if (before.endsWith(after.slice(Math.min(at, MARK_LENGTH_MAX), end))) {
      return after.slice(end);
    }
    at = at === 0 ? -1 : after.lastIndexOf(anchor, at - 1);
  }
  return undefined;
}

/** The first half of a surrogate pair. */
const HALF_CHARACTER = /[\ud800-\udbff]$/;

function leftOut(bytes: number): string {
  return `\n… [${bytes} bytes left out] …\n`;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
