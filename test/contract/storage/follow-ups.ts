import { describe, expect, test } from "vitest";
import type { FollowUp } from "../../../src/core/model/runs/follow-up.ts";
import { FOLLOW_UPS_LENGTH_MAX } from "../../../src/core/ports/stores/follow-up-store.ts";
import { aChange, aFollowUp } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

/** Tests of the messages to a run: how they are listed, changed and withdrawn. */
export function describeFollowUps(harness: () => StorageHarness): void {
  const aBlob = () => harness().blobs.put(Uint8Array.of(1));

  describe("follow-ups", () => {
    test("follow-ups are listed in order, in pages, without answers to questions", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const [first, answer, last] = ["first", "yes", "last"].map((message) => aFollowUp(run, { message }));
      const added = [first, answer && { ...answer, isAnswer: true as const }, last].filter(
        (one) => one !== undefined,
      );
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: added }));

      const all = await followUps.list(run.id, 0, 10);
      const page = await followUps.list(run.id, 0, 1);
      const rest = await followUps.list(run.id, page[0]?.seq ?? 0, 10);

      expect(all.map(({ message }) => message)).toEqual(["first", "last"]);
      expect([page, rest].map((rows) => rows.map(({ message }) => message))).toEqual([["first"], ["last"]]);
      expect((await followUps.find(run.id, answer?.id ?? ""))?.isAnswer).toBe(true);
    });

    test("a page ends with the follow-up that reaches the length limit, and the next page follows it", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const half = "x".repeat(FOLLOW_UPS_LENGTH_MAX / 2);
      const messages = [half, half, "short", half + half, "last"];
      const added = messages.map((message) => aFollowUp(run, { message }));
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: added }));

      const pages: (readonly FollowUp[])[] = [];
      for (let after = 0; pages.at(-1)?.length !== 0; after = pages.at(-1)?.at(-1)?.seq ?? 0) {
        pages.push(await followUps.list(run.id, after, 4));
      }

      expect(pages.map((page) => page.map(({ message }) => message))).toEqual([
        [half, half],
        ["short", half + half],
        ["last"],
        [],
      ]);
    });

    test("a list from a turn on leaves out the messages of the earliest turns when all are too long", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const half = "x".repeat(FOLLOW_UPS_LENGTH_MAX / 2);
      const added = [
        aFollowUp(run, { message: "waits" }),
        aFollowUp(run, { message: "of the first turn", turn: 1 }),
        aFollowUp(run, { message: half, turn: 2 }),
        aFollowUp(run, { message: half, turn: 2 }),
        aFollowUp(run, { message: "of the third turn", turn: 3 }),
      ];
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: added }));
      const waiting = { id: added[0]?.id, createdAt: added[0]?.createdAt, message: "waits" };

      const [first, ...others] = await followUps.listFromTurn(run.id, 1);
      const fromThird = await followUps.listFromTurn(run.id, 3);
      const ofFirst = await followUps.listFromTurn(run.id, 1, 2);

      expect(first).toMatchObject(waiting);
      expect(others.map(({ message, turn }) => [turn, message])).toEqual([
        [1, undefined],
        [2, half],
        [2, half],
        [3, "of the third turn"],
      ]);
      expect(fromThird.map(({ message }) => message)).toEqual(["waits", "of the third turn"]);
      expect(ofFirst.map(({ message }) => message)).toEqual(["of the first turn"]);
    });

    test("reports of a platform are counted from the last message of a person", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const add = (changes: Partial<FollowUp>) =>
        runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: [aFollowUp(run, changes)] }));
      const counts = [await followUps.countReports(run.id)];

      for (const changes of [{ isReport: true }, { isReport: true }, {}, { isReport: true }]) {
        await add(changes);
        counts.push(await followUps.countReports(run.id));
      }

      expect(counts).toEqual([0, 1, 2, 0, 1]);
    });

    test("a follow-up keeps that it asks for a pull request", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const asked = [aFollowUp(run, { asksForPullRequest: true }), aFollowUp(run)];

      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: asked }));

      const stored = await followUps.list(run.id, 0, 10);
      expect(stored.map(({ asksForPullRequest }) => asksForPullRequest)).toEqual([true, undefined]);
    });

    test("a follow-up keeps its files, and the run keeps those of its request", async () => {
      const { files, followUps, runs } = harness().storage;
      const file = { kind: "image", fileName: "a.png", mimeType: "image/png", sizeBytes: 1 } as const;
      const [ofRequest, ...ids] = [await aBlob(), await aBlob(), await aBlob()];
      const inputs = [{ ...file, blobId: ofRequest ?? "" }];
      const run = await aStoredRun(harness(), {}, { inputs });
      for (const blobId of ids) {
        const brought = [{ ...file, blobId, path: `attachments-${blobId.slice(-8)}/a.png`, sha256: "ab" }];
        const added = aFollowUp(run, { files: brought });
        await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: [added] }));

        expect(await followUps.find(run.id, added.id)).toMatchObject({ files: brought });
        const { waiting } = await runs.getAggregate(run.id);
        expect(waiting.at(-1)?.files).toEqual(brought);
      }

      expect(await files.inputsOf(run.id)).toEqual(inputs);
    });

    test("a follow-up keeps the text around it and the message that it came from", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const added = aFollowUp(run, { context: "Bob: no", messageRef: "1.2" });
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: [added] }));
      let waiting: readonly FollowUp[] = [];
      await runs.change(run.id, (aggregate) => {
        waiting = aggregate.waiting;
        return aChange(aggregate.run);
      });

      const expected = { context: "Bob: no", messageRef: "1.2" };
      expect(await followUps.find(run.id, added.id)).toMatchObject(expected);
      expect(waiting).toMatchObject([expected]);
    });

    test("the newest follow-up of a message is found until it is withdrawn", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const added = ["one", "two"].map((message) => aFollowUp(run, { message, messageRef: "1.2" }));
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: added }));

      const newest = await followUps.findByMessage(run.id, "1.2");
      expect(newest?.message).toBe("two");
      const changedFollowUps = [{ ...(newest as FollowUp), withdrawnAt: new Date() }];
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { changedFollowUps }));

      expect((await followUps.findByMessage(run.id, "1.2"))?.message).toBe("one");
      expect(await followUps.findByMessage(run.id, "1.3")).toBeUndefined();
    });

    test("a changed follow-up has its new message, and a withdrawn one is listed but waits no more", async () => {
      const { followUps, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const added = ["one", "two"].map((message) => aFollowUp(run, { message }));
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { followUps: added }));
      const [one, two] = await followUps.list(run.id, 0, 10);
      const at = new Date("2026-03-01T12:00:00.000Z");
      const changedFollowUps = [
        { ...(one as FollowUp), message: "one, edited", editedAt: at },
        { ...(two as FollowUp), withdrawnAt: at },
      ];

      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { changedFollowUps }));

      const rows = await followUps.list(run.id, 0, 10);
      const waiting = (await runs.getAggregate(run.id)).waiting;
      expect(rows.map(({ editedAt, message, withdrawnAt }) => [message, editedAt, withdrawnAt])).toEqual([
        ["one, edited", at, undefined],
        ["two", undefined, at],
      ]);
      expect(waiting.map(({ message }) => message)).toEqual(["one, edited"]);
      expect((await followUps.listFromTurn(run.id, 0)).map(({ message }) => message)).toEqual([
        "one, edited",
      ]);
    });
  });
}
