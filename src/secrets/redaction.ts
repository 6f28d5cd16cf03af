import type { ShownPath } from "../core/model/workspaces/workspace.ts";
import type { Redactor, RunRedactors } from "../core/ports/redactor.ts";

export interface KnownSecrets extends RunRedactors {
  /** Removes all secrets that this process knows at the moment, for its log. */
  redact(text: string): string;
  /** Adds secrets of the platform that were read after the start. */
  learn(secrets: readonly string[]): void;
}

/**
 * All secrets that this process knows: the platform's always, a run's while it is worked on. Stored text of a run
 * lacks the platform's secrets and its own, but not those of other runs, because a reader could guess a secret from
 * its removal.
 */
export function createKnownSecrets(initial: readonly string[]): KnownSecrets {
  let platform = initial;
  let own = createRedactor(platform);
  const active = new Set<Redactor>();
  return {
    redact: (text) =>
      Array.from(active).reduce((clean, redactor) => redactor.redact(clean), own.redact(text)),
    learn(secrets) {
      platform = [...new Set([...platform, ...secrets.flatMap(formsOf)])];
      own = createRedactor(platform);
    },
    create(secrets, paths) {
      const all = [...platform, ...secrets.flatMap(formsOf)];
      const [redactor, inLog] = [createRedactor(all, paths), createRedactor(all)];
      // An operator needs the real paths.
      active.add(inLog);
      return { ...redactor, release: () => void active.delete(inLog) };
    },
  };
}

/** Short values are not redacted, because they occur in ordinary words. */
const LENGTH_MIN = 8;
const REDACTED = "[redacted]";

/** Replaces every known secret in a text, and more than half of a secret at its end. Then it replaces `paths`. */
export function createRedactor(secrets: readonly string[], paths: readonly ShownPath[] = []): Redactor {
  const spellings = secrets.filter(({ length }) => length >= LENGTH_MIN).flatMap(spellingsOf);
  // The longest first: if one secret is the beginning of another, the rest of the longer one must not remain.
  const known = [...new Set(spellings)].sort((a, b) => b.length - a.length).map(patternOf);
  const places = paths.toSorted((a, b) => b.path.length - a.path.length);
  const held = [...known, ...places.map(({ path }) => patternOf(path))];
  return {
    redact: (text) =>
      places.reduce(
        (clean, { path, shown }) => clean.replaceAll(path, shown),
        known.reduce(withoutSecret, text),
      ),
    openTail: (text) => text.length - lastCut(text, held),
  };
}

/** One line of a key reveals too much already. A shorter line is only padding. */
const PEM_LINE = /^[A-Za-z\d+/=]{41,}$/;

/** All forms of a value: a PEM also with `\n` instead of line breaks, and each of its lines. */
export function formsOf(value: string): readonly string[] {
  const pem = value.replaceAll("\\n", "\n");
  const lines = pem.split(/\r?\n/).map((line) => line.trim());
  return [...new Set([value, pem.trim(), ...lines.filter((line) => PEM_LINE.test(line))])];
}

/** The value itself, inside JSON, and in base64: alone and with the line break that `echo` adds. */
function spellingsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [secret, escaped, base64(secret), base64(`${secret}\n`)];
}

/** Without the padding, which not all programs write. */
function base64(text: string): string {
  return Buffer.from(text).toString("base64").replace(/=+$/, "");
}

interface Pattern {
  readonly secret: string;
  /** For each position, the length of the longest suffix up to there that is also a prefix of the secret. */
  readonly borders: Int32Array;
}

function withoutSecret(text: string, pattern: Pattern): string {
  const { secret } = pattern;
  const clean = text.replaceAll(secret, REDACTED);
  const tail = tailOf(clean, pattern);
  const isRevealing = tail >= LENGTH_MIN && tail * 2 > secret.length;
  return isRevealing ? `${clean.slice(0, -tail)}${REDACTED}` : clean;
}

/**
 * A position where the text can be cut without leaving the beginning of a secret before it or cutting a secret in
 * two.
 */
function lastCut(text: string, known: readonly Pattern[]): number {
  const longest = known.reduce((tail, pattern) => Math.max(tail, tailOf(text, pattern)), 0);
  let [cut, before] = [text.length - longest, -1];
  while (cut !== before) {
    before = cut;
    cut = known.reduce((end, { secret }) => Math.max(end, endOver(text, secret, before)), cut);
  }
  return cut;
}

/** The end of a secret that begins before `cut` and ends after it; 0 when there is none. */
function endOver(text: string, secret: string, cut: number): number {
  const start = cut === 0 ? -1 : text.lastIndexOf(secret, cut - 1);
  return start === -1 ? 0 : start + secret.length;
}

function patternOf(secret: string): Pattern {
  const borders = new Int32Array(secret.length);
  for (let place = 1; place < secret.length; place += 1) {
    borders[place] = longer(secret, borders, borders[place - 1] ?? 0, secret.charCodeAt(place));
  }
  return { secret, borders };
}

/** The length of the longest suffix of `text` that is a proper prefix of the secret (Knuth, Morris and Pratt). */
function tailOf(text: string, { secret, borders }: Pattern): number {
  let tail = 0;
  for (let place = Math.max(0, text.length - secret.length + 1); place < text.length; place += 1) {
    tail = longer(secret, borders, tail, text.charCodeAt(place));
  }
  return tail;
}

/** The length of the prefix that a prefix of `length` characters followed by `code` ends with. */
function longer(secret: string, borders: Int32Array, length: number, code: number): number {
  let candidate = length;
  while (candidate > 0 && secret.charCodeAt(candidate) !== code) {
    candidate = borders[candidate - 1] ?? 0;
  }
  return secret.charCodeAt(candidate) === code ? candidate + 1 : 0;
}
