import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { Schedule } from "../../../src/core/model/schedules/schedule.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import { aPolicy, aRoutingRule, aSchedule } from "../../support/rule-builders.ts";
import type { StorageHarness } from "./harness.ts";

/** Longer than the difference between the clock of the harness and that of the database. */
const DAY_MS = 24 * 3_600_000;

/** Tests of schedules, policies and routing rules. */
export function describeSettings(harness: () => StorageHarness): void {
  describe("changed rules", () => {
    test("a changed rule is published after the commit and not before", async () => {
      const { pubsub, storage } = harness();
      const [policy, rule] = [aPolicy(), aRoutingRule()];
      const changes: readonly [string, (stores: Storage) => Promise<unknown>][] = [
        ["policies", ({ policies }) => policies.add(policy)],
        ["policies", ({ policies }) => policies.replace({ ...policy, priority: 5 })],
        ["policies", ({ policies }) => policies.remove(policy.teamId, policy.id)],
        ["routing-rules", ({ routingRules }) => routingRules.add(rule)],
        ["routing-rules", ({ routingRules }) => routingRules.replace({ ...rule, priority: 5 })],
        ["routing-rules", ({ routingRules }) => routingRules.remove(rule.teamId, rule.id)],
      ];

      for (const [channel, change] of changes) {
        pubsub.length = 0;
        const before = await storage.atomically(async (stores) => {
          await change(stores);
          return [...pubsub];
        });
        expect([before, pubsub]).toEqual([[], [channel]]);
      }
    });

    test("changing a rule that does not exist publishes nothing", async () => {
      const { pubsub, storage } = harness();
      pubsub.length = 0;

      await storage.policies.replace(aPolicy());
      await storage.routingRules.remove(FIRST_TEAM, randomUUID());

      expect(pubsub).toEqual([]);
    });
  });

  describe("a schedule", () => {
    test("a schedule is returned with whether it is due", async () => {
      const { dueSchedules } = harness().storage;
      const paused = await aStoredSchedule(harness());
      const due = await aStoredSchedule(harness(), { nextRunAt: fromNow(-DAY_MS), lastSpawnError: "no" });
      const later = await aStoredSchedule(harness(), { nextRunAt: fromNow(DAY_MS), lastRanAt: fromNow(0) });

      expect(await dueSchedules.lock(paused.id)).toMatchObject({ schedule: paused, isDue: false });
      expect(await dueSchedules.lock(due.id)).toMatchObject({ schedule: due, isDue: true });
      expect(await dueSchedules.lock(later.id)).toMatchObject({ schedule: later, isDue: false });
      expect(await dueSchedules.lock(randomUUID())).toBeUndefined();
    });

    test("a schedule is listed as due while its due time has passed", async () => {
      const { dueSchedules, schedules } = harness().storage;
      const due = await aStoredSchedule(harness(), { nextRunAt: fromNow(-DAY_MS) });
      const later = await aStoredSchedule(harness(), { nextRunAt: fromNow(DAY_MS) });

      const before = await dueSchedules.list(100);
      await schedules.replace({ ...due, nextRunAt: fromNow(DAY_MS) });

      expect(before).toContain(due.id);
      expect(before).not.toContain(later.id);
      expect(await dueSchedules.list(100)).not.toContain(due.id);
    });

    test("a schedule is locked until the transaction that reads it ends", async () => {
      const { storage } = harness();
      const { id } = await aStoredSchedule(harness(), { nextRunAt: fromNow(-DAY_MS) });
      const fire = () =>
        storage.atomically(async (stores) => {
          const due = await stores.dueSchedules.lock(id);
          if (due?.isDue) {
            await stores.schedules.replace({ ...due.schedule, nextRunAt: fromNow(DAY_MS) });
          }
          return due?.isDue;
        });

      const fired = await Promise.all([fire(), fire(), fire()]);

      expect(fired.toSorted()).toEqual([false, false, true]);
    });

    test("the job of a schedule is sent for its due time, at once if that has passed", async () => {
      const { dueSchedules } = harness().storage;
      const [late, soon] = [randomUUID(), randomUUID()];
      await dueSchedules.enqueue(late, fromNow(-DAY_MS));
      await dueSchedules.enqueue(soon, fromNow(DAY_MS));

      const jobs = harness().jobs.filter(({ kind }) => kind === "schedule");
      expect(jobs.find(({ key }) => key === late)).toMatchObject({ afterMs: 0 });
      expect(Math.abs((jobs.find(({ key }) => key === soon)?.afterMs ?? 0) - DAY_MS)).toBeLessThan(
        DAY_MS / 4,
      );
    });
  });

  function fromNow(ms: number): Date {
    return new Date(harness().clock.now().getTime() + ms);
  }
}

async function aStoredSchedule(harness: StorageHarness, changes: Partial<Schedule> = {}): Promise<Schedule> {
  const schedule = aSchedule(changes);
  await harness.storage.schedules.add(schedule);
  return schedule;
}
