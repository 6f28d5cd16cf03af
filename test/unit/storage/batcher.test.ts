import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher, type BatcherOptions } from "../../../src/storage/batcher.ts";

interface OpenBatch {
  readonly items: readonly string[];
  readonly end: (error?: Error) => Promise<void>;
}

/** Creates a batcher that turns letters into capitals. The test decides when each batch ends. */
function aHarness(options: Partial<BatcherOptions<string, string>> = {}) {
  const batches: OpenBatch[] = [];
  const batcher = new Batcher<string, string>({
    itemsMax: 4,
    perform: (items) => {
      const { promise, reject, resolve } = Promise.withResolvers<readonly string[]>();
      const end = async (error?: Error) => {
        if (error) {
          reject(error);
        } else {
          resolve(items.map((item) => item.toUpperCase()));
        }
        await turn();
      };
      batches.push({ items, end });
      return promise;
    },
    ...options,
  });
  const begin = (letters: string) => Array.from(letters, (letter) => batcher.do(letter));
  const started = () => batches.map(({ items }) => items.join(""));
  return { begin, batches, started };
}

test("two items are processed at once, and later ones form a batch when one of them is done", async () => {
  const { begin, batches, started } = aHarness();

  const answers = Promise.all(begin("abcde"));
  const before = started();
  await batches[0]?.end();
  const after = started();
  for (const { end } of batches.slice(1)) {
    await end();
  }

  expect(before).toEqual(["a", "b"]);
  expect(after).toEqual(["a", "b", "cde"]);
  expect(await answers).toEqual(["A", "B", "C", "D", "E"]);
});

test("a second batch starts early only if it is at least as large as the first", async () => {
  const { begin, batches, started } = aHarness();
  void begin("abcde");
  await batches[0]?.end();
  await batches[1]?.end();

  void begin("fg");
  const few = started().slice(2);
  void begin("h");
  const enough = started().slice(2);
  void begin("ij");
  await batches[2]?.end();
  const fewer = started().slice(2);
  await batches[3]?.end();
  const done = started().slice(2);

  expect([few, enough]).toEqual([["cde"], ["cde", "fgh"]]);
  expect([fewer, done]).toEqual([
    ["cde", "fgh"],
    ["cde", "fgh", "ij"],
  ]);
});

test("a batch has at most the maximum number of items and at most one item per key", async () => {
  const { begin, batches, started } = aHarness({ keyOf: (item) => item });

  const answers = Promise.all(begin("abccdxefgy"));
  for (let index = 0; index < batches.length; index += 1) {
    await batches[index]?.end();
  }

  expect(started()).toEqual(["a", "b", "cdxe", "cfgy"]);
  expect((await answers).join("")).toBe("ABCCDXEFGY");
});

test("the items of a failed batch are repeated one by one, and only those that fail alone fail", async () => {
  const { begin, batches, started } = aHarness();
  const answers = Promise.allSettled(begin("abcde"));
  await batches[0]?.end();
  await batches[1]?.end();

  await batches[2]?.end(new Error("One of them."));
  const again = started().slice(3);
  await batches[3]?.end();
  await batches[4]?.end(new Error("This one."));
  await batches[5]?.end();

  expect(again).toEqual(["c", "d", "e"]);
  expect((await answers).map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
});
