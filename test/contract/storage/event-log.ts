import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TeamId } from "../../../src/core/basics/ids.ts";
import type { Viewer } from "../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import {
  EVENT_LOG_START,
  type EventLogPage,
  type EventLogPosition,
} from "../../../src/core/ports/stores/event-log.ts";
import { EVENTS_LENGTH_MAX } from "../../../src/core/runs/event-pages.ts";
import { aChange } from "../../support/run-builders.ts";
import { waitFor } from "../../support/wait-for.ts";
import { aPerson, aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

export function describeEventLog(harness: () => StorageHarness): void {
  describe("the log of all runs", () => {
    test("events after a position are read once and in order, page by page", async () => {
      const { eventLog: log } = harness().storage;
      const start = await quietEnd(harness());
      const [one, two] = [await aStoredRun(harness()), await aStoredRun(harness())];
      await addEvent(harness(), one);
      await settled(harness(), start, 3);

      const first = await log.read(start, 2);
      const second = await log.read(first.next, 2);
      const none = await log.read(second.next, 2);

      const names = [...first.events, ...second.events].map(({ event }) => `${event.runId} ${event.seq}`);
      expect(names).toEqual([`${one.id} 1`, `${two.id} 1`, `${one.id} 2`]);
      expect([first.hasMore, second.hasMore, none.events, none.next]).toEqual([true, false, [], second.next]);
    });

    test("a page ends where its events become long, and says that there are more", async () => {
      const { eventLog: log } = harness().storage;
      const start = await quietEnd(harness());
      const run = await aStoredRun(harness());
      const other = await aStoredRun(harness(), { teamId: await aTeam(harness()) });
      const viewer = await aPerson(harness());
      await addEvent(harness(), other, "x".repeat(EVENTS_LENGTH_MAX));
      for (const title of ["x".repeat(EVENTS_LENGTH_MAX), "a", "b"]) {
        await addEvent(harness(), run, title);
      }
      await settled(harness(), start, 6);

      const first = await log.read(start, 10, viewer);
      const second = await log.read(first.next, 10, viewer);

      const seqs = (page: EventLogPage) => page.events.map(({ event }) => event.seq);
      expect([seqs(first), first.hasMore]).toEqual([[1, 2], true]);
      expect([seqs(second), second.hasMore]).toEqual([[3, 4], false]);
    });

    test("reading can continue after any event", async () => {
      const { eventLog: log } = harness().storage;
      const start = await quietEnd(harness());
      const run = await aStoredRun(harness());
      await addEvent(harness(), run);
      await settled(harness(), start, 2);
      const { events } = await log.read(start, 10);

      const behindFirst = await log.read(events[0]?.position ?? EVENT_LOG_START, 10);

      expect(behindFirst.events).toEqual(events.slice(1));
    });

    test("a viewer reads only events of visible runs, and the position passes all others", async () => {
      const { eventLog: log } = harness().storage;
      const start = await quietEnd(harness());
      const [ada, otherTeam] = [await aPerson(harness()), await aTeam(harness())];
      const ours = await aStoredRun(harness());
      const others = await aStoredRun(harness(), { teamOwned: false });
      const mine = await aStoredRun(harness(), { teamOwned: false, creatorId: ada.id });
      await aStoredRun(harness(), { teamId: otherTeam });
      await settled(harness(), start, 4);
      const seenBy = async (viewer: Viewer) => {
        const { events, next } = await log.read(start, 100, viewer);
        return {
          runs: events.map(({ position: place }) => place.runId),
          rest: (await log.read(next, 100)).events.length,
        };
      };

      expect(await seenBy(ada)).toEqual({ runs: [ours.id, mine.id], rest: 0 });
      const administrator = { ...ada, id: randomUUID() as Viewer["id"], administrator: true };
      expect((await seenBy(administrator)).runs).toEqual([ours.id, others.id, mine.id]);
      expect((await seenBy({ ...administrator, teamId: randomUUID() as TeamId })).runs).toEqual([]);
      expect((await seenBy({ ...ada, onlyRunId: mine.id })).runs).toEqual([mine.id]);
    });

    test("positions of this log are valid, and those of a longer log are not", async () => {
      const { eventLog: log } = harness().storage;
      await aStoredRun(harness(), { teamId: FIRST_TEAM });
      const end = await log.end();

      expect(await log.knows(end)).toBe(true);
      expect(await log.knows(EVENT_LOG_START)).toBe(true);
      expect(await log.knows({ ...end, position: end.position + 1_000_000n })).toBe(false);
    });
  });
}

async function addEvent({ storage }: StorageHarness, { id }: Run, title = ""): Promise<void> {
  const event = { turn: 0, body: { kind: "agent.title", title } } as const;
  await storage.runs.change(id, ({ run }) => aChange(run, { events: [event] }));
}

/** The end of a log that holds no event back. */
async function quietEnd({ storage: { eventLog: log } }: StorageHarness): Promise<EventLogPosition> {
  let end = await log.end();
  const isQuiet = async () => {
    end = await log.end();
    const { events, isHeldBack } = await log.read(end, 1);
    return events.length === 0 && !isHeldBack;
  };
  await waitFor(isQuiet, { what: "a log that is settled" });
  return end;
}

/**
 * Waits until the events are readable, because other transactions of the same server can hold committed events back.
 */
async function settled({ storage }: StorageHarness, after: EventLogPosition, count: number): Promise<void> {
  const isThere = async () => {
    let page = await storage.eventLog.read(after, 100);
    let found = page.events.length;
    for (; page.hasMore; found += page.events.length) {
      page = await storage.eventLog.read(page.next, 100);
    }
    return found >= count;
  };
  await waitFor(isThere, { what: `${count} events in the log` });
}
