import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LeaseToken, PrincipalId, RunId, TeamId } from "../../../src/core/basics/ids.ts";
import { QUEUE_CLASSES } from "../../../src/core/model/runs/queue-class.ts";
import type { RunDefinition, RunProgress } from "../../../src/core/model/runs/run.ts";
import type { RunState } from "../../../src/core/model/runs/states.ts";
import type { WantedClaim } from "../../../src/core/ports/stores/claim-store.ts";
import { aChange, anOrigin, aRun } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, aTeam, type OpenStorage, type StorageHarness } from "./harness.ts";

const ANY: WantedClaim = { host: undefined, disk: undefined, except: [] };
const RESERVED_MS = 6_000;
const IDLE_MS = 20_000;
const LATER_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Shorter than all limits above, because the clock of the test is ahead of the database's by it. */
const STEP_MS = 1;

/** Each test has a storage of its own, because all teams with waiting runs compete. */
export function describeClaims(open: OpenStorage): void {
  describe("claims", () => {
    let harness: StorageHarness;
    beforeEach(async () => {
      harness = await open();
    });
    afterEach(() => harness.close());

    test("the run that was queued first is reserved first, once, until it is claimed or released", async () => {
      const teamId = await aTeam(harness);
      const [first, second] = [await aWaitingRun({ teamId }), await aWaitingRun({ teamId })];
      await aRunAtWork(teamId);

      expect(await next()).toBe(first);
      expect(await next()).toBe(second);
      expect(await next()).toBeUndefined();
      await harness.storage.claims.release(first);
      expect(await next()).toBe(first);
      await claim(first);
      await harness.passTime(RESERVED_MS);
      expect(await next()).toBe(second);
    });

    test("a run that ends leaves the queue, and a run whose worker was lost returns to it", async () => {
      const teamId = await aTeam(harness);
      const [ended, lost] = [await aWaitingRun({ teamId }), await aWaitingRun({ teamId })];
      await change(ended, "CANCELLED");

      expect(await next()).toBe(lost);
      await claim(lost);
      expect(await next()).toBeUndefined();
      await harness.storage.runs.change(lost, ({ run }) =>
        aChange({ ...run, state: "QUEUED" }, { lease: null }),
      );

      expect(await next()).toBe(lost);
    });

    test("runs that the worker cannot claim yet are left out, and hold back no other run", async () => {
      const teamId = await aTeam(harness);
      const [first, second] = [await aWaitingRun({ teamId }), await aWaitingRun({ teamId })];

      expect(await next({ except: [first] })).toBe(second);
      expect(await next({ except: [first] })).toBeUndefined();
    });

    test("a run that starts later waits, and holds back no other run", async () => {
      const teamId = await aTeam(harness);
      const startAfter = new Date(harness.clock.now().getTime() + LATER_MS);
      const later = await aWaitingRun({ teamId }, { startAfter });
      const now = await aWaitingRun({ teamId });

      expect(await next()).toBe(now);
      expect(await next()).toBeUndefined();
      await harness.passTime(2 * LATER_MS);
      await harness.storage.claims.release(now);
      expect([await next(), await next()].toSorted()).toEqual([later, now].toSorted());
    });

    test("runs are taken only by workers that they ask for", async () => {
      const teamId = await aTeam(harness);
      const named = await aWaitingRun({ teamId, config: { worker_host: "box" } });
      const plain = await aWaitingRun({ teamId });

      expect(await next()).toBe(plain);
      expect(await next({ host: "other" })).toBeUndefined();
      expect(await next({ host: "box" })).toBe(named);
    });

    test("a run is left to the free worker that has its files, for a while", async () => {
      const teamId = await aTeam(harness);
      const beat = (slots: number) =>
        harness.storage.workers.beat({
          id: "w",
          disk: "d",
          slots,
          sandbox: { name: "local", isolated: false },
        });
      await beat(1);
      const withFiles = await aWaitingRun({ teamId }, { disk: "d" });
      const other = await aWaitingRun({ teamId });

      expect(await next({ disk: "mine" })).toBe(other);
      expect(await next({ disk: "mine" })).toBeUndefined();
      expect(await next({ disk: "d" })).toBe(withFiles);
      await harness.storage.claims.release(withFiles);
      await harness.storage.workers.remove("w");
      expect(await next({ disk: "mine" })).toBe(withFiles);
      await harness.storage.claims.release(withFiles);
      await beat(1);
      await aRunAtWork(teamId, "INPROGRESS", "w");
      expect(await next({ disk: "mine" })).toBe(withFiles);
    });

    test("a run is held for the worker that pulls its image, for a while", async () => {
      const teamId = await aTeam(harness);
      const runId = await aWaitingRun({ teamId });
      await harness.storage.workers.beat({
        ...{ id: "w", disk: "d", slots: 1, sandbox: { name: "local", isolated: false } },
      });
      await next();
      await harness.storage.claims.release(runId, { disk: "d", ms: 20_000 });

      expect(await next({ disk: "mine" })).toBeUndefined();
      expect(await next({ disk: "d" })).toBe(runId);
      await harness.storage.claims.release(runId);
      await harness.passTime(20_000);
      expect(await next({ disk: "mine" })).toBe(runId);
    });

    test("the team with the fewest runs at work comes first; runs that wait for a person or a follow-up do not count", async () => {
      const [busy, idle] = [await aTeam(harness), await aTeam(harness)];
      await aRunAtWork(busy);
      const ofBusy = await aWaitingRun({ teamId: busy });
      const ofIdle = await aWaitingRun({ teamId: idle });
      await aRunAtWork(idle, "BLOCKED");
      const kept = await aRunAtWork(idle);
      await harness.storage.runs.change(kept, ({ run }) =>
        aChange({ ...run, state: "FAILED", debugUntil: new Date(harness.clock.now().getTime() + LATER_MS) }),
      );

      expect(await next()).toBe(ofIdle);
      expect(await next()).toBe(ofBusy);
    });

    test("a team alone gets all slots, and the next free one is that of a team that comes", async () => {
      const [large, small] = [await aTeam(harness), await aTeam(harness)];
      await waitingRuns(large, 12);
      const alone = await claimMany(8);
      expect(alone).toEqual(Array(8).fill(large));

      await waitingRuns(small, 1);

      expect(await claimMany(1)).toEqual([small]);
    });

    test("with fewer slots than teams, each team gets a slot in turn, however long its queue is", async () => {
      const teams = await Promise.all(Array.from({ length: 5 }, () => aTeam(harness)));
      for (const [index, teamId] of teams.entries()) {
        await waitingRuns(teamId, index === 0 ? 12 : 4);
      }

      const served: TeamId[] = [];
      for (let turn = 0; turn < 15; turn += 1) {
        const [id, teamId] = await claimNext();
        served.push(teamId);
        await end(id);
      }

      expect(new Set(served.slice(0, 5))).toEqual(new Set(teams));
      expect(served.slice(5, 10)).toEqual(served.slice(0, 5));
      expect(served.slice(10)).toEqual(served.slice(0, 5));
    });

    test("a team that was idle is first among equals and has no other credit", async () => {
      const [steady, idle] = [await aTeam(harness), await aTeam(harness)];
      await waitingRuns(steady, 8);
      for (const [id] of [await claimNext(), await claimNext(), await claimNext()]) {
        await end(id);
      }
      await waitingRuns(idle, 4);

      expect(await claimMany(4)).toEqual([idle, steady, idle, steady]);
    });

    test("concurrent claims choose different runs, and share the slots among the teams", async () => {
      const [large, small] = [await aTeam(harness), await aTeam(harness)];
      await waitingRuns(large, 12);
      await waitingRuns(small, 6);

      const ids = await Promise.all(Array.from({ length: 8 }, () => next()));

      expect(new Set(ids).size).toBe(8);
      const teams = await Promise.all(ids.map((id) => teamOf(id)));
      expect(teams.filter((teamId) => teamId === small)).toHaveLength(4);
    });

    test("within a team a person who waits comes before the API, and both before a batch", async () => {
      const teamId = await aTeam(harness);
      const batch = await aWaitingRun({ teamId, queueClass: QUEUE_CLASSES.batch });
      const api = await aWaitingRun({ teamId });
      const person = await aWaitingRun({ teamId, queueClass: QUEUE_CLASSES.person });

      expect([await next(), await next(), await next()]).toEqual([person, api, batch]);
    });

    test("a batch run that has waited for an hour comes before younger runs of the API, and after persons", async () => {
      const teamId = await aTeam(harness);
      const batch = await aWaitingRun({ teamId, queueClass: QUEUE_CLASSES.batch });
      await harness.passTime(HOUR_MS + LATER_MS);
      const api = await aWaitingRun({ teamId });
      const person = await aWaitingRun({ teamId, queueClass: QUEUE_CLASSES.person });

      expect([await next(), await next(), await next()]).toEqual([person, batch, api]);
    });

    test("within a team a higher priority comes first, and within it the class", async () => {
      const teamId = await aTeam(harness);
      const { id: creatorId } = await aPerson(harness);
      const { batch, person } = QUEUE_CLASSES;
      const low = await aWaitingRun({ creatorId, teamId, config: { priority: "low" }, queueClass: person });
      const lowBatch = await aWaitingRun({
        creatorId,
        teamId,
        config: { priority: "low" },
        queueClass: batch,
      });
      const normal = await aWaitingRun({ creatorId, teamId });
      const named = await aWaitingRun({ creatorId, teamId, config: { priority: "normal" } });
      const high = await aWaitingRun({ creatorId, teamId, config: { priority: "high" }, queueClass: batch });

      const order = [high, normal, named, low, lowBatch];
      const positions = await Promise.all(order.map((id) => harness.storage.claims.positionOf(id)));

      expect(positions).toEqual([1, 2, 3, 4, 5]);
      expect([await next(), await next(), await next(), await next(), await next()]).toEqual(order);
    });

    test("a run of low priority that has waited for an hour counts as normal, and never as high", async () => {
      const teamId = await aTeam(harness);
      const low = await aWaitingRun({ teamId, config: { priority: "low" } });
      await harness.passTime(HOUR_MS + LATER_MS);
      const normal = await aWaitingRun({ teamId });
      const high = await aWaitingRun({ teamId, config: { priority: "high" } });

      expect([await next(), await next(), await next()]).toEqual([high, low, normal]);
    });

    test("a run that is queued again keeps its priority", async () => {
      const teamId = await aTeam(harness);
      const high = await aWaitingRun({ teamId, config: { priority: "high" } });
      const low = await aWaitingRun({ teamId, config: { priority: "low" } });
      await claimMany(2);
      const normal = await aWaitingRun({ teamId });
      for (const id of [low, high]) {
        await harness.clock.advance(STEP_MS);
        const stateSince = harness.clock.now();
        await harness.storage.runs.change(id, ({ run }) =>
          aChange({ ...run, state: "QUEUED", stateSince }, { lease: null }),
        );
      }

      expect([await next(), await next(), await next()]).toEqual([high, normal, low]);
    });

    test("a high priority takes no slot from another team", async () => {
      const [loud, calm] = [await aTeam(harness), await aTeam(harness)];
      for (let count = 0; count < 4; count += 1) {
        await aWaitingRun({ teamId: loud, config: { priority: "high" } });
      }
      await waitingRuns(calm, 2);

      expect(new Set(await claimMany(2))).toEqual(new Set([loud, calm]));
      expect(new Set(await claimMany(2))).toEqual(new Set([loud, calm]));
    });

    test("members of a team share its slots, however many runs one of them has", async () => {
      const teamId = await aTeam(harness);
      const [many, few] = [await aPerson(harness), await aPerson(harness)];
      await waitingRuns(teamId, 6, many.id);
      await waitingRuns(teamId, 2, few.id);

      const creators: string[] = [];
      for (let count = 0; count < 6; count += 1) {
        const id = await next();
        creators.push((await harness.storage.runs.find({ id: id as RunId }))?.creatorId ?? "");
      }

      expect(creators.filter((id) => id === few.id)).toHaveLength(2);
      expect(new Set(creators.slice(0, 2))).toEqual(new Set([many.id, few.id]));
      expect(new Set(creators.slice(2, 4))).toEqual(new Set([many.id, few.id]));
    });

    test("a team at its quota is left out until a run has left its slot", async () => {
      const [full, other] = [await aTeam(harness), await aTeam(harness)];
      await limit(full, 2);
      await aRunAtWork(full);
      const last = await aRunAtWork(full);
      const waiting = await aWaitingRun({ teamId: full });
      const { claims, quotas } = harness.storage;

      expect(await next()).toBeUndefined();
      expect(await claims.listTeamsAtQuota()).toEqual([full]);
      const ofOther = await aWaitingRun({ teamId: other });
      expect(await next()).toBe(ofOther);
      expect(await quotas.list(full, { at: new Date() })).toMatchObject([{ name: "running_runs", used: 2 }]);

      await change(last, "BLOCKED");
      expect(await claims.listTeamsAtQuota()).toEqual([]);
      expect(await quotas.list(full, { at: new Date() })).toMatchObject([{ used: 1 }]);
      expect(await claims.reserveNext(ANY)).toEqual({ id: waiting, runningMax: 2 });
    });

    test("the runs that wait are counted by the worker that they ask for, without those of teams at their quota", async () => {
      const [full, other] = [await aTeam(harness), await aTeam(harness)];
      await limit(full, 1);
      await aRunAtWork(full);
      await waitingRuns(full, 2);
      await waitingRuns(other, 3);
      await aWaitingRun({ teamId: other, config: { worker_host: "big" } });

      expect(await harness.storage.claims.countWaiting()).toEqual(
        new Map([
          ["", 3],
          ["big", 1],
        ]),
      );
    });

    test("the place of a run is counted among the waiting runs of its creator that ask for the same worker", async () => {
      const teamId = await aTeam(harness);
      const { id: creatorId } = await aPerson(harness);
      const [first, second] = [
        await aWaitingRun({ creatorId, teamId }),
        await aWaitingRun({ creatorId, teamId }),
      ];
      const elsewhere = await aWaitingRun({ creatorId, teamId, config: { worker_host: "big" } });
      const others = await aWaitingRun({ teamId });
      const urgent = await aWaitingRun({ creatorId, teamId, queueClass: QUEUE_CLASSES.person });
      const { claims } = harness.storage;

      const positions = await Promise.all(
        [urgent, first, second, elsewhere, others].map((id) => claims.positionOf(id)),
      );

      expect(positions).toEqual([1, 2, 3, 1, 1]);
      await change(first, "CANCELLED");
      expect(await claims.positionOf(first)).toBeUndefined();
      expect(await claims.positionOf(second)).toBe(2);
    });

    test("a worker that may claim nothing learns whether runs wait", async () => {
      const teamId = await aTeam(harness);
      const { claims } = harness.storage;
      expect(await claims.reserveNext(ANY)).toBe("empty");

      const id = await aWaitingRun({ teamId, config: { worker_host: "big" } });

      expect(await claims.reserveNext(ANY)).toBe("later");
      expect(await claims.reserveNext({ ...ANY, host: "big" })).toMatchObject({ id });
      expect(await claims.reserveNext({ ...ANY, host: "big" })).toBe("later");
      await change(id, "CANCELLED");
      expect(await claims.reserveNext(ANY)).toBe("empty");
    });

    test("reserved runs count for the quota", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 2);
      await waitingRuns(teamId, 4);

      expect([await next(), await next(), await next()].map((id) => id === undefined)).toEqual([
        false,
        false,
        true,
      ]);
    });

    test("a run whose lease has expired keeps its slot until it is recovered, because its worker may live", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 1);
      const atWork = await aRunAtWork(teamId);
      await aWaitingRun({ teamId });
      await harness.passTime(IDLE_MS);

      expect(await next()).toBeUndefined();
      await harness.storage.runs.change(atWork, ({ run }) =>
        aChange({ ...run, state: "QUEUED" }, { lease: null }),
      );

      expect(await next()).toBeDefined();
    });

    test("a quota of none holds back all runs of its team, and runs are created all the same", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 0);
      const waiting = await aWaitingRun({ teamId });

      expect(await next()).toBeUndefined();
      await limit(teamId);
      expect(await next()).toBe(waiting);
    });

    test("concurrent claims never exceed the quota, and a refused claim stores nothing", async () => {
      const teamId = await aTeam(harness);
      await limit(teamId, 3);
      const waiting = await Promise.all(Array.from({ length: 12 }, () => aWaitingRun({ teamId })));

      const results = await Promise.allSettled(waiting.map((id) => claim(id, 3)));

      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      for (const result of results) {
        expect(result.status === "rejected" ? result.reason.name : "TeamAtQuota").toBe("TeamAtQuota");
      }
      const runs = await Promise.all(waiting.map((id) => harness.storage.runs.find({ id })));
      expect(runs.filter((run) => run?.lease !== undefined)).toHaveLength(3);
      expect(runs.filter((run) => run?.state === "QUEUED" && run.lastSeq === 1)).toHaveLength(9);
    });

    async function next(claim: Partial<WantedClaim> = {}): Promise<RunId | undefined> {
      const next = await harness.storage.claims.reserveNext({ ...ANY, ...claim });
      return typeof next === "string" ? undefined : next.id;
    }

    async function claimNext(): Promise<readonly [RunId, TeamId]> {
      const id = (await next()) as RunId;
      await claim(id);
      return [id, await teamOf(id)];
    }

    async function claimMany(count: number): Promise<readonly TeamId[]> {
      const teams: TeamId[] = [];
      for (let claims = 0; claims < count; claims += 1) {
        teams.push((await claimNext())[1]);
      }
      return teams;
    }

    async function teamOf(id: RunId | undefined): Promise<TeamId> {
      const run = await harness.storage.runs.find({ id: id as RunId });
      return run?.teamId as TeamId;
    }

    async function waitingRuns(teamId: TeamId, count: number, creatorId?: PrincipalId): Promise<void> {
      const ofTeam = creatorId ?? (await aPerson(harness)).id;
      for (let index = 0; index < count; index += 1) {
        await aWaitingRun({ teamId, creatorId: ofTeam });
      }
    }

    /** Each is queued a moment after the one before. */
    async function aWaitingRun(
      origin: Partial<RunDefinition>,
      progress: Partial<RunProgress> = {},
    ): Promise<RunId> {
      await harness.clock.advance(STEP_MS);
      const creatorId = origin.creatorId ?? (await aPerson(harness)).id;
      const run = aRun(anOrigin({ createdAt: harness.clock.now(), ...origin, creatorId }));
      const stateSince = harness.clock.now();
      const { id } = await aStoredRun(harness, run, { progress: { ...run, stateSince, ...progress } });
      return id;
    }

    async function aRunAtWork(teamId: TeamId, state: RunState = "INPROGRESS", worker = "w0"): Promise<RunId> {
      const { id } = await aStoredRun(harness, { teamId });
      await claim(id, undefined, worker);
      await change(id, state);
      return id;
    }

    async function claim(id: RunId, runningMax?: number, worker = "w0"): Promise<void> {
      const lease = { token: randomUUID() as LeaseToken, worker, ttlMs: 60_000, runningMax };
      await harness.storage.runs.change(id, ({ run }) =>
        aChange(run, { lease, progress: { ...run, state: "PENDING" } }),
      );
    }

    async function end(id: RunId): Promise<void> {
      await harness.storage.runs.change(id, ({ run }) =>
        aChange({ ...run, state: "SUCCEEDED" }, { lease: null }),
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
