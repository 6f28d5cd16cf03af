import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LeaseToken, RunId } from "../../../src/core/basics/ids.ts";
import type { Run } from "../../../src/core/model/runs/run.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

const TTL_MS = 60_000;
const LATER_MS = 61_000;
const MANY = 1_000;

export function describeLeases(harness: () => StorageHarness): void {
  describe("a lease", () => {
    test("a lease is granted with a change, stays during other changes, and can be released", async () => {
      const { storage } = harness();
      const { run, token } = await aLeasedRun(harness());
      expect(run.lease).toEqual({ token, worker: "worker-1" });

      const kept = await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run));
      const free = await storage.runs.change(run.id, (aggregate) => aChange(aggregate.run, { lease: null }));

      expect(kept.lease).toEqual({ token, worker: "worker-1" });
      expect(free).not.toHaveProperty("lease");
      expect(await storage.runs.find({ id: run.id })).toEqual(free);
    });

    test("all leases of a worker are renewed together, each only by its token", async () => {
      const { leases } = harness().storage;
      const [first, second, other] = [
        await aLeasedRun(harness()),
        await aLeasedRun(harness()),
        await aLeasedRun(harness()),
      ];
      await harness().passTime(LATER_MS);

      const renewed = await leases.renew(
        [
          { runId: first.run.id, token: first.token },
          { runId: second.run.id, token: second.token },
          { runId: other.run.id, token: randomUUID() as LeaseToken },
          { runId: randomUUID() as RunId, token: first.token },
        ],
        TTL_MS,
      );

      expect(new Set(renewed.keys())).toEqual(new Set([first.run.id, second.run.id]));
      expect(await isOver(harness(), first.run)).toBe(false);
      expect(await isOver(harness(), other.run)).toBe(true);
    });

    test("a released lease cannot be renewed", async () => {
      const { runs } = harness().storage;
      const { run, token } = await aLeasedRun(harness());
      await runs.change(run.id, (aggregate) => aChange(aggregate.run, { lease: null }));

      expect(await renew(harness(), run, token)).toBe(false);
    });

    test("a lease expires by the clock of the storage", async () => {
      const { run } = await aLeasedRun(harness());
      expect(await isOver(harness(), run)).toBe(false);
      expect(await expiring(harness(), 0)).not.toContain(run.id);
      expect(await expiring(harness(), TTL_MS + 1)).toContain(run.id);

      await harness().passTime(LATER_MS);

      expect(await isOver(harness(), run)).toBe(true);
      expect(await expiring(harness(), 0)).toContain(run.id);
    });

    test("a lease can be renewed, even after its expiry if no other worker has taken the run", async () => {
      const { run, token } = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      expect(await renew(harness(), run, token)).toBe(true);

      expect(await isOver(harness(), run)).toBe(false);
      expect(await expiring(harness(), 0)).not.toContain(run.id);
    });

    test("the recovery of a run stores nothing if its lease has not expired", async () => {
      const { runs } = harness().storage;
      const { run, token } = await aLeasedRun(harness());
      const recovered = () =>
        runs.change(run.id, (aggregate) =>
          aggregate.leaseOver ? aChange(aggregate.run, { lease: null, ifLeaseIsOver: true }) : undefined,
        );
      expect((await recovered()).lease?.token).toBe(token);

      await harness().passTime(LATER_MS);

      expect(await recovered()).not.toHaveProperty("lease");
    });

    test("a renewal returns the version of the run, which changes only with the run", async () => {
      const { leases, runs } = harness().storage;
      const { run, token } = await aLeasedRun(harness());
      const held = [{ runId: run.id, token }];
      const { version } = await runs.getAggregate(run.id);

      expect((await leases.renew(held, TTL_MS)).get(run.id)).toBe(version);
      expect((await leases.renew(held, TTL_MS)).get(run.id)).toBe(version);
      await runs.change(run.id, (aggregate) => aChange(aggregate.run));

      const renewed = (await leases.renew(held, TTL_MS)).get(run.id);
      expect(renewed).not.toBe(version);
      expect(renewed).toBe((await runs.getAggregate(run.id)).version);
    });

    test("a run with a new lease is no longer lost", async () => {
      const { run, token: former } = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      const { token } = await grant(harness(), run);

      expect(await isOver(harness(), run)).toBe(false);
      expect(await renew(harness(), run, former)).toBe(false);
      expect((await harness().storage.runs.find({ id: run.id }))?.lease?.token).toBe(token);
    });

    test("expiring leases are listed longest expired first, with what remains, up to the limit", async () => {
      const { leases } = harness().storage;
      const first = await aLeasedRun(harness());
      await harness().passTime(1_000);
      const second = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      const found = await leases.listExpiring(0, MANY);
      const [lost, later] = [first, second].map(({ run }) =>
        found.findIndex(({ runId }) => runId === run.id),
      );

      expect(lost).toBeLessThan(later ?? 0);
      expect(found[lost ?? 0]?.remainingMs).toBeLessThanOrEqual(TTL_MS - LATER_MS - 1_000);
      expect(await leases.listExpiring(0, 1)).toHaveLength(1);
    });
  });
}

async function aLeasedRun(harness: StorageHarness, state: Run["state"] = "PENDING") {
  return grant(harness, await aStoredRun(harness), state);
}

async function grant({ storage }: StorageHarness, { id }: Run, state: Run["state"] = "PENDING") {
  const token = randomUUID() as LeaseToken;
  const lease = { token, worker: "worker-1", ttlMs: TTL_MS };
  const run = await storage.runs.change(id, (aggregate) => aChange({ ...aggregate.run, state }, { lease }));
  return { run, token };
}

async function expiring({ storage }: StorageHarness, withinMs: number): Promise<readonly RunId[]> {
  return (await storage.leases.listExpiring(withinMs, MANY)).map(({ runId }) => runId);
}

async function renew({ storage }: StorageHarness, run: Run, token: LeaseToken): Promise<boolean> {
  return (await storage.leases.renew([{ runId: run.id, token }], TTL_MS)).has(run.id);
}

async function isOver({ storage }: StorageHarness, { id }: Run): Promise<boolean | undefined> {
  let over: boolean | undefined;
  await storage.runs.change(id, ({ leaseOver }) => {
    over = leaseOver;
    return undefined;
  });
  return over;
}
