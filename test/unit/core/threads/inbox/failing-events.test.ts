import { beforeEach, describe, expect, test } from "vitest";
import { AppError, Misconfigured, StorageUnavailable } from "../../../../../src/core/basics/errors.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { adaptersCheck } from "../../../../../src/core/upkeep/checks.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { anInboxEvent } from "../../../../support/run-builders.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

describe("an event that cannot be handled", () => {
  test("an event that fails temporarily is retried and holds back later events of its ordering key", async () => {
    harness.adapter.translateFaults.push(new AppError("resource_unavailable", "Away."), new Error("odd"));
    await harness.put({ text: "one" }, "key-1");
    await harness.put({ text: "two", addressed: "reply" }, "key-1");
    await quiet();
    expect(harness.dispositions()).toEqual([]);

    await harness.clock.advance(10_000);

    expect(harness.dispositions()).toEqual(["run_created", "follow_up"]);
  });

  test("an event that fails permanently ends as failed, and its author gets the reason", async () => {
    harness.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await harness.put({}, "key-1");
    await quiet();

    expect(await harness.storage.inbox.next("key-1")).toBeUndefined();
    expect(harness.repliesShown()).toEqual(["I could not handle this: The token was revoked."]);
  });

  test("an event that fails ten times ends as failed, and its author gets no internal details", async () => {
    harness.adapter.translateFaults.push(
      ...Array.from({ length: 10 }, () => new TypeError("x is undefined")),
    );
    await harness.put({}, "key-1");

    await harness.clock.advance(600_000);

    expect(await harness.storage.inbox.next("key-1")).toBeUndefined();
    expect(harness.repliesShown()).toEqual(["I could not handle this: Errand failed while it handled this."]);
  });

  test("an event that fails only because of the storage is retried until the storage is back", async () => {
    harness.adapter.translateFaults.push(
      ...Array.from({ length: 20 }, () => new StorageUnavailable("The database's disk is full.")),
    );
    await harness.put({ text: "one" }, "key-1");

    await harness.clock.advance(1_200_000);

    expect(harness.dispositions()).toEqual(["run_created"]);
  });

  test("an event that an outside system refuses for our configuration waits until it is repaired", async () => {
    const refusal = () => new Misconfigured("external_authentication_required", "The token is bad.");
    harness.adapter.translateFaults.push(...Array.from({ length: 30 }, refusal));
    await harness.put({ text: "one" }, "key-1");
    const event = await harness.storage.inbox.next("key-1");

    await harness.clock.advance(600_000);
    expect(harness.dispositions()).toEqual([]);
    expect(harness.logged.map(({ message }) => message)).toContain("inbox.misconfigured");
    expect(
      await harness.storage.inboxList.find({ teamId: FIRST_TEAM, withUnknownTeam: true }, event?.id ?? ""),
    ).toMatchObject({
      reason: "The token is bad.",
    });
    await harness.clock.advance(3_600_000);

    expect(harness.dispositions()).toEqual(["run_created"]);
    expect(harness.repliesShown()).toEqual([]);
  });

  test("an event waits as long as its platform asks to wait, however often that is", async () => {
    const refusal = () => new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 60_000 });
    harness.adapter.translateFaults.push(...Array.from({ length: 20 }, refusal));
    await harness.put({ text: "one" }, "key-1");

    await harness.clock.advance(600_000);
    expect(harness.dispositions()).toEqual([]);
    await harness.clock.advance(3_600_000);

    expect(harness.dispositions()).toEqual(["run_created"]);
  });

  test("an installation that refuses the token is marked until it takes the app again", async () => {
    await harness.receive({});
    harness.adapter.translateFaults.push(
      new Misconfigured("external_authentication_required", "The token is bad.", { remedy: "Reinstall." }),
    );
    await harness.put({ text: "two" }, "key-1");
    await quiet();
    const problems = async () => (await harness.storage.installations.list()).map(({ problem }) => problem);
    expect(await problems()).toEqual(["The token is bad. Reinstall."]);
    const doctor = adaptersCheck(["memory"], harness.storage);
    expect(await doctor.run()).toMatchObject({
      status: "fail",
      message: expect.stringContaining("memory here: The token is bad. Reinstall."),
    });

    await harness.clock.advance(60_000);

    expect(await problems()).toEqual([undefined]);
    expect(await doctor.run()).toMatchObject({ status: "ok" });
    expect(harness.dispositions()).toEqual(["run_created", "follow_up"]);
  });

  test("another failure of the configuration marks no installation", async () => {
    await harness.receive({});
    harness.adapter.translateFaults.push(new Misconfigured("not_authorized", "A scope is missing."));

    await harness.put({ text: "two" }, "key-1");
    await quiet();

    expect((await harness.storage.installations.list()).map(({ problem }) => problem)).toEqual([undefined]);
  });

  test("the failure of a message that came as two events is posted once", async () => {
    const refusal = () => new AppError("not_authorized", "No.");
    harness.adapter.translateFaults.push(refusal());
    await harness.put({ dedupeKey: "one" }, "key-1");
    await quiet();
    harness.adapter.translateFaults.push(refusal());
    await harness.put({ dedupeKey: "one" }, "key-1");
    await quiet();

    expect(harness.repliesShown()).toEqual(["I could not handle this: No."]);
  });

  test("an event that fails and does not address the bot ends without a reply", async () => {
    harness.adapter.translateFaults.push(new AppError("not_authorized", "The token was revoked."));

    await harness.put({ addressed: "reply" }, "key-1");
    await quiet();

    expect(await harness.storage.inbox.next("key-1")).toBeUndefined();
    expect(harness.adapter.thread(KEY)).toEqual([]);
  });

  test("an event whose adapter is switched off ends as failed", async () => {
    await harness.storage.inbox.put(anInboxEvent({ adapter: "gone", orderingKey: "key-1" }));
    await quiet();

    expect(await harness.storage.inbox.next("key-1")).toBeUndefined();
  });
});
