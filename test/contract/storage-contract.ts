import { afterAll, beforeAll, describe } from "vitest";
import type { OpenStorage, StorageBench } from "./storage/bench.ts";
import { describeChangingRuns } from "./storage/changing-runs.ts";
import { describeCreatingRuns } from "./storage/creating-runs.ts";
import { describeInbox } from "./storage/inbox.ts";
import { describeLeases } from "./storage/leases.ts";
import { describeListingRuns } from "./storage/listing-runs.ts";
import { describeOutbox } from "./storage/outbox.ts";
import { describePeople } from "./storage/people.ts";
import { describeThreads } from "./storage/threads.ts";

/** What every storage promises. */
export function describeStorage(name: string, open: OpenStorage): void {
  describe(`the ${name} storage`, () => {
    let opened: StorageBench;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    const bench = () => opened;

    describeCreatingRuns(bench);
    describeChangingRuns(bench);
    describeListingRuns(bench);
    describeLeases(bench);
    describeThreads(bench);
    describeInbox(bench);
    describeOutbox(bench);
    describePeople(bench);
  });
}
