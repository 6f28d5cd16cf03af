import { describe, expect, test } from "vitest";
import { orderingKeyOf } from "../../../../src/adapters/slack/payload.ts";

describe("orderingKeyOf", () => {
  test.each([
    ["a first message", { channel: "C1", ts: "1.0" }],
    ["a reply", { channel: "C1", ts: "2.0", thread_ts: "1.0" }],
    ["an edit of the first message", { channel: "C1", ts: "3.0", message: { ts: "1.0" } }],
    ["an edit of a reply", { channel: "C1", ts: "3.0", message: { ts: "2.0", thread_ts: "1.0" } }],
    [
      "a deletion",
      { channel: "C1", ts: "3.0", deleted_ts: "2.0", previous_message: { ts: "2.0", thread_ts: "1.0" } },
    ],
    ["a deletion without the message", { channel: "C1", ts: "3.0", deleted_ts: "1.0" }],
    ["a reaction", { item: { type: "message", channel: "C1", ts: "1.0" } }],
    ["a pressed button", { channel: { id: "C1" }, message: { ts: "2.0", thread_ts: "1.0" } }],
  ])("the event %s has the ordering key of its thread", (_name, subject) => {
    expect(orderingKeyOf(subject, "Ev1")).toBe("slack:C1/1.0");
  });

  test.each([
    [undefined],
    [null],
    ["text"],
    [{ channel: 1, ts: {} }],
    [{ channel: "C1" }],
    [{ channel: { name: "x" } }],
  ])("the event %j has an ordering key of its own", (subject) => {
    expect(orderingKeyOf(subject, "Ev1")).toBe("slack:Ev1");
  });
});
