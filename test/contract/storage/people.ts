import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { PrincipalId } from "../../../src/core/ids.ts";
import { Taken } from "../../../src/core/ports/storage.ts";
import { aPerson, aStoredRun, type StorageBench } from "./bench.ts";

export function describePeople(bench: () => StorageBench): void {
  describe("people", () => {
    it("an account has one principal, also when its first messages come at once", async () => {
      const { people } = bench().storage;
      const subject = `memory:${randomUUID()}`;

      const found = await Promise.all(Array.from({ length: 20 }, () => people.ensure(subject, "Ada")));

      expect(new Set(found.map(({ id }) => id)).size).toBe(1);
      expect(found[0]).toEqual({
        id: expect.any(String),
        type: "user",
        displayName: "Ada",
        administrator: false,
      });
    });

    it("two accounts have two principals", async () => {
      expect((await aPerson(bench())).id).not.toBe((await aPerson(bench())).id);
    });

    it("a new name is learned, and a missing one changes nothing", async () => {
      const { people } = bench().storage;
      const subject = `memory:${randomUUID()}`;
      const unnamed = await people.ensure(subject, undefined);
      expect(unnamed).not.toHaveProperty("displayName");

      const named = await people.ensure(subject, "Ada");
      const same = await people.ensure(subject, undefined);

      expect(named).toEqual({ ...unnamed, displayName: "Ada" });
      expect(same).toEqual(named);
    });

    it("are found by their ids, as far as they exist", async () => {
      const { people } = bench().storage;
      const [one, two] = [await aPerson(bench()), await aPerson(bench())];

      const found = await people.getMany([one.id, randomUUID() as PrincipalId, two.id]);

      expect(new Set(found)).toEqual(new Set([one, two]));
      expect(await people.getMany([])).toEqual([]);
    });

    it("the administrator has one key: the last one", async () => {
      const { people } = bench().storage;
      const [first, second] = [randomUUID(), randomUUID()];
      expect(await people.hasAdministratorKey()).toBe(false);
      expect(await people.findByKeyHash(first)).toBeUndefined();

      await people.setAdministratorKey(first);
      const administrator = await people.findByKeyHash(first);
      await people.setAdministratorKey(second);
      await people.setAdministratorKey(second);

      expect(administrator).toMatchObject({ administrator: true, displayName: "Administrator" });
      expect(await people.findByKeyHash(first)).toBeUndefined();
      expect(await people.findByKeyHash(second)).toEqual(administrator);
      expect(await people.hasAdministratorKey()).toBe(true);
    });

    it("of several keys set at once one is left", async () => {
      const { people } = bench().storage;
      const keys = Array.from({ length: 5 }, () => randomUUID());

      await Promise.all(keys.map((key) => people.setAdministratorKey(key)));

      const found = await Promise.all(keys.map((key) => people.findByKeyHash(key)));
      expect(found.filter((principal) => principal !== undefined)).toHaveLength(1);
    });
  });

  describe("remembered answers", () => {
    it("are found by who asked and the key", async () => {
      const { answers } = bench().storage;
      const principalId = (await aPerson(bench())).id;
      const answer = { principalId, key: "key one", requestHash: "hash", body: "just text" };

      await aStoredRun(bench(), {}, { answer });

      expect(await answers.find(principalId, "key one")).toEqual(answer);
      expect(await answers.find(principalId, "key")).toBeUndefined();
      expect(await answers.find(randomUUID() as PrincipalId, "key one")).toBeUndefined();
    });

    it("of many with one key at once, one is stored with its run, the others find it taken", async () => {
      const creatorId = (await aPerson(bench())).id;
      const create = (body: number) => {
        const answer = { principalId: creatorId, key: "key", requestHash: "hash", body };
        return aStoredRun(bench(), { creatorId, title: String(body) }, { answer });
      };

      const created = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => create(index)));

      const runs = created.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const refusals = created.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(refusals).toEqual(Array.from({ length: 7 }, () => new Taken("answer")));
      expect(String((await bench().storage.answers.find(creatorId, "key"))?.body)).toBe(runs[0]?.title);
    });
  });
}
