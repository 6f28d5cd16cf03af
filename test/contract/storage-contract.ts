import { afterAll, beforeAll, describe } from "vitest";
import type { OpenStorage, StorageBench } from "./storage/bench.ts";
import { describeChangingRuns } from "./storage/changing-runs.ts";
import { describeCreatingRuns } from "./storage/creating-runs.ts";
import { describeEventLog } from "./storage/event-log.ts";
import { describeFiles } from "./storage/files.ts";
import { describeGeneratedLists } from "./storage/generated-lists.ts";
import { describeFirstKey, describeIdentities } from "./storage/identities.ts";
import { describeInbox } from "./storage/inbox.ts";
import { describeLeases } from "./storage/leases.ts";
import { describeListingRuns } from "./storage/listing-runs.ts";
import { describeOutbox } from "./storage/outbox.ts";
import { describePeople } from "./storage/people.ts";
import { describeRecords } from "./storage/records.ts";
import { describeRunReports } from "./storage/run-reports.ts";
import { describeSettings } from "./storage/settings.ts";
import { describeSkillHistory } from "./storage/skill-history.ts";
import { describeThreads } from "./storage/threads.ts";
import { describeWalksMeanwhile } from "./storage/walks-meanwhile.ts";
import { describeWebhookHistory } from "./storage/webhook-history.ts";
import { describeWebhookLog } from "./storage/webhook-log.ts";
import { describeWebhookOutbox } from "./storage/webhook-outbox.ts";
import { describeWorkers } from "./storage/workers.ts";

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
    describeGeneratedLists(bench);
    describeWalksMeanwhile(bench);
    describeFiles(bench);
    describeEventLog(bench);
    describeLeases(bench);
    describeSkillHistory(bench);
    describeRecords(bench);
    describeRunReports(bench);
    describeWorkers(bench);
    describeThreads(bench);
    describeSettings(bench);
    describeInbox(bench);
    describeOutbox(bench);
    describeFirstKey(bench);
    describePeople(bench);
    describeIdentities(bench);
    describeWebhookOutbox(bench);
    describeWebhookHistory(bench);
    describeWebhookLog(bench);
  });
}
