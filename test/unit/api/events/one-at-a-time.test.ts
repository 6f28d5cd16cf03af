import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { oneAtATime } from "../../../../src/api/events/one-at-a-time.ts";

test("works at once, once more for all who asked meanwhile, and again when it is asked later", async () => {
  const works: PromiseWithResolvers<void>[] = [];
  const ask = oneAtATime(() => {
    const work = Promise.withResolvers<void>();
    works.push(work);
    return work.promise;
  });

  const begun: number[] = [];
  ask();
  begun.push(works.length);
  ask();
  ask();
  begun.push(works.length);
  for (let index = 0; index < 2; index += 1) {
    works[index]?.resolve();
    await turn();
    begun.push(works.length);
  }
  ask();
  begun.push(works.length);

  expect(begun).toEqual([1, 1, 2, 2, 3]);
});
