import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../../src/core/basics/ids.ts";
import type { Viewer } from "../../../src/core/model/people/principal.ts";
import type { RunDefinition, RunProgress } from "../../../src/core/model/runs/run.ts";
import type { UsageGroup } from "../../../src/core/model/usage/usage.ts";
import { aChange, anOrigin, aPrincipal, aRun } from "../../support/run-builders.ts";
import { aTeam, type StorageHarness } from "./harness.ts";

const FROM = new Date("2026-03-01T00:00:00Z");
const UNTIL = new Date("2026-03-03T00:00:00Z");
const EVENING = new Date("2026-03-01T23:59:59.999Z");
const MORNING = new Date("2026-03-02T00:00:00Z");

export function describeRunReports(harness: () => StorageHarness): void {
  describe("reports of runs", () => {
    let fixture: Fixture;
    beforeAll(async () => {
      fixture = await aFixture(harness());
    });

    test("the report has the newest run of each environment and the time of its last start", async () => {
      const { ada, environment } = fixture;

      const last = await harness().storage.reports.lastRuns(ada, [environment, "never used"]);

      expect([...last.keys()]).toEqual([environment]);
      expect(last.get(environment)?.created.title).toBe("adas second");
      expect(last.get(environment)?.startedAt).toEqual(EVENING);
    });

    test("reports leave out runs that the viewer may not see", async () => {
      const { bob, environment, stranger } = fixture;
      const { reports } = harness().storage;

      const bobs = await reports.lastRuns(bob, [environment]);

      expect(bobs.get(environment)?.created.title).toBe("bobs");
      expect(bobs.get(environment)).not.toHaveProperty("startedAt");
      expect((await reports.lastRuns(stranger, [environment])).size).toBe(0);
      expect(await usage(harness(), stranger, ["day"])).toEqual([]);
    });

    test("usage of runs is summed by day", async () => {
      expect(await usage(harness(), fixture.admin, ["day"])).toEqual([
        {
          day: "2026-03-01",
          runs: 2,
          succeeded: 1,
          failed: 0,
          successRate: 1,
          medianSecondsToResult: 90,
          p95SecondsToResult: 90,
          runSeconds: 90,
          totalTokens: 700,
          costUsd: 0.25,
        },
        {
          day: "2026-03-02",
          runs: 2,
          succeeded: 0,
          failed: 1,
          successRate: 0,
          runSeconds: 0,
          totalTokens: 0,
          costUsd: 0,
        },
      ]);
    });

    test("usage is grouped by all requested members, with a group of runs without an environment", async () => {
      const { ada, bob, environment } = fixture;

      const rows = await usage(harness(), fixture.admin, ["creator", "environment", "source"]);

      const told = rows.map(({ creatorId, environmentId, source, runs }) => [
        creatorId,
        environmentId,
        source,
        runs,
      ]);
      expect(new Set(told)).toEqual(
        new Set([
          [ada.id, environment, "API", 2],
          [bob.id, environment, "API", 1],
          [bob.id, undefined, "SLACK", 1],
        ]),
      );
    });

    test("usage is grouped by repository, agent and model, with the time to the result", async () => {
      const teamId = await aTeam(harness());
      const viewer = { ...aPrincipal({ teamId }), administrator: true };
      await harness().storage.people.put(viewer);
      const base = { teamId, creatorId: viewer.id, createdAt: FROM };
      const ended = (seconds: number) => ({
        state: "SUCCEEDED" as const,
        startedAt: FROM,
        endedAt: new Date(FROM.getTime() + seconds * 1_000),
      });
      const acme = { config: { repository: "Acme/Web", model_id: "m-1" }, modelId: "m-1" };
      await addRun(harness(), { ...base, ...acme, agent: "codex" }, ended(10));
      await addRun(harness(), { ...base, ...acme, agent: "codex" }, ended(20));
      await addRun(harness(), { ...base, ...acme, agent: "codex" }, ended(40));
      await addRun(harness(), { ...base, ...acme, agent: "codex" }, { state: "FAILED" });
      await addRun(harness(), { ...base, ...acme, agent: "codex" }, { state: "QUEUED" });
      await addRun(harness(), { ...base, ...acme, agent: "codex", preparesOnly: true }, { state: "FAILED" });
      await addRun(harness(), { ...base, agent: "demo", config: { harness: { model_id: "m-2" } } }, {});

      const rows = await usage(harness(), viewer, ["repository", "agent", "model"]);

      const codex = rows.find(({ agent }) => agent === "codex");
      const demo = rows.find(({ agent }) => agent === "demo");
      expect(rows).toHaveLength(2);
      expect(codex).toMatchObject({
        ...{ repository: "acme/web", agent: "codex", model: "m-1", runs: 5, succeeded: 3, failed: 1 },
        ...{ successRate: 0.75, medianSecondsToResult: 20 },
      });
      expect(codex?.p95SecondsToResult).toBeCloseTo(38);
      expect(demo).toMatchObject({ agent: "demo", model: "m-2", runs: 1 });
      for (const member of ["repository", "successRate", "medianSecondsToResult", "p95SecondsToResult"]) {
        expect(demo).not.toHaveProperty(member);
      }
    });

    test("a run that has not ended counts the time since its start", async () => {
      const teamId = await aTeam(harness());
      const viewer = { ...aPrincipal({ teamId }), administrator: true };
      await harness().storage.people.put(viewer);
      const minuteAgo = new Date((await harness().storage.now()).getTime() - 60_000);
      const base = { teamId, creatorId: viewer.id, createdAt: FROM };
      await addRun(harness(), base, { state: "INPROGRESS", startedAt: minuteAgo });

      const [row] = await usage(harness(), viewer, ["day"]);

      expect(row?.runSeconds).toBeGreaterThanOrEqual(60);
      expect(row?.runSeconds).toBeLessThan(600);
    });

    test("a report for a member counts only visible runs", async () => {
      const rows = await usage(harness(), fixture.bob, ["day"]);

      expect(rows.map(({ day, runs }) => [day, runs])).toEqual([
        ["2026-03-01", 1],
        ["2026-03-02", 1],
      ]);
    });

    test("a report has at most as many rows as requested", async () => {
      expect(await usage(harness(), fixture.admin, ["day"], 1)).toHaveLength(1);
    });
  });
}

interface Fixture {
  readonly environment: string;
  readonly ada: Viewer;
  readonly bob: Viewer;
  readonly admin: Viewer;
  readonly stranger: Viewer;
}

/**
 * Two runs that only Ada and administrators see, one run of Bob that the team sees, and some that none of them sees.
 */
async function aFixture(harness: StorageHarness): Promise<Fixture> {
  const [teamId, otherTeam] = [await aTeam(harness), await aTeam(harness)];
  const [ada, bob, admin] = ["Ada", "Bob", "Root"].map(() => aPrincipal({ teamId }));
  const stranger = aPrincipal({ teamId: otherTeam });
  if (ada === undefined || bob === undefined || admin === undefined) {
    throw new Error("There is nobody.");
  }
  for (const person of [ada, bob, admin, stranger]) {
    await harness.storage.people.put(person);
  }
  const environment = randomUUID();
  const inIt = { config: { environment_id: environment } };
  const ended = { startedAt: EVENING, endedAt: MORNING_AND_90_S, totalTokens: 700, costUsd: 0.25 };
  const add = (origin: Partial<RunDefinition>, progress: Partial<RunProgress> = {}) =>
    addRun(harness, origin, progress);
  const adas = { teamId, creatorId: ada.id, teamOwned: false, ...inIt };
  await add({ ...adas, title: "adas first", createdAt: EVENING }, { state: "SUCCEEDED", ...ended });
  await add({ ...adas, title: "adas second", createdAt: MORNING }, { state: "ERROR" });
  await add({ teamId, creatorId: bob.id, title: "bobs", createdAt: FROM, ...inIt });
  await add({ teamId, creatorId: bob.id, createdAt: MORNING, source: "SLACK", teamOwned: false });
  await add({ teamId, creatorId: bob.id, createdAt: UNTIL });
  return { environment, ada, bob, admin: { ...admin, administrator: true }, stranger };
}

const MORNING_AND_90_S = new Date(EVENING.getTime() + 90_000);

async function addRun(
  harness: StorageHarness,
  origin: Partial<RunDefinition>,
  progress: Partial<RunProgress>,
): Promise<RunId> {
  const made = anOrigin(origin);
  await harness.storage.runs.create(made, aChange(aRun({ ...made, ...progress })));
  return made.id;
}

function usage({ storage }: StorageHarness, viewer: Viewer, groups: readonly UsageGroup[], limit = 100) {
  return storage.reports.usage({ viewer, from: FROM, until: UNTIL, groups, limit });
}
