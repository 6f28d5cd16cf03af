import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKnownSecrets, createRedactor } from "../../../src/secrets/redaction.ts";
import { processorTime } from "../../support/processor-time.ts";

const SECRET = "correct-horse-battery";
const encoded = (text: string) => Buffer.from(text).toString("base64");

describe("redaction", () => {
  test.each([
    ["in plain text", SECRET],
    ["in base64", encoded(SECRET)],
    ["in base64 without padding", encoded(SECRET).replace(/=+$/, "")],
    ["in base64 with a line break at its end", encoded(`${SECRET}\n`).replace(/=+$/, "")],
  ])("a secret %s is redacted", (_how, spelling) => {
    const text = createRedactor([SECRET]).redact(`<${spelling}>`);

    expect(text).toMatch(/^<\[redacted\]=*>$/);
  });

  test("a secret with quotes and line breaks is redacted inside JSON", () => {
    const secret = 'a "quoted"\nsecret';

    expect(createRedactor([secret]).redact(JSON.stringify({ secret }))).toBe('{"secret":"[redacted]"}');
  });

  test("of two secrets with the same start the longer one is redacted completely", () => {
    const { redact } = createRedactor(["abcdefgh", "abcdefghij"]);

    expect(redact("abcdefghij abcdefgh")).toBe("[redacted] [redacted]");
  });

  test("more than half of a secret at the end of a text is redacted, and less is not", () => {
    const { redact } = createRedactor([SECRET]);

    expect(redact("it is correct-horse-b")).toBe("it is [redacted]");
    expect(redact("it is correct-ho")).toBe("it is correct-ho");
  });

  test("a secret as short as a word is not redacted", () => {
    expect(createRedactor(["yes", "1234567"]).redact("yes, 1234567")).toBe("yes, 1234567");
  });
});

describe("redaction of text that comes in pieces", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 40 });
  const secret = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 8, maxLength: 12 });

  test("a secret that does not overlap another is redacted, however the text is divided", () => {
    fc.assert(
      fc.property(letters, secret, letters, fc.nat({ max: 80 }), (before, hidden, after, seed) => {
        const whole = `${before}${hidden}${after}`;
        const redacted = inPieces(whole, seed % (whole.length + 1), [hidden]);
        // The text between or beside two replacements is too short to contain the secret.
        for (const piece of redacted.split("[redacted]")) {
          expect(piece).not.toContain(hidden);
        }
      }),
    );
  });

  test("text in pieces is redacted like a whole text if secrets do not overlap", () => {
    const whole = `a ${SECRET} b ${SECRET}`;

    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(inPieces(whole, cut, [SECRET])).toBe("a [redacted] b [redacted]");
    }
  });

  test("a secret that repeats one letter does not hold back text indefinitely", () => {
    const { openTail } = createRedactor(["aaaaaaaa"]);

    expect(openTail("a".repeat(5_000))).toBeLessThan(8);
  });

  test("text is redacted quickly, whatever the secret is", () => {
    const { openTail } = createRedactor([`${"a".repeat(60_000)}b`]);
    const usedMs = processorTime();

    openTail(`${"a".repeat(59_000)}c${"a".repeat(900)}`);

    expect(usedMs()).toBeLessThan(5_000);
  });
});

describe("the secrets that a process knows", () => {
  test("a run's secrets are redacted from the process log during the run and from its own events only", () => {
    const known = createKnownSecrets(["the platform's"]);
    const [one, other] = [known.create([SECRET], []), known.create([], [])];
    const text = `the platform's ${SECRET}`;

    expect(one.redact(text)).toBe("[redacted] [redacted]");
    expect(other.redact(text)).toBe(`[redacted] ${SECRET}`);
    expect(known.redact(text)).toBe("[redacted] [redacted]");
    one.release();
    expect(known.redact(text)).toBe(`[redacted] ${SECRET}`);
  });

  test("each line of a private key is redacted, also with line breaks written as \\n", () => {
    const line = "M".repeat(64);
    const { redact } = createKnownSecrets([]).create(
      [`-----BEGIN KEY-----\\n${line}\\n-----END KEY-----`],
      [],
    );

    expect(redact(`a ${line} b`)).toBe("a [redacted] b");
  });
});

/** Redacts as the recorder does: the possible start of a secret waits for the next piece. */
function inPieces(whole: string, cut: number, secrets: readonly string[]): string {
  const { redact, openTail } = createRedactor(secrets);
  const first = whole.slice(0, cut);
  const end = first.length - openTail(first);
  return redact(first.slice(0, end)) + redact(first.slice(end) + whole.slice(cut));
}

test("a path is replaced as a whole, and is held back while it may continue", () => {
  const paths = [
    { path: "/data/runs/1/workspace", shown: "/workspace" },
    { path: "/data/runs/1", shown: "/run-directory" },
  ];
  const redactor = createRedactor([], paths);

  expect(redactor.redact("in /data/runs/1/workspace/a and /data/runs/1/b")).toBe(
    "in /workspace/a and /run-directory/b",
  );
  expect(redactor.redact("/data/runs/")).toBe("/data/runs/");
  expect(redactor.openTail("look at /data/runs/1/work")).toBe("/data/runs/1/work".length);
});
