import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TeamId } from "../../../src/core/ids.ts";
import type { Viewer } from "../../../src/core/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { LOG_START, type LogPage, type LogPlace } from "../../../src/core/ports/event-log.ts";
import { EVENTS_LENGTH_MAX } from "../../../src/core/runs/event-pages.ts";
import type { Run } from "../../../src/core/runs/run.ts";
import { aChange } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { aPerson, aStoredRun, aTeam, type StorageBench } from "./bench.ts";

export function describeEventLog(bench: () => StorageBench): void {
  describe("the log of all runs", () => {
    it("gives what comes behind a place once and in order, page by page", async () => {
      const { log } = bench().storage;
      const start = await quietEnd(bench());
      const [one, two] = [await aStoredRun(bench()), await aStoredRun(bench())];
      await addEvent(bench(), one);
      await settled(bench(), start, 3);

      const first = await log.read(start, 2);
      const second = await log.read(first.next, 2);
      const none = await log.read(second.next, 2);

      const names = [...first.events, ...second.events].map(({ event }) => `${event.runId} ${event.seq}`);
      expect(names).toEqual([`${one.id} 1`, `${two.id} 1`, `${one.id} 2`]);
      expect([first.hasMore, second.hasMore, none.events, none.next]).toEqual([true, false, [], second.next]);
    });

    it("ends a page where its events become long, and says that there is more", async () => {
      const { log } = bench().storage;
      const start = await quietEnd(bench());
      const run = await aStoredRun(bench());
      const other = await aStoredRun(bench(), { teamId: await aTeam(bench()) });
      const viewer = await aPerson(bench());
      await addEvent(bench(), other, "x".repeat(EVENTS_LENGTH_MAX));
      for (const title of ["x".repeat(EVENTS_LENGTH_MAX), "a", "b"]) await addEvent(bench(), run, title);
      await settled(bench(), start, 6);

      const first = await log.read(start, 10, viewer);
      const second = await log.read(first.next, 10, viewer);

      const seqs = (page: LogPage) => page.events.map(({ event }) => event.seq);
      expect([seqs(first), first.hasMore]).toEqual([[1, 2], true]);
      expect([seqs(second), second.hasMore]).toEqual([[3, 4], false]);
    });

    it("goes on behind any of its events", async () => {
      const { log } = bench().storage;
      const start = await quietEnd(bench());
      const run = await aStoredRun(bench());
      await addEvent(bench(), run);
      await settled(bench(), start, 2);
      const { events } = await log.read(start, 10);

      const behindFirst = await log.read(events[0]?.place ?? LOG_START, 10);

      expect(behindFirst.events).toEqual(events.slice(1));
    });

    it("shows a viewer the runs they see, and goes past all others", async () => {
      const { log } = bench().storage;
      const start = await quietEnd(bench());
      const [ada, otherTeam] = [await aPerson(bench()), await aTeam(bench())];
      const ours = await aStoredRun(bench());
      const others = await aStoredRun(bench(), { teamOwned: false });
      const mine = await aStoredRun(bench(), { teamOwned: false, creatorId: ada.id });
      await aStoredRun(bench(), { teamId: otherTeam });
      await settled(bench(), start, 4);
      const seenBy = async (viewer: Viewer) => {
        const { events, next } = await log.read(start, 100, viewer);
        return {
          runs: events.map(({ place }) => place.runId),
          rest: (await log.read(next, 100)).events.length,
        };
      };

      expect(await seenBy(ada)).toEqual({ runs: [ours.id, mine.id], rest: 0 });
      const administrator = { ...ada, id: randomUUID() as Viewer["id"], administrator: true };
      expect((await seenBy(administrator)).runs).toEqual([ours.id, others.id, mine.id]);
      expect((await seenBy({ ...administrator, teamId: randomUUID() as TeamId })).runs).toEqual([]);
      expect((await seenBy({ ...ada, onlyRunId: mine.id })).runs).toEqual([mine.id]);
    });

    it("knows its own places, and none of a log that was longer", async () => {
      const { log } = bench().storage;
      await aStoredRun(bench(), { teamId: FIRST_TEAM });
      const end = await log.end();

      expect(await log.knows(end)).toBe(true);
      expect(await log.knows(LOG_START)).toBe(true);
      expect(await log.knows({ ...end, position: end.position + 1_000_000n })).toBe(false);
    });
  });
}

async function addEvent({ storage }: StorageBench, { id }: Run, title = ""): Promise<void> {
  const event = { turn: 0, body: { kind: "agent.title", title } } as const;
  await storage.runs.change(id, ({ run }) => aChange(run, { events: [event] }));
}

/** The end of a log in which nothing is held back that would come behind it. */
async function quietEnd({ storage: { log } }: StorageBench): Promise<LogPlace> {
  let end = await log.end();
  const isQuiet = async () => {
    end = await log.end();
    const { events, isHeldBack } = await log.read(end, 1);
    return events.length === 0 && !isHeldBack;
  };
  await waitFor(isQuiet, { what: "a log that is settled" });
  return end;
}

/** Other transactions of the same server may hold back what is committed. */
async function settled({ storage }: StorageBench, after: LogPlace, count: number): Promise<void> {
  const isThere = async () => {
    let page = await storage.log.read(after, 100);
    let found = page.events.length;
    for (; page.hasMore; found += page.events.length) page = await storage.log.read(page.next, 100);
    return found >= count;
  };
  await waitFor(isThere, { what: `${count} events in the log` });
}
