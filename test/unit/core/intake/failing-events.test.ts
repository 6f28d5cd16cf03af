import { beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../../../src/core/errors.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { anInboxEvent } from "../../../support/run-builders.ts";
import { IntakeBench, KEY } from "./intake-bench.ts";

let bench: IntakeBench;
beforeEach(async () => {
  bench = new IntakeBench();
  await bench.start();
});

describe("an event that cannot be handled", () => {
  test("for now is tried again, with the lane behind it, until it can", async () => {
    bench.adapter.translateFaults.push(new AppError("resource_unavailable", "Away."), new Error("odd"));
    await bench.put({ text: "one" }, "lane");
    await bench.put({ text: "two", addressed: "reply" }, "lane");
    await quiet();
    expect(bench.settled()).toEqual([]);

    await bench.clock.advance(10_000);

    expect(bench.settled()).toEqual(["run_created", "follow_up"]);
  });

  test("for good is ended, and its author is told", async () => {
    bench.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await bench.put({}, "lane");
    await quiet();

    expect(await bench.storage.inbox.next("lane")).toBeUndefined();
    expect(bench.repliesShown()).toEqual(["I could not take this up: The token was revoked."]);
  });

  test("after ten tries is ended, without details of ours", async () => {
    bench.adapter.translateFaults.push(...Array.from({ length: 10 }, () => new TypeError("x is undefined")));
    await bench.put({}, "lane");

    await bench.clock.advance(600_000);

    expect(await bench.storage.inbox.next("lane")).toBeUndefined();
    expect(bench.repliesShown()).toEqual([
      "I could not take this up: Something broke while this was handled.",
    ]);
  });

  test("and was not meant for the bot is ended in silence", async () => {
    bench.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await bench.put({ addressed: "reply" }, "lane");
    await quiet();

    expect(await bench.storage.inbox.next("lane")).toBeUndefined();
    expect(bench.adapter.thread(KEY)).toEqual([]);
  });

  test("since its adapter is switched off is ended", async () => {
    await bench.storage.inbox.put(anInboxEvent({ adapter: "gone", lane: "lane" }));
    await quiet();

    expect(await bench.storage.inbox.next("lane")).toBeUndefined();
  });
});
