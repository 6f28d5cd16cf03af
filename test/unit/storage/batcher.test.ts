import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Batcher, type BatcherOptions } from "../../../src/storage/batcher.ts";

interface Under {
  readonly items: readonly string[];
  readonly end: (error?: Error) => Promise<void>;
}

/** Letters that are answered by their capitals, company by company, when the test says so. */
function aHarness(options: Partial<BatcherOptions<string, string>> = {}) {
  const companies: Under[] = [];
  const together = new Batcher<string, string>({
    itemsMax: 4,
    perform: (items) => {
      const { promise, reject, resolve } = Promise.withResolvers<readonly string[]>();
      const end = async (error?: Error) => {
        if (error) reject(error);
        else resolve(items.map((item) => item.toUpperCase()));
        await turn();
      };
      companies.push({ items, end });
      return promise;
    },
    ...options,
  });
  const begin = (letters: string) => Array.from(letters, (letter) => together.do(letter));
  const gone = () => companies.map(({ items }) => items.join(""));
  return { begin, companies, gone };
}

test("two go at once, each alone, and what comes meanwhile goes together when one of them is done", async () => {
  const { begin, companies, gone } = aHarness();

  const answers = Promise.all(begin("abcde"));
  const before = gone();
  await companies[0]?.end();
  const after = gone();
  for (const { end } of companies.slice(1)) await end();

  expect(before).toEqual(["a", "b"]);
  expect(after).toEqual(["a", "b", "cde"]);
  expect(await answers).toEqual(["A", "B", "C", "D", "E"]);
});

test("beside a company goes another that is no smaller, and a smaller one after it", async () => {
  const { begin, companies, gone } = aHarness();
  void begin("abcde");
  await companies[0]?.end();
  await companies[1]?.end();

  void begin("fg");
  const few = gone().slice(2);
  void begin("h");
  const enough = gone().slice(2);
  void begin("ij");
  await companies[2]?.end();
  const fewer = gone().slice(2);
  await companies[3]?.end();
  const done = gone().slice(2);

  expect([few, enough]).toEqual([["cde"], ["cde", "fgh"]]);
  expect([fewer, done]).toEqual([
    ["cde", "fgh"],
    ["cde", "fgh", "ij"],
  ]);
});

test("no more go together than may, and of one key one at a time", async () => {
  const { begin, companies, gone } = aHarness({ keyOf: (item) => item });

  const answers = Promise.all(begin("abccdxefgy"));
  for (let index = 0; index < companies.length; index += 1) await companies[index]?.end();

  expect(gone()).toEqual(["a", "b", "cdxe", "cfgy"]);
  expect((await answers).join("")).toBe("ABCCDXEFGY");
});

test("what fails together is done again one by one, and only what fails alone has failed", async () => {
  const { begin, companies, gone } = aHarness();
  const answers = Promise.allSettled(begin("abcde"));
  await companies[0]?.end();
  await companies[1]?.end();

  await companies[2]?.end(new Error("One of them."));
  const again = gone().slice(3);
  await companies[3]?.end();
  await companies[4]?.end(new Error("This one."));
  await companies[5]?.end();

  expect(again).toEqual(["c", "d", "e"]);
  expect((await answers).map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
});
