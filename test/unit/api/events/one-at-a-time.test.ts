import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { oneAtATime } from "../../../../src/api/events/notifications.ts";

test("the work starts at once, runs once more for all calls during it, and again for a later call", async () => {
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
