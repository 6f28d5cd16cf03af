import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { anInboxEvent } from "../../../support/run-builders.ts";
import { IntakeHarness, KEY } from "./inbox-harness.ts";

let harness: IntakeHarness;
beforeEach(async () => {
  harness = new IntakeHarness();
  await harness.start();
});

describe("an event that cannot be handled", () => {
  test("for now is tried again, with the lane behind it, until it can", async () => {
    harness.adapter.translateFaults.push(new AppError("resource_unavailable", "Away."), new Error("odd"));
    await harness.put({ text: "one" }, "lane");
    await harness.put({ text: "two", addressed: "reply" }, "lane");
    await quiet();
    expect(harness.settled()).toEqual([]);

    await harness.clock.advance(10_000);

    expect(harness.settled()).toEqual(["run_created", "follow_up"]);
  });

  test("for good is ended, and its author is told", async () => {
    harness.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await harness.put({}, "lane");
    await quiet();

    expect(await harness.storage.inbox.next("lane")).toBeUndefined();
    expect(harness.repliesShown()).toEqual(["I could not take this up: The token was revoked."]);
  });

  test("after ten tries is ended, without details of ours", async () => {
    harness.adapter.translateFaults.push(
      ...Array.from({ length: 10 }, () => new TypeError("x is undefined")),
    );
    await harness.put({}, "lane");

    await harness.clock.advance(600_000);

    expect(await harness.storage.inbox.next("lane")).toBeUndefined();
    expect(harness.repliesShown()).toEqual([
      "I could not take this up: Something broke while this was handled.",
    ]);
  });

  test("and was not meant for the bot is ended in silence", async () => {
    harness.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await harness.put({ addressed: "reply" }, "lane");
    await quiet();

    expect(await harness.storage.inbox.next("lane")).toBeUndefined();
    expect(harness.adapter.thread(KEY)).toEqual([]);
  });

  test("since its adapter is switched off is ended", async () => {
    await harness.storage.inbox.put(anInboxEvent({ adapter: "gone", lane: "lane" }));
    await quiet();

    expect(await harness.storage.inbox.next("lane")).toBeUndefined();
  });
});
