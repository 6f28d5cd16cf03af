import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKnownSecrets, createRedactor } from "../../../src/secrets/redaction.ts";

const SECRET = "correct-horse-battery";
const encoded = (text: string) => Buffer.from(text).toString("base64");

describe("what is taken out of a text", () => {
  test.each([
    ["as it stands", SECRET],
    ["in base64", encoded(SECRET)],
    ["in base64 without padding", encoded(SECRET).replace(/=+$/, "")],
    ["in base64 as a shell makes it", encoded(`${SECRET}\n`).replace(/=+$/, "")],
  ])("is a secret %s", (_how, spelling) => {
    const text = createRedactor([SECRET]).redact(`<${spelling}>`);

    expect(text).toMatch(/^<\[redacted\]=*>$/);
  });

  test("is a secret with quotes and line breaks inside JSON", () => {
    const secret = 'a "quoted"\nsecret';

    expect(createRedactor([secret]).redact(JSON.stringify({ secret }))).toBe('{"secret":"[redacted]"}');
  });

  test("is the longer of two secrets that begin alike, and nothing of it is left", () => {
    const { redact } = createRedactor(["abcdefgh", "abcdefghij"]);

    expect(redact("abcdefghij abcdefgh")).toBe("[redacted] [redacted]");
  });

  test("is more than half of a secret at its end, and no less", () => {
    const { redact } = createRedactor([SECRET]);

    expect(redact("it is correct-horse-b")).toBe("it is [redacted]");
    expect(redact("it is correct-ho")).toBe("it is correct-ho");
  });

  test("is no word as short as words are", () => {
    expect(createRedactor(["yes", "1234567"]).redact("yes, 1234567")).toBe("yes, 1234567");
  });
});

describe("text that comes in pieces", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 40 });
  const secret = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 });

  test("shows no secret that is not overlapped by another, however it is cut", () => {
    fc.assert(
      fc.property(letters, secret, letters, fc.nat({ max: 80 }), (before, hidden, after, seed) => {
        const whole = `${before}${hidden}${after}`;
        const told = inPieces(whole, seed % (whole.length + 1), [hidden]);
        // What stands between two replacements, or beside one, is too short to hold it.
        for (const piece of told.split("[redacted]")) expect(piece).not.toContain(hidden);
      }),
    );
  });

  test("is told as if it had come in one, where secrets do not overlap", () => {
    const whole = `a ${SECRET} b ${SECRET}`;

    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(inPieces(whole, cut, [SECRET])).toBe("a [redacted] b [redacted]");
    }
  });

  test("is not held back for ever by a secret of one letter", () => {
    const { openTail } = createRedactor(["aaaaaaaa"]);

    expect(openTail("a".repeat(5_000))).toBeLessThan(8);
  });

  test("is looked at fast, whatever the secret", () => {
    const { openTail } = createRedactor([`${"a".repeat(60_000)}b`]);
    const began = performance.now();

    openTail(`${"a".repeat(59_000)}c${"a".repeat(900)}`);

    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("what a process knows", () => {
  test("is out of its log while a run has it, and out of that run's events alone", () => {
    const known = createKnownSecrets(["the platform's"]);
    const [one, other] = [known.lend([SECRET]), known.lend([])];
    const text = `the platform's ${SECRET}`;

    expect(one.redact(text)).toBe("[redacted] [redacted]");
    expect(other.redact(text)).toBe(`[redacted] ${SECRET}`);
    expect(known.redact(text)).toBe("[redacted] [redacted]");
    one.release();
    expect(known.redact(text)).toBe(`[redacted] ${SECRET}`);
  });

  test("holds each line of a key, also where its line breaks were written as \\n", () => {
    const line = "M".repeat(64);
    const { redact } = createKnownSecrets([]).lend([`-----BEGIN KEY-----\\n${line}\\n-----END KEY-----`]);

    expect(redact(`a ${line} b`)).toBe("a [redacted] b");
  });
});

/** As the recorder does it: what may be a beginning waits for the next piece. */
function inPieces(whole: string, cut: number, secrets: readonly string[]): string {
  const { redact, openTail } = createRedactor(secrets);
  const first = whole.slice(0, cut);
  const place = first.length - openTail(first);
  return redact(first.slice(0, place)) + redact(first.slice(place) + whole.slice(cut));
}
