import { expect, test } from "vitest";
import { clockTime } from "../../src/parts/format.ts";
import { heldText } from "../../src/run/held-text.ts";

test.each([
  ["answer", "answer"],
  ["question", "question"],
  ["other", "next message"],
] as const)("the page says when a held notice of the kind %s is posted", (kind, what) => {
  const until = "2026-03-01T14:05:00.000Z";
  expect(heldText("GitHub", { kind, until })).toBe(
    `GitHub takes no more messages of this app until ${clockTime(until)}; the ${what} follows then.`,
  );
});
