import fc from "fast-check";
import { expect, test } from "vitest";
import { queueOf } from "../../../../src/storage/queue/queue-settings.ts";

test("two host names never share a queue, and every queue name is valid for pg-boss", () => {
  const host = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(host, host, (one, other) => {
      const [first, second] = [one, other].map((name) => queueOf({ kind: "run", host: name }));
      expect(first).toMatch(/^run\/[\w./-]+$/);
      expect(first === second).toBe(one === other);
    }),
  );
});

test("a host name that equals the queue name of another host has its own queue", () => {
  expect(queueOf({ kind: "run", host: "a b" })).toBe("run/a/20b");
  expect(queueOf({ kind: "run", host: "a/20b" })).toBe("run/a/2f20b");
});
