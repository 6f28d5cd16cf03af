import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../../src/core/basics/ids.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import { administratorsCheck, suspendedPeopleCheck } from "../../../../src/core/upkeep/people-checks.ts";
import { PeopleHarness } from "../team/people/people-harness.ts";

let harness: PeopleHarness;
let other: TeamId;
beforeEach(async () => {
  harness = new PeopleHarness();
  other = await harness.team();
  await harness.principal({ administrator: true });
});

async function addSchedule({ id: creatorId, teamId }: Principal, id: string, enabled = true): Promise<void> {
  const now = harness.clock.now();
  const what = { name: `name of ${id}`, cron: "0 0 * * *", enabled, prompt: "x", config: {}, metadata: {} };
  const whose = { teamId, ownerId: creatorId, teamOwned: false, creatorId, lastEditorId: creatorId };
  await harness.storage.schedules.add({ id, ...what, ...whose, createdAt: now, updatedAt: now });
}

describe("the check of administrators", () => {
  test("a team with members and no enabled administrator is named, with who can appoint one", async () => {
    const check = administratorsCheck(harness.storage);
    const empty = await check.run();
    await harness.principal({ teamId: other });
    await harness.principal({ teamId: other, administrator: true, disabled: true });
    const without = await check.run();
    await harness.principal({ teamId: other, administrator: true });

    expect([empty.status, without.status, (await check.run()).status]).toEqual(["ok", "warn", "ok"]);
    expect(without.message).toContain(other);
    expect(without.remedy).toMatch(/operator.*server's own key/);
  });
});

describe("the check of suspended people", () => {
  test("schedules that wait are named, and those of other teams only by their ids", async () => {
    const check = suspendedPeopleCheck(harness.storage);
    const none = await check.run();
    const away = { disabled: true, suspendedAt: harness.clock.now() };
    const [ann, ben] = [await harness.principal(away), await harness.principal({ ...away, teamId: other })];
    const byHand = await harness.principal({ disabled: true });
    const people = await check.run();
    await addSchedule(ann, "s1");
    await addSchedule(ann, "s2", false);
    await addSchedule(ben, "s3");
    await addSchedule(byHand, "s4");

    const waiting = await check.run();

    expect([none, people, waiting].map(({ status }) => status)).toEqual(["ok", "ok", "warn"]);
    expect(waiting.message).toMatch(/: 2\. .*“name of s1”, “s3”\.$/);
    expect(FIRST_TEAM).not.toBe(other);
  });
});
