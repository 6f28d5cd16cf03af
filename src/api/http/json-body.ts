import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { jsonPointer } from "../../core/basics/json-pointer.ts";
import { DEPTH_MAX, invalid } from "./request-validation.ts";

/**
 * Accepts only JSON bodies. An empty body is absent, because public clients send `Content-Type: application/json`
 * without a body. Text that is not UTF-8 is refused, and so is an object that has a member twice: the caller and the
 * parser would not agree on which one counts.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    if (body.length === 0) {
      return done(null, undefined);
    }
    if (!isUtf8(body)) {
      return done(invalid([{ path: "", message: "must be UTF-8" }]));
    }
    const { excess, members } = structureOf(body);
    if (excess !== undefined) {
      return done(invalid([{ path: "", message: excess }]));
    }
    return parse(request, body.toString(), (error, value) => {
      // The parser keeps one of several members of the same name, so only their number shows that there were more.
      const twice = error === null && membersIn(value) < members ? memberTwiceIn(body) : undefined;
      return twice === undefined ? done(error, value) : done(invalid([twice]));
    });
  });
}

/** Brackets, commas, numbers and whitespace. */
const OUTSIDE_MAX = 2 ** 17;
/** Includes escaped quotation marks, because a prompt may consist of them. */
const QUOTES_MAX = 600_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_OBJECT = 0x7b;
const OPENING: readonly (number | undefined)[] = [0x5b, 0x7b];
const CLOSING: readonly (number | undefined)[] = [0x5d, 0x7d];

const COLON = 0x3a;
const COMMA = 0x2c;

interface Structure {
  /** Why the text would block the parser, and so all requests, for too long. */
  readonly excess?: string;
  /** How many members all objects have together, if the text is JSON. */
  readonly members: number;
}

/**
 * The cost of a JSON text depends on its structure: 1 MiB of brackets takes 75 ms, 1 MiB of one string takes 1 ms.
 * Therefore strings are skipped. The parser finds all other errors.
 */
export function structureOf(text: Buffer): Structure {
  let members = 0;
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
    } else if (byte === COLON) {
      members += 1;
    }
    if (depth > DEPTH_MAX) {
      return { excess: `must not be nested deeper than ${DEPTH_MAX}`, members };
    }
    if (outside > OUTSIDE_MAX) {
      return { excess: `must have at most ${OUTSIDE_MAX} bytes outside of texts`, members };
    }
    if (quotes > QUOTES_MAX) {
      return { excess: `must have at most ${QUOTES_MAX} quotation marks`, members };
    }
  }
  return { members };
}

/** How many members all objects in a value have together. */
function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  const parts: readonly unknown[] = Object.values(value);
  let count = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) {
    count += membersIn(part);
  }
  return count;
}

/** An object or a list around the place in the text. */
interface Level {
  /** The names so far. Undefined: it is a list. */
  readonly names: Set<string> | undefined;
  /** The name of the member, or the index of the entry. */
  key: string | number;
  expectsName: boolean;
}

/** Finds the first member of a JSON text whose name its object already has. */
export function memberTwiceIn(text: Buffer) {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const level = levels.at(-1);
    const byte = text[at];
    if (byte === QUOTE) {
      const { end } = stringAt(text, at, QUOTES_MAX);
      if (level?.names !== undefined && level.expectsName) {
        level.key = String(JSON.parse(text.toString("utf8", at, end + 1)));
        level.expectsName = false;
        if (level.names.has(level.key)) {
          return issueAt(levels.map(({ key }) => key));
        }
        level.names.add(level.key);
      }
      at = end;
    } else if (OPENING.includes(byte)) {
      const isObject = byte === OPENING_OBJECT;
      levels.push({ names: isObject ? new Set() : undefined, key: 0, expectsName: isObject });
    } else if (CLOSING.includes(byte)) {
      levels.pop();
    } else if (byte === COMMA && level !== undefined) {
      level.expectsName = level.names !== undefined;
      level.key = typeof level.key === "number" ? level.key + 1 : level.key;
    }
  }
  return undefined;
}

function issueAt(keys: readonly (string | number)[]) {
  return { path: keys.join("."), pointer: jsonPointer(keys), message: "must not be there twice" };
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
