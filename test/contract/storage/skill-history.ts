import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { aPerson, aStoredRun, aTeam, type StorageBench } from "./bench.ts";

export function describeSkillHistory(bench: () => StorageBench): void {
  describe("the history of skills", () => {
    const times = [
      "2026-03-01T10:00:00.000Z",
      "2026-03-02T10:00:00.000Z",
      "2026-03-03T10:00:00.000Z",
    ] as const;
    const [early, late, latest] = times.map((time) => new Date(time)) as [Date, Date, Date];

    it("knows when the newest run of each skill was created, and nothing of other skills", async () => {
      const ada = await aPerson(bench());
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      await aStoredRun(bench(), { skill: one, createdAt: late });
      await aStoredRun(bench(), { skill: one, createdAt: early });
      await aStoredRun(bench(), { skill: two, createdAt: early });
      await aStoredRun(bench(), { skill: three, createdAt: early });

      const found = await bench().storage.skillHistory.lastRuns(ada, [one, two, "never used"]);

      expect(found).toEqual(
        new Map([
          [one, late],
          [two, early],
        ]),
      );
      expect(await bench().storage.skillHistory.lastRuns(ada, [])).toEqual(new Map());
    });

    it("knows only of runs that the viewer may see", async () => {
      const [ada, bob] = [await aPerson(bench()), await aPerson(bench())];
      const skill = randomUUID();
      await aStoredRun(bench(), { skill, creatorId: bob.id, createdAt: early });
      await aStoredRun(bench(), { skill, creatorId: bob.id, createdAt: late, teamOwned: false });
      await aStoredRun(bench(), { skill, teamId: await aTeam(bench()), createdAt: latest });

      const lastRuns = [ada, bob, { ...ada, administrator: true }].map((viewer) =>
        bench().storage.skillHistory.lastRuns(viewer, [skill]),
      );

      expect((await Promise.all(lastRuns)).map((found) => found.get(skill))).toEqual([early, late, late]);
    });
  });
}
