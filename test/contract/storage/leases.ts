import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { LeaseToken, RunId } from "../../../src/core/ids.ts";
import type { Run } from "../../../src/core/runs/run.ts";
import { runJob } from "../../../src/core/runs/run-job.ts";
import { aChange } from "../../support/run-builders.ts";
import { aStoredRun, type StorageHarness } from "./harness.ts";

const TTL_MS = 60_000;
const LATER_MS = 61_000;
const MANY = 1_000;

export function describeLeases(harness: () => StorageHarness): void {
  describe("a lease", () => {
    it("is granted with a change, kept by others, and given up", async () => {
      const { storage } = harness();
      const { run, token } = await aLeasedRun(harness());
      expect(run.lease).toEqual({ token, worker: "worker-1" });

      const kept = await storage.runs.change(run.id, (subject) => aChange(subject.run));
      const free = await storage.runs.change(run.id, (subject) => aChange(subject.run, { lease: null }));

      expect(kept.lease).toEqual({ token, worker: "worker-1" });
      expect(free).not.toHaveProperty("lease");
      expect(await storage.runs.find({ id: run.id })).toEqual(free);
    });

    it("is renewed by its token alone, which tells the run's state", async () => {
      const { leases } = harness().storage;
      const { run, token } = await aLeasedRun(harness());

      expect(await leases.renew(run.id, token, TTL_MS)).toBe("PENDING");
      expect(await leases.renew(run.id, randomUUID() as LeaseToken, TTL_MS)).toBeUndefined();
      expect(await leases.renew(randomUUID() as RunId, token, TTL_MS)).toBeUndefined();
    });

    it("cannot be renewed once it was given up", async () => {
      const { leases, runs } = harness().storage;
      const { run, token } = await aLeasedRun(harness());
      await runs.change(run.id, (subject) => aChange(subject.run, { lease: null }));

      expect(await leases.renew(run.id, token, TTL_MS)).toBeUndefined();
    });

    it("is over when its time is, by the clock of the storage", async () => {
      const { leases } = harness().storage;
      const { run } = await aLeasedRun(harness());
      expect(await isOver(harness(), run)).toBe(false);
      expect(await leases.listLost(MANY)).not.toContain(run.id);

      await harness().passTime(LATER_MS);

      expect(await isOver(harness(), run)).toBe(true);
      expect(await leases.listLost(MANY)).toContain(run.id);
    });

    it("holds on when it is renewed, and even past its time while nobody takes it", async () => {
      const { leases } = harness().storage;
      const { run, token } = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      expect(await leases.renew(run.id, token, TTL_MS)).toBe("PENDING");

      expect(await isOver(harness(), run)).toBe(false);
      expect(await leases.listLost(MANY)).not.toContain(run.id);
    });

    it("is no longer over when another is granted instead", async () => {
      const { run } = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      const { token } = await grant(harness(), run);

      expect(await isOver(harness(), run)).toBe(false);
      expect((await harness().storage.runs.find({ id: run.id }))?.lease?.token).toBe(token);
    });

    it("lost runs are listed the longest lost first, so many as are asked for", async () => {
      const { leases } = harness().storage;
      const first = await aLeasedRun(harness());
      await harness().passTime(1_000);
      const second = await aLeasedRun(harness());
      await harness().passTime(LATER_MS);

      const lost = await leases.listLost(MANY);

      expect(lost.indexOf(first.run.id)).toBeLessThan(lost.indexOf(second.run.id));
      expect(await leases.listLost(1)).toHaveLength(1);
    });
  });

  describe("idle runs", () => {
    it("are those that are queued, free and untouched for a while", async () => {
      const { leases, runs } = harness().storage;
      const idle = await aStoredRun(harness());
      const leased = (await aLeasedRun(harness(), "QUEUED")).run;
      const ended = await aStoredRun(harness());
      await runs.change(ended.id, ({ run }) => aChange({ ...run, state: "CANCELLED" }));
      const idsFor = async (host?: string) => (await leases.listIdle(host, MANY)).map(({ id }) => id);
      expect(await idsFor()).not.toContain(idle.id);

      await harness().passTime(LATER_MS);
      const young = await aStoredRun(harness());

      const found = await idsFor();
      expect(found).toContain(idle.id);
      for (const other of [leased, ended, young]) expect(found).not.toContain(other.id);
    });

    it("that ask for workers of a name are listed for those alone, with the name", async () => {
      const { leases } = harness().storage;
      const [anybodys, asking] = [
        await aStoredRun(harness()),
        await aStoredRun(harness(), { config: { worker_host: "build-box" } }),
      ];
      await harness().passTime(LATER_MS);
      const found = async (host?: string) =>
        (await leases.listIdle(host, MANY)).filter(({ id }) => id === anybodys.id || id === asking.id);

      expect((await found()).map(({ id }) => id)).toEqual([anybodys.id]);
      expect((await found("other-box")).map(({ id }) => id)).toEqual([anybodys.id]);
      expect(new Set((await found("build-box")).map(runJob))).toEqual(
        new Set([
          { kind: "run", key: anybodys.id },
          { kind: "run", key: asking.id, host: "build-box" },
        ]),
      );
    });
  });
}

async function aLeasedRun(harness: StorageHarness, state: Run["state"] = "PENDING") {
  return grant(harness, await aStoredRun(harness), state);
}

async function grant({ storage }: StorageHarness, { id }: Run, state: Run["state"] = "PENDING") {
  const token = randomUUID() as LeaseToken;
  const lease = { token, worker: "worker-1", ttlMs: TTL_MS };
  const run = await storage.runs.change(id, (subject) => aChange({ ...subject.run, state }, { lease }));
  return { run, token };
}

async function isOver({ storage }: StorageHarness, { id }: Run): Promise<boolean | undefined> {
  let over: boolean | undefined;
  await storage.runs.change(id, ({ leaseOver }) => {
    over = leaseOver;
    return undefined;
  });
  return over;
}
