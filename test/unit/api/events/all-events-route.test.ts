import { expect, test } from "vitest";
import { followAll } from "../../../../src/api/events/all-events-route.ts";
import type { PrincipalId, TeamId } from "../../../../src/core/basics/ids.ts";
import { KeyedSemaphore } from "../../../../src/core/basics/keyed-semaphore.ts";
import { EVENT_LOG_START, type EventLogPage } from "../../../../src/core/ports/stores/event-log.ts";
import { ManualClock, quiet } from "../../../support/manual-clock.ts";
import { InMemoryPubSub } from "../../../support/memory/in-memory-pubsub.ts";
import { createInMemoryStorage } from "../../../support/memory/storage/in-memory-storage.ts";

test("all streams of a principal read one page at a time, and those of another principal do not wait for them", async () => {
  const pubsub = new InMemoryPubSub();
  const memory = createInMemoryStorage({ clock: new ManualClock(), pubsub, sendJobs: () => undefined });
  const page: EventLogPage = { events: [], next: EVENT_LOG_START, hasMore: true, isHeldBack: false };
  const readers: string[] = [];
  const answers: (() => void)[] = [];
  const eventLog = {
    ...memory.eventLog,
    read: (_position: unknown, _limit: unknown, viewer?: { readonly id: string }) => {
      readers.push(viewer?.id ?? "");
      return new Promise<EventLogPage>((resolve) => answers.push(() => resolve(page)));
    },
  };
  const closing = new AbortController();
  const reads = new KeyedSemaphore(1);
  const follow = (id: string) => {
    const viewer = { id: id as PrincipalId, teamId: "team" as TeamId, administrator: false };
    const cursors = { encode: () => "" };
    const following = { viewer, after: EVENT_LOG_START, cursors, pollMs: 1, reads, signal: closing.signal };
    return followAll({ storage: { ...memory, eventLog }, pubsub }, following).next();
  };

  const streams = [follow("ann"), follow("ann"), follow("ben")];
  await quiet();
  expect(readers).toEqual(["ann", "ben"]);
  closing.abort();
  for (let answered = 0; answered < streams.length; answered += 1) {
    answers[answered]?.();
    await quiet();
  }

  expect(readers).toEqual(["ann", "ben", "ann"]);
  expect((await Promise.all(streams)).map(({ done }) => done)).toEqual([true, true, true]);
});
