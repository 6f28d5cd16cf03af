import { expect, test } from "vitest";
import { newId, parseId } from "../../../../src/core/basics/ids.ts";

test("an id is a UUIDv7 of its time and is unique", () => {
  const now = new Date("2026-03-01T12:00:00.123Z");

  const ids = Array.from({ length: 1_000 }, () => newId(now));

  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseId(id)).toBe(id);
    expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(now.getTime());
  }
});

test("ids sort by the order of their times", () => {
  const times = [0, 1, 2 ** 20, Date.UTC(2026, 2), Date.UTC(2526, 2)];

  const ids = times.map((time) => newId(new Date(time)));

  expect(ids.toSorted()).toEqual(ids);
});
