import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { StatusError } from "./errors.ts";
import { DEPTH_MAX, invalid } from "./request-validation.ts";

/**
 * Accepts only JSON bodies. An empty body is absent, because public clients send `Content-Type: application/json`
 * without a body. Text that is not UTF-8 is refused. Compressed bodies are refused unread, because a few bytes may
 * unpack to more than fits into memory.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addHook("preParsing", async ({ headers }) => {
    const encoding = headers["content-encoding"] ?? "identity";
    if (encoding.toLowerCase() !== "identity") {
      throw compressed();
    }
  });
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (body.length === 0) {
      return done(null, undefined);
    }
    if (!isUtf8(body)) {
      return done(invalid([{ path: "", message: "must be UTF-8" }]));
    }
    const excess = excessOf(body);
    if (excess !== undefined) {
      return done(invalid([{ path: "", message: excess }]));
    }
    return parse(request, body.toString(), done);
  });
}

function compressed(): StatusError {
  return new StatusError(415, "invalid_request", "Compressed bodies are not supported.", {
    remedy: "Send the body without Content-Encoding.",
  });
}

/** Brackets, commas, numbers and whitespace. */
const OUTSIDE_MAX = 2 ** 17;
/** Includes escaped quotation marks, because a prompt may consist of them. */
const QUOTES_MAX = 600_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: readonly (number | undefined)[] = [0x5b, 0x7b];
const CLOSING: readonly (number | undefined)[] = [0x5d, 0x7d];

/**
 * Returns why a JSON text would block the parser, and so all requests, for too long; undefined if it would not. The
 * cost depends on the structure: 1 MiB of brackets takes 75 ms, 1 MiB of one string takes 1 ms. Therefore strings are
 * skipped. The parser finds all other errors.
 */
export function excessOf(text: Buffer): string | undefined {
  let depth = 0;
  let outside = 0;
  let quotes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) {
      const string = stringAt(text, at, QUOTES_MAX - quotes);
      quotes += string.quotes;
      at = string.end;
    } else {
      outside += 1;
    }
    if (OPENING.includes(byte)) {
      depth += 1;
    } else if (CLOSING.includes(byte)) {
      depth -= 1;
    }
    if (depth > DEPTH_MAX) {
      return `must not be nested deeper than ${DEPTH_MAX}`;
    }
    if (outside > OUTSIDE_MAX) {
      return `must have at most ${OUTSIDE_MAX} bytes outside of texts`;
    }
    if (quotes > QUOTES_MAX) {
      return `must have at most ${QUOTES_MAX} quotation marks`;
    }
  }
  return undefined;
}

/** Finds the end of the string that begins at `start` and counts its quotation marks, up to one more than `max`. */
function stringAt(
  text: Buffer,
  start: number,
  max: number,
): { readonly end: number; readonly quotes: number } {
  let quotes = 1;
  for (let at = text.indexOf(QUOTE, start + 1); at !== -1; at = text.indexOf(QUOTE, at + 1)) {
    quotes += 1;
    if (quotes > max || !isEscaped(text, at)) {
      return { end: at, quotes };
    }
  }
  return { end: text.length, quotes };
}

function isEscaped(text: Buffer, at: number): boolean {
  let before = at;
  while (text[before - 1] === BACKSLASH) {
    before -= 1;
  }
  return (at - before) % 2 === 1;
}
