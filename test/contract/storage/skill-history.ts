import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { aPerson, aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

export function describeSkillHistory(harness: () => StorageHarness): void {
  describe("the history of skills", () => {
    const times = [
      "2026-03-01T10:00:00.000Z",
      "2026-03-02T10:00:00.000Z",
      "2026-03-03T10:00:00.000Z",
    ] as const;
    const [early, late, latest] = times.map((time) => new Date(time)) as [Date, Date, Date];

    test("the history has the creation time of the newest run of each requested skill", async () => {
      const ada = await aPerson(harness());
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      await aStoredRun(harness(), { skill: one, createdAt: late });
      await aStoredRun(harness(), { skill: one, createdAt: early });
      await aStoredRun(harness(), { skill: two, createdAt: early });
      await aStoredRun(harness(), { skill: three, createdAt: early });

      const found = await harness().storage.skillHistory.lastRuns(ada, [one, two, "never used"]);

      expect(found).toEqual(
        new Map([
          [one, late],
          [two, early],
        ]),
      );
      expect(await harness().storage.skillHistory.lastRuns(ada, [])).toEqual(new Map());
    });

    test("the history covers only runs that the viewer may see", async () => {
      const [ada, bob] = [await aPerson(harness()), await aPerson(harness())];
      const skill = randomUUID();
      await aStoredRun(harness(), { skill, creatorId: bob.id, createdAt: early });
      await aStoredRun(harness(), { skill, creatorId: bob.id, createdAt: late, teamOwned: false });
      await aStoredRun(harness(), { skill, teamId: await aTeam(harness()), createdAt: latest });

      const lastRuns = [ada, bob, { ...ada, administrator: true }].map((viewer) =>
        harness().storage.skillHistory.lastRuns(viewer, [skill]),
      );

      expect((await Promise.all(lastRuns)).map((found) => found.get(skill))).toEqual([early, late, late]);
    });
  });
}
