import { afterAll, beforeAll, describe } from "vitest";
import { describeChangingRuns } from "./storage/changing-runs.ts";
import { describeClaims } from "./storage/claims.ts";
import { describeCreatingRuns } from "./storage/creating-runs.ts";
import { describeDraftComments } from "./storage/draft-comments.ts";
import { describeEventLog } from "./storage/event-log.ts";
import { describeEventRecoveries } from "./storage/event-recoveries.ts";
import { describeEventTimes } from "./storage/event-times.ts";
import { describeFiles } from "./storage/files.ts";
import { describeFollowUps } from "./storage/follow-ups.ts";
import { describeGeneratedLists } from "./storage/generated-lists.ts";
import type { OpenStorage, StorageHarness } from "./storage/harness.ts";
import { describeFirstKey, describeIdentities } from "./storage/identities.ts";
import { describeInbox } from "./storage/inbox.ts";
import { describeLeases } from "./storage/leases.ts";
import { describeListingRuns } from "./storage/listing-runs.ts";
import { describeOutbox } from "./storage/outbox.ts";
import { describeOutboxPace } from "./storage/outbox-pace.ts";
import { describePeople } from "./storage/people.ts";
import { describePrincipalJoins } from "./storage/principal-joins.ts";
import { describeQuotas } from "./storage/quotas.ts";
import { describeRecords } from "./storage/records.ts";
import { describeRunReports } from "./storage/run-reports.ts";
import { describeSettings } from "./storage/settings.ts";
import { describeSignInWays } from "./storage/sign-in-ways.ts";
import { describeSkillHistory } from "./storage/skill-history.ts";
import { describeThreads } from "./storage/threads.ts";
import { describeWalksMeanwhile } from "./storage/walks-meanwhile.ts";
import { describeWebhookHistory } from "./storage/webhook-history.ts";
import { describeWebhookLog } from "./storage/webhook-log.ts";
import { describeWebhookOutbox } from "./storage/webhook-outbox.ts";
import { describeWorkers } from "./storage/workers.ts";

/** Tests that every implementation of the storage must pass. */
export function describeStorage(name: string, open: OpenStorage): void {
  describe(`the ${name} storage`, () => {
    let opened: StorageHarness;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    const harness = () => opened;

    describeCreatingRuns(harness);
    describeChangingRuns(harness);
    describeListingRuns(harness);
    describeGeneratedLists(harness);
    describeWalksMeanwhile(harness);
    describeFiles(harness);
    describeFollowUps(harness);
    describeDraftComments(harness);
    describeEventLog(harness);
    describeLeases(harness);
    describeSkillHistory(harness);
    describeRecords(harness);
    describeRunReports(harness);
    describeQuotas(harness);
    describeWorkers(harness);
    describeClaims(open);
    describeEventTimes(open);
    describeThreads(harness);
    describeSettings(harness);
    describeInbox(harness);
    describeEventRecoveries(harness);
    describeOutbox(harness);
    describeOutboxPace(harness);
    describeFirstKey(harness);
    describePeople(harness);
    describeIdentities(harness);
    describePrincipalJoins(harness);
    describeSignInWays(harness);
    describeWebhookOutbox(harness);
    describeWebhookHistory(harness);
    describeWebhookLog(harness);
  });
}
