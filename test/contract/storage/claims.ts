import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LeaseToken, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import type { RunConfig } from "../../../src/core/model/runs/run.ts";
import type { RunState } from "../../../src/core/model/runs/states.ts";
import type { NextRun } from "../../../src/core/ports/stores/claim-store.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, aTeam, type OpenStorage, type StorageHarness } from "./harness.ts";

const PREFER_MS = 2_000;
const IDLE_MS = 20_000;
const STEP_MS = 1_000;
const MANY = 100;

/** Each test has a storage of its own, because all teams with waiting runs compete. */
export function describeClaims(open: OpenStorage): void {
  describe("claims", () => {
    let harness: StorageHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test("of one team, the run of the job is claimed while it waits, and by workers that it asks for", async () => {
      const teamId = await aTeam(harness);
      await aWaitingRun(teamId);
      const second = await aWaitingRun(teamId);
      const named = await aWaitingRun(teamId, { config: { worker_host: "box" } });
      const atWork = await aRunAtWork(teamId);

      expect(await next(second)).toEqual({ id: second });
      expect(await next(named)).toBeUndefined();
      expect(await next(named, { host: "box" })).toEqual({ id: named });
      expect(await next(atWork)).toBeUndefined();
      expect(await next(randomUUID() as RunId)).toBeUndefined();
    });

    test("runs that the worker cannot claim yet are left out, and hold back no other run", async () => {
      const [busy, idle] = [await aTeam(harness), await aTeam(harness)];
      await aRunAtWork(busy);
      const job = await aWaitingRun(busy);
      const [oldest, second] = [await aWaitingRun(idle), await aWaitingRun(idle)];

      expect(await next(job, { except: [oldest] })).toMatchObject({ id: second, passedOver: { id: job } });
      expect(await next(job, { except: [oldest, second] })).toEqual({ id: job });
      expect(await next(oldest, { except: [oldest] })).toBeUndefined();
    });

    test("the team with the fewest runs at work comes first, with its oldest run, and the run of the job is passed over", async () => {
      const [busy, idle] = [await aTeam(harness), await aTeam(harness)];
      await aRunAtWork(busy);
      const job = await aWaitingRun(busy);
      const oldest = await aWaitingRun(idle);
      await aWaitingRun(idle);

      expect(await next(job)).toMatchObject({ id: oldest, passedOver: { id: job, config: {} } });

      await aRunAtWork(idle, "BLOCKED");
      expect(await next(job)).toMatchObject({ id: oldest });
      await aRunAtWork(idle);
      await aRunAtWork(idle);
      expect(await next(job)).toEqual({ id: job });
    });

    test("teams with equally many runs at work take turns, however long their queues are", async () => {
      const teams = [await aTeam(harness), await aTeam(harness), await aTeam(harness)];
      const [large = "" as TeamId] = teams;
      for (let index = 0; index < 5; index += 1) {
        await aWaitingRun(large);
      }
      for (const teamId of teams.slice(1)) {
        await aWaitingRun(teamId);
        await aWaitingRun(teamId);
      }
      const job = await aWaitingRun(large);

      const served: TeamId[] = [];
      for (let claims = 0; claims < 6; claims += 1) {
        const { id } = (await next(job)) ?? {};
        const run = await harness.storage.runs.find({ id: id as RunId });
        served.push(run?.teamId as TeamId);
      }

      expect(new Set(served.slice(0, 3))).toEqual(new Set(teams));
      expect(served.slice(3)).toEqual(served.slice(0, 3));
    });

    test("a run of another team is taken only by workers that it asks for, and not from the worker with its files", async () => {
      const [busy, idle] = [await aTeam(harness), await aTeam(harness)];
      await aRunAtWork(busy);
      const job = await aWaitingRun(busy);
      await aWaitingRun(idle, { config: { worker_host: "box" } });
      await harness.storage.runs.change(await aWaitingRun(idle), ({ run }) =>
        aChange(run, { progress: { ...run, disk: "other disk", stateSince: harness.clock.now() } }),
      );

      expect(await next(job)).toEqual({ id: job });
      expect(await next(job, { host: "box" })).toMatchObject({ passedOver: { id: job } });
      expect(await next(job, { disk: "other disk" })).toMatchObject({ passedOver: { id: job } });
    });

    test("a team at its quota is left out until a run has left its slot", async () => {
      const [full, other] = [await aTeam(harness), await aTeam(harness)];
      await limit(full, 2);
      await aRunAtWork(full);
      const last = await aRunAtWork(full);
      const job = await aWaitingRun(full);
      const { claims, quotas } = harness.storage;

      expect(await next(job)).toBeUndefined();
      expect(await claims.firstWaiting(full, undefined)).toBeUndefined();
      expect(await claims.listTeamsAtQuota()).toEqual([full]);
      const ofOther = await aWaitingRun(other);
      expect(await next(job)).toEqual({ id: ofOther });
      expect(await next(ofOther)).toEqual({ id: ofOther });
      expect(await quotas.list(full, { at: new Date() })).toMatchObject([{ name: "running_runs", used: 2 }]);

      await change(last, "BLOCKED");
      expect(await claims.listTeamsAtQuota()).toEqual([]);
      expect(await claims.firstWaiting(full, undefined)).toMatchObject({ id: job });
      expect(await quotas.list(full, { at: new Date() })).toMatchObject([{ used: 1 }]);
      await change(ofOther, "CANCELLED");
      expect(await next(job)).toEqual({ id: job, runningMax: 2 });
    });

    test("a run whose lease has expired keeps its slot until it is recovered, because its worker may live", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 1);
      const atWork = await aRunAtWork(teamId);
      const job = await aWaitingRun(teamId);
      await harness.passTime(IDLE_MS);

      expect(await next(job)).toBeUndefined();
      await harness.storage.runs.change(atWork, ({ run }) =>
        aChange({ ...run, state: "QUEUED" }, { lease: null }),
      );

      expect(await next(job)).toMatchObject({ id: job });
    });

    test("a quota of none holds back all runs of its team, and runs are created all the same", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 0);

      expect(await next(await aWaitingRun(teamId))).toBeUndefined();
      await limit(teamId);
      expect(await next(await aWaitingRun(teamId))).toMatchObject({ id: expect.any(String) });
    });

    test("concurrent claims never exceed the quota, and a refused claim stores nothing", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 3);
      const waiting = await Promise.all(Array.from({ length: 12 }, () => aWaitingRun(teamId)));

      const results = await Promise.allSettled(waiting.map((id) => claim(id, 3)));

      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      for (const result of results) {
        expect(result.status === "rejected" ? result.reason.name : "TeamAtQuota").toBe("TeamAtQuota");
      }
      const runs = await Promise.all(waiting.map((id) => harness.storage.runs.find({ id })));
      expect(runs.filter((run) => run?.lease !== undefined)).toHaveLength(3);
      expect(runs.filter((run) => run?.state === "QUEUED" && run.lastSeq === 1)).toHaveLength(9);
    });

    test("the run of a team that was queued first is found for workers that it asks for", async () => {
      const teamId = await aTeam(harness);
      const named = await aWaitingRun(teamId, { config: { worker_host: "box" } });
      const plain = await aWaitingRun(teamId);
      await aWaitingRun(teamId);
      const { claims } = harness.storage;

      expect(await claims.firstWaiting(teamId, undefined)).toMatchObject({ id: plain });
      expect(await claims.firstWaiting(teamId, "box")).toMatchObject({
        id: named,
        config: { worker_host: "box" },
        queuedAt: expect.any(Date),
      });
      expect(await claims.firstWaiting(await aTeam(harness), undefined)).toBeUndefined();
    });

    test("waiting runs of a team at its quota do not count as runs that lack a job", async () => {
      const [full, other] = [await aTeam(harness), await aTeam(harness)];
      await limit(full, 0);
      await aWaitingRun(full);
      const ofOther = await aWaitingRun(other);
      await harness.passTime(IDLE_MS);

      const idle = await harness.storage.leases.listIdle(undefined, MANY);

      expect(idle.map(({ id }) => id)).toEqual([ofOther]);
    });

    function next(
      runId: RunId,
      {
        disk,
        except = [],
        host,
      }: { readonly host?: string; readonly disk?: string; readonly except?: readonly RunId[] } = {},
    ): Promise<NextRun | undefined> {
      return harness.storage.claims.next({ runId, host, disk, except, preferMs: PREFER_MS });
    }

    /** Each is queued a moment after the one before. */
    async function aWaitingRun(
      teamId: TeamId,
      { config = {} }: { readonly config?: RunConfig } = {},
    ): Promise<RunId> {
      await harness.clock.advance(STEP_MS);
      const { id } = await aStoredRun(harness, { teamId, config });
      return id;
    }

    async function aRunAtWork(teamId: TeamId, state: RunState = "INPROGRESS"): Promise<RunId> {
      const { id } = await aStoredRun(harness, { teamId });
      await claim(id);
      await change(id, state);
      return id;
    }

    async function claim(id: RunId, runningMax?: number): Promise<void> {
      const lease = { token: randomUUID() as LeaseToken, worker: "w", ttlMs: 60_000, runningMax };
      await harness.storage.runs.change(id, ({ run }) =>
        aChange(run, { lease, progress: { ...run, state: "PENDING" } }),
      );
    }

    async function change(id: RunId, state: RunState): Promise<void> {
      const stateSince = harness.clock.now();
      await harness.storage.runs.change(id, ({ run }) =>
        aChange(run, { progress: { ...run, state, stateSince } }),
      );
    }

    async function limit(teamId: TeamId, max?: number): Promise<void> {
      const quota = { name: "running_runs", scope: "team" } as const;
      await harness.storage.quotas.replace(teamId, max === undefined ? [] : [{ ...quota, limit: max }]);
    }
  });
}
