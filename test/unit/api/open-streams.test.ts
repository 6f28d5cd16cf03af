import { expect, test } from "vitest";
import { OpenStreams } from "../../../src/api/events/open-streams.ts";

test("a key may have so many streams open, and others have their own", () => {
  const streams = new OpenStreams(2);
  const first = streams.open("key");
  streams.open("key");

  expect(() => streams.open("key")).toThrow(/2 streams/);
  expect(() => streams.open("other")).not.toThrow();
  streams.done("key", first);
  expect(() => streams.open("key")).not.toThrow();
});

test("0 sets no limit", () => {
  const streams = new OpenStreams(0);

  for (let count = 0; count < 100; count += 1) streams.open("key");

  expect(streams.size).toBe(100);
});
