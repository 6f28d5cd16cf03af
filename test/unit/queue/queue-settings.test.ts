import fc from "fast-check";
import { expect, it } from "vitest";
import { queueOf } from "../../../src/queue/queue-settings.ts";

it("two host names never share a queue, and every name is one that the library takes", () => {
  const host = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(host, host, (one, other) => {
      const [first, second] = [one, other].map((name) => queueOf({ kind: "run", host: name }));
      expect(first).toMatch(/^run\/[\w./-]+$/);
      expect(first === second).toBe(one === other);
    }),
  );
});

it("a host name that spells another one's queue has a queue of its own", () => {
  expect(queueOf({ kind: "run", host: "a b" })).toBe("run/a/20b");
  expect(queueOf({ kind: "run", host: "a/20b" })).toBe("run/a/2f20b");
});
