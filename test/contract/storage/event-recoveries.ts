import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { anInboxEvent } from "../../support/run-builders.ts";
import type { StorageHarness } from "./harness.ts";

export function describeEventRecoveries(harness: () => StorageHarness): void {
  describe("the search for lost events", () => {
    test("of several processes one begins, and the next one only after the gap", async () => {
      const { eventRecoveries } = harness().storage;
      const adapter = randomUUID();

      const begun = await Promise.all(
        Array.from({ length: 10 }, () => eventRecoveries.begin(adapter, 60_000)),
      );
      expect(begun.filter((one) => one !== undefined)).toEqual([{ cursor: undefined }]);
      await eventRecoveries.advance(adapter, "page 2");
      expect(await eventRecoveries.begin(randomUUID(), 60_000)).toEqual({ cursor: undefined });

      await harness().passTime(50_000);
      expect(await eventRecoveries.begin(adapter, 60_000)).toBeUndefined();
      await harness().passTime(11_000);
      expect(await eventRecoveries.begin(adapter, 60_000)).toEqual({ cursor: "page 2" });
      expect(await eventRecoveries.begin(adapter, 60_000)).toBeUndefined();
    });

    test("the stored deliveries of an adapter are known by their ids", async () => {
      const { eventRecoveries, inbox } = harness().storage;
      const adapter = randomUUID();
      const event = anInboxEvent({ adapter });
      const other = anInboxEvent();
      await inbox.put(event);
      await inbox.put(other);

      const ids = [event.deliveryId, other.deliveryId, "missing"];

      expect(await eventRecoveries.listStored(adapter, ids)).toEqual(new Set([event.deliveryId]));
      expect(await eventRecoveries.listStored(adapter, [])).toEqual(new Set());
    });
  });
}
