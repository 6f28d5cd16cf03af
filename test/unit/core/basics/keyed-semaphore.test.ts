import { expect, test } from "vitest";
import { KeyedSemaphore } from "../../../../src/core/basics/keyed-semaphore.ts";
import { quiet } from "../../../support/manual-clock.ts";

test("a semaphore admits a limited number of tasks per key, and the others in their order", async () => {
  const semaphore = new KeyedSemaphore(2);
  const inside: string[] = [];
  const exits = new Map<string, () => void>();
  const enter = (key: string, name: string): Promise<void> =>
    semaphore.pass(key, async () => {
      inside.push(name);
      await new Promise<void>((resolve) => exits.set(name, resolve));
    });

  const all = [enter("a", "1"), enter("a", "2"), enter("a", "3"), enter("a", "4"), enter("b", "5")];
  await quiet();
  expect(inside).toEqual(["1", "2", "5"]);

  exits.get("2")?.();
  await quiet();
  expect(inside).toEqual(["1", "2", "5", "3"]);

  for (const name of ["1", "3", "5", "4"]) {
    exits.get(name)?.();
    await quiet();
  }
  await Promise.all(all);
  expect(inside).toEqual(["1", "2", "5", "3", "4"]);
});

test("a task that fails releases its place in the semaphore", async () => {
  const semaphore = new KeyedSemaphore(1);

  await expect(semaphore.pass("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");

  await expect(semaphore.pass("a", async () => "done")).resolves.toBe("done");
});
