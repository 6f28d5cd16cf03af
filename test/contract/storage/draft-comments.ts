import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import type { DraftComment } from "../../../src/core/model/runs/line-comment.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

const [ANN, BEN] = [randomUUID() as PrincipalId, randomUUID() as PrincipalId];

function aDraft(run: Run, body: string, second = 1): DraftComment {
  const at = new Date(Date.UTC(2026, 1, 1, 0, 0, second));
  const comment = { path: "a.ts", side: "right", line: 2, hunk: "+two", body } as const;
  return { id: randomUUID(), runId: run.id, authorId: ANN, comment, createdAt: at, updatedAt: at };
}

/** Tests of the comments that are not sent. */
export function describeDraftComments(harness: () => StorageHarness): void {
  describe("draft comments", () => {
    test("a draft is replaced under its id, and keeps its time and place in the list", async () => {
      const { draftComments } = harness().storage;
      const run = await aStoredRun(harness());
      const [first, second] = [aDraft(run, "first"), aDraft(run, "second", 2)];
      const later = new Date(Date.UTC(2026, 1, 2));

      await draftComments.put(first);
      await draftComments.put(second);
      const changed = { ...first, comment: { ...first.comment, body: "changed" } };
      const isPut = await draftComments.put({ ...changed, createdAt: later, updatedAt: later });

      expect(isPut).toBe(true);
      expect(await draftComments.list(run.id, ANN)).toEqual([{ ...changed, updatedAt: later }, second]);
    });

    test("a draft is neither seen, replaced nor removed by another author", async () => {
      const { draftComments } = harness().storage;
      const run = await aStoredRun(harness());
      const draft = aDraft(run, "mine");
      await draftComments.put(draft);

      expect(await draftComments.put({ ...draft, authorId: BEN })).toBe(false);
      expect(await draftComments.remove({ ...draft, authorId: BEN })).toBe(false);
      expect(await draftComments.list(run.id, BEN)).toEqual([]);
      expect(await draftComments.remove(draft)).toBe(true);
      expect(await draftComments.remove(draft)).toBe(false);
    });

    test("a change of the run deletes the drafts that it sends, and only those of their author", async () => {
      const { draftComments, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const [sent, kept] = [aDraft(run, "sent"), aDraft(run, "kept")];
      const other = { ...aDraft(run, "of Ben"), authorId: BEN };
      for (const draft of [sent, kept, other]) {
        await draftComments.put(draft);
      }

      const sentDrafts = { authorId: ANN, ids: [sent.id, other.id] };
      await runs.change(run.id, (aggregate) => ({ ...aChange(aggregate.run, {}), sentDrafts }));

      expect(await draftComments.list(run.id, ANN)).toEqual([kept]);
      expect(await draftComments.list(run.id, BEN)).toEqual([other]);
    });

    test("the drafts of a run are deleted with it, and a deleted run gets none", async () => {
      const { draftComments, runs } = harness().storage;
      const run = await aStoredRun(harness());
      const draft = aDraft(run, "gone");
      await draftComments.put(draft);

      await runs.remove(run.id, () => undefined);

      expect(await draftComments.list(run.id, ANN)).toEqual([]);
      expect(await draftComments.put(draft)).toBe(false);
    });
  });
}
