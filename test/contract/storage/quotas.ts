import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newId, type RunId, type TeamId } from "../../../src/core/basics/ids.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import type { Quota } from "../../../src/core/model/usage/quota.ts";
import { aChange } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

const QUEUED: Quota = { name: "queued_runs", scope: "team", limit: 2 };
const PER_DAY: Quota = { name: "runs_per_day", scope: "team", limit: 2 };
const PER_DAY_AND_KEY: Quota = { name: "runs_per_day", scope: "key", limit: 2 };
const COST: Quota = { name: "cost_usd_per_month", scope: "team", limit: 2 };

/** Late on the last day but one of a month. */
const EVENING = new Date("2026-03-30T23:00:00.000Z");
const NEXT_DAY = new Date("2026-03-31T00:00:00.000Z");
const NEXT_MONTH = new Date("2026-04-01T00:00:00.000Z");

export function describeQuotas(harness: () => StorageHarness): void {
  describe("quotas", () => {
    test("a team has no quotas at first, and gets those that are set last", async () => {
      const { quotas } = harness().storage;
      const teamId = await aTeam(harness());

      expect(await quotas.list(teamId, { at: EVENING })).toEqual([]);
      expect(await quotas.replace(teamId, [QUEUED, COST])).toBe(true);
      expect(await quotas.replace(teamId, [PER_DAY])).toBe(true);
      expect(await quotas.list(teamId, { at: EVENING })).toEqual([{ ...PER_DAY, used: 0 }]);
      expect(await quotas.replace(randomUUID() as TeamId, [PER_DAY])).toBe(false);
    });

    test("a full queue refuses a run until a queued run has begun", async () => {
      const teamId = await aTeamWith(harness(), [QUEUED]);
      const [first] = [await aRunOf(harness(), teamId), await aRunOf(harness(), teamId)];

      await expect(aRunOf(harness(), teamId)).rejects.toMatchObject({
        code: "resource_unavailable",
        retryable: true,
        message: expect.stringContaining("queued_runs of the team is used up: 2 of 2"),
      });
      await harness().storage.runs.change(first.id, ({ run }) =>
        aChange(run, { progress: { ...run, state: "CANCELLED" } }),
      );

      await expect(aRunOf(harness(), teamId)).resolves.toMatchObject({ teamId });
    });

    test("the runs of a day are limited, and the next day begins at midnight", async () => {
      const teamId = await aTeamWith(harness(), [PER_DAY]);
      await aRunOf(harness(), teamId);
      await aRunOf(harness(), teamId);

      await expect(aRunOf(harness(), teamId)).rejects.toMatchObject({
        code: "budget_exceeded",
        message: expect.stringContaining("runs_per_day of the team is used up: 2 of 2"),
      });
      await expect(aRunOf(harness(), teamId, NEXT_DAY)).resolves.toMatchObject({ teamId });
    });

    test("a quota of keys counts the runs of each key", async () => {
      const teamId = await aTeamWith(harness(), [PER_DAY_AND_KEY]);
      const [first, second] = [await aKeyOf(harness()), await aKeyOf(harness())];
      const create = (apiKeyId?: string) => aRunOf(harness(), teamId, EVENING, apiKeyId);
      await create(first);
      const made = await create(first);
      await harness().storage.runs.change(made.id, ({ run }) => aChange(run));

      await expect(create(first)).rejects.toMatchObject({
        code: "budget_exceeded",
        message: expect.stringContaining("runs_per_day of this API key"),
      });
      await create(second);
      await create();

      const used = async (apiKeyId?: string) =>
        (await harness().storage.quotas.list(teamId, { at: EVENING, apiKeyId }))[0]?.used;
      expect([await used(first), await used(second), await used()]).toEqual([2, 1, 0]);
    });

    test("the cost of the month's runs is limited", async () => {
      const teamId = await aTeamWith(harness(), [COST]);
      const spend = async (costUsd: number) => {
        const run = await aRunOf(harness(), teamId);
        await harness().storage.runs.change(run.id, ({ run }) =>
          aChange(run, { progress: { ...run, costUsd } }),
        );
      };
      await spend(1.5);
      await spend(0.5);

      await expect(aRunOf(harness(), teamId, NEXT_DAY)).rejects.toMatchObject({
        code: "budget_exceeded",
        message: expect.stringContaining("cost_usd_per_month of the team is used up: 2.00 of 2 USD"),
      });
      await expect(aRunOf(harness(), teamId, NEXT_MONTH)).resolves.toMatchObject({ teamId });
    });

    test("a deleted run counts for its day, its key and its month", async () => {
      const quotas: readonly Quota[] = [PER_DAY, PER_DAY_AND_KEY, COST, QUEUED];
      const teamId = await aTeamWith(harness(), quotas);
      const apiKeyId = await aKeyOf(harness());
      const { id } = await aRunOf(harness(), teamId, EVENING, apiKeyId);
      await harness().storage.runs.change(id, ({ run }) =>
        aChange(run, { progress: { ...run, state: "CANCELLED", costUsd: 1.5 } }),
      );

      await harness().storage.runs.remove(id, () => undefined);

      const usedAt = async (at: Date) =>
        (await harness().storage.quotas.list(teamId, { at, apiKeyId })).map(({ used }) => used);
      expect(await usedAt(EVENING)).toEqual([1, 1, 1.5, 0]);
      expect(await usedAt(NEXT_DAY)).toEqual([0, 0, 1.5, 0]);
      expect(await usedAt(NEXT_MONTH)).toEqual([0, 0, 0, 0]);
    });

    test("concurrent requests never exceed a quota", async () => {
      const teamId = await aTeamWith(harness(), [{ ...PER_DAY, limit: 5 }]);
      const other = await aTeam(harness());

      const results = await Promise.allSettled(
        Array.from({ length: 20 }, () => [aRunOf(harness(), teamId), aRunOf(harness(), other)]).flat(),
      );

      const made = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.teamId] : []));
      expect(made.filter((id) => id === teamId)).toHaveLength(5);
      expect(made.filter((id) => id === other)).toHaveLength(20);
    });

    test("a refused run leaves nothing behind", async () => {
      const teamId = await aTeamWith(harness(), [{ ...PER_DAY, limit: 0 }]);
      const { id: principalId } = await aPerson(harness());
      const answer = { principalId, key: "k", requestHash: "h", status: 200, body: {} };
      const id = newId<RunId>(EVENING);

      const refused = aStoredRun(harness(), { id, teamId }, { idempotentResponse: answer });

      await expect(refused).rejects.toMatchObject({ code: "budget_exceeded" });
      expect(await harness().storage.idempotentResponses.find(principalId, "k")).toBeUndefined();
      expect(await harness().storage.runs.find({ id })).toBeUndefined();
      expect(await harness().storage.runs.readEvents(id, 0, 1)).toEqual([]);
    });
  });
}

async function aTeamWith(harness: StorageHarness, quotas: readonly Quota[]): Promise<TeamId> {
  const teamId = await aTeam(harness);
  await harness.storage.quotas.replace(teamId, quotas);
  return teamId;
}

function aRunOf(
  harness: StorageHarness,
  teamId: TeamId,
  createdAt = EVENING,
  apiKeyId?: string,
): Promise<Run> {
  return aStoredRun(harness, { teamId, createdAt }, apiKeyId === undefined ? {} : { apiKeyId });
}

async function aKeyOf(harness: StorageHarness): Promise<string> {
  const { id: principalId } = await aPerson(harness);
  const id = randomUUID();
  const about = { name: "x", hint: "", scopes: ["runs:write"], createdAt: new Date(0) } as const;
  await harness.storage.keys.add({ id, principalId, createdBy: principalId, ...about }, randomUUID());
  return id;
}
