import { beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import { aChange } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";
import { WebhookHarness } from "./webhook-harness.ts";

export function describeWebhookLog(harness: () => StorageHarness): void {
  const webhooks = new WebhookHarness(harness);

  describe("the log, as webhooks read it", () => {
    /** The storage reads the log only if there is an endpoint. */
    beforeAll(async () => {
      await webhooks.anEndpoint();
    });

    async function readUntil(runId: RunId, count: number): Promise<readonly number[]> {
      const seqs: number[] = [];
      const what = `${count} moves of ${runId}`;
      await waitFor(
        async () => {
          seqs.push(...(await stateChangesOf(runId)));
          return seqs.length >= count;
        },
        { what },
      );
      seqs.push(...(await stateChangesOf(runId)));
      return seqs;
    }

    async function stateChangesOf(runId: RunId): Promise<readonly number[]> {
      const { stateChanges } = await webhooks.stores.log.next(100);
      return stateChanges.filter(({ run }) => run.id === runId).map(({ event }) => event.seq);
    }

    const said = { turn: 1, body: { kind: "agent.message", text: "hello" } } as const;
    const moved = { turn: 1, body: { kind: "run.state", from: "QUEUED", to: "PENDING" } } as const;

    test("each state change of a run is read once, with the public data of the run", async () => {
      const run = await aStoredRun(harness(), {
        metadata: { ticket: "T-1" },
        triggerUrl: "https://chat.example/1",
      });
      await harness().storage.runs.change(run.id, (aggregate) =>
        aChange(aggregate.run, { events: [said, moved] }),
      );
      const stateChanges: unknown[] = [];

      await waitFor(
        async () => {
          const part = await webhooks.stores.log.next(100);
          stateChanges.push(...part.stateChanges.filter((move) => move.run.id === run.id));
          return stateChanges.length >= 2;
        },
        { what: "two moves" },
      );

      const told = {
        id: run.id,
        title: run.title,
        metadata: { ticket: "T-1" },
        triggerUrl: "https://chat.example/1",
      };
      expect(stateChanges).toEqual([
        {
          run: expect.objectContaining(told),
          event: {
            runId: run.id,
            seq: 1,
            turn: 0,
            at: expect.any(Date),
            body: { kind: "run.created", state: "QUEUED" },
          },
        },
        {
          run: expect.objectContaining(told),
          event: { runId: run.id, seq: 3, turn: 1, at: expect.any(Date), body: moved.body },
        },
      ]);
    });

    test("each run says whether it is visible to its team", async () => {
      const hidden = await aStoredRun(harness(), { teamOwned: false });
      const shown = await aStoredRun(harness());
      const isTeamOwned = new Map<RunId, boolean>();

      await waitFor(
        async () => {
          const { stateChanges } = await webhooks.stores.log.next(100);
          for (const { run } of stateChanges) {
            isTeamOwned.set(run.id, run.teamOwned);
          }
          return isTeamOwned.has(shown.id);
        },
        { what: "the run that is the team's" },
      );

      expect([hidden.id, shown.id].map((id) => isTeamOwned.get(id))).toEqual([false, true]);
    });

    test("a part of the log is read again if its transaction was rolled back", async () => {
      const run = await aStoredRun(harness());
      let isSeen = false;
      const failing = () =>
        harness().storage.atomically(async ({ webhooks }) => {
          const { stateChanges } = await webhooks.log.next(100);
          isSeen = stateChanges.some((move) => move.run.id === run.id);
          if (isSeen) {
            throw new Error("no");
          }
        });

      await waitFor(() => failing().catch(() => isSeen), { what: "the move to be read" });

      expect(await readUntil(run.id, 1)).toEqual([1]);
    });

    test("concurrent readers get disjoint parts of the log", async () => {
      const runs = await Promise.all([1, 2, 3, 4, 5].map(() => aStoredRun(harness())));
      const seen: RunId[] = [];
      const read = async () =>
        seen.push(...(await webhooks.stores.log.next(2)).stateChanges.map(({ run }) => run.id));

      await waitFor(
        async () => {
          await Promise.all([read(), read(), read()]);
          return runs.every(({ id }) => seen.includes(id));
        },
        { what: "all runs to be read" },
      );

      expect(seen).toHaveLength(new Set(seen).size);
    });
  });
}
