import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeyMask, keysIn } from "../../../src/gateway/key-mask.ts";

const KEY = "aabaabaac";

async function masked(pieces: readonly string[], keys: readonly string[] = [KEY]): Promise<string> {
  const source = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  return (await buffer(source.pipe(new KeyMask(keys)))).toString();
}

describe("masking keys in an answer", () => {
  test("a key is replaced by stars of the same length, however the answer is divided, and nothing else changes", async () => {
    const word = fc.constantFrom(KEY, "a", "b", "aab", "c", "ü", " ");
    const texts = fc.array(word).map((words) => words.join(""));

    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(5), { minLength: 1 }), async (text, lengths) => {
        const pieces: string[] = [];
        for (let [at, step] = [0, 0]; at < text.length; step += 1) {
          const length = (lengths[step % lengths.length] ?? 0) + 1;
          pieces.push(text.slice(at, at + length));
          at += length;
        }

        expect(await masked(pieces)).toBe(text.replaceAll(KEY, "*".repeat(KEY.length)));
      }),
      { numRuns: 200 },
    );
  });

  test("only text that can be the start of a key is held back", async () => {
    const mask = new KeyMask([KEY]);
    const seen: string[] = [];
    mask.on("data", (chunk: Buffer) => seen.push(chunk.toString()));

    mask.write("data: hello aabaab");
    await new Promise(setImmediate);

    expect(seen).toEqual(["data: hello "]);
    mask.end();
  });

  test("several keys are masked, also after an authorization scheme, and short values are not", async () => {
    const keys = keysIn({ authorization: "Bearer first-secret", "x-other": "second-secret", "x-team": "7" });

    expect(await masked(["first-secret second-secret 7"], keys)).toBe(
      `${"*".repeat(12)} ${"*".repeat(13)} 7`,
    );
  });
});
