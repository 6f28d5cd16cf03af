import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { type ApiKey, SCOPES } from "../../../src/core/model/people/api-key.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { UniqueConflict } from "../../../src/core/ports/stores/storage.ts";
import { aPrincipal } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

export function describePeople(harness: () => StorageHarness): void {
  describe("people", () => {
    test("an account has one principal, even if its first messages arrive concurrently", async () => {
      const { people } = harness().storage;
      const subject = `memory:${randomUUID()}`;

      const found = await Promise.all(
        Array.from({ length: 20 }, () => people.ensure(FIRST_TEAM, subject, "Ada")),
      );

      expect(new Set(found.map(({ id }) => id)).size).toBe(1);
      expect(found[0]).toEqual({
        id: expect.any(String),
        teamId: FIRST_TEAM,
        disabled: false,
        createdAt: expect.any(Date),
        type: "user",
        displayName: "Ada",
        administrator: false,
      });
    });

    test("two accounts have two principals", async () => {
      expect((await aPerson(harness())).id).not.toBe((await aPerson(harness())).id);
    });

    test("a new display name is stored, and a missing one changes nothing", async () => {
      const { people } = harness().storage;
      const subject = `memory:${randomUUID()}`;
      const unnamed = await people.ensure(FIRST_TEAM, subject, undefined);
      expect(unnamed).not.toHaveProperty("displayName");

      const named = await people.ensure(FIRST_TEAM, subject, "Ada");
      const same = await people.ensure(FIRST_TEAM, subject, undefined);

      expect(named).toEqual({ ...unnamed, displayName: "Ada" });
      expect(same).toEqual(named);
    });

    test("an account with aliases has the principal of any of them, which is found by the first one later", async () => {
      const { identities, people } = harness().storage;
      const [whole, here, there, elsewhere] = Array.from({ length: 4 }, () => `memory:${randomUUID()}`) as [
        string,
        string,
        string,
        string,
      ];
      const before = await people.ensure(FIRST_TEAM, here, "Ada");

      const joined = await people.ensure(FIRST_TEAM, there, "Ada L.", [whole, here]);
      const later = await people.ensure(FIRST_TEAM, elsewhere, "Ada L.", [whole]);

      expect([joined.id, later.id]).toEqual([before.id, before.id]);
      for (const subject of [whole, here, there, elsewhere]) {
        expect((await identities.find(FIRST_TEAM, subject))?.principalId).toBe(before.id);
      }
      expect((await people.ensure(FIRST_TEAM, here, "Ada", [whole, there, elsewhere])).displayName).toBe(
        "Ada",
      );
    });

    test("an account that is known keeps its principal, which becomes that of its first alias", async () => {
      const { identities, people } = harness().storage;
      const [whole, here, there] = [randomUUID(), randomUUID(), randomUUID()].map((id) => `memory:${id}`) as [
        string,
        string,
        string,
      ];
      const [one, two] = [
        await people.ensure(FIRST_TEAM, here, "Ada"),
        await people.ensure(FIRST_TEAM, there, "Ada"),
      ];

      expect((await people.ensure(FIRST_TEAM, here, "Ada", [whole, there])).id).toBe(one.id);
      expect((await people.ensure(FIRST_TEAM, there, "Ada", [whole, here])).id).toBe(two.id);
      expect((await identities.find(FIRST_TEAM, whole))?.principalId).toBe(one.id);
    });

    test("of twenty simultaneous first messages of one person from several places comes one principal", async () => {
      const { people } = harness().storage;
      const whole = `memory:${randomUUID()}`;

      const found = await Promise.all(
        Array.from({ length: 20 }, () => people.ensure(FIRST_TEAM, `memory:${randomUUID()}`, "Ada", [whole])),
      );

      expect(new Set(found.map(({ id }) => id)).size).toBe(1);
      const all = await people.list(FIRST_TEAM);
      expect(all.filter(({ id }) => found.some((one) => one.id === id))).toHaveLength(1);
    });

    test("aliases join no accounts of different teams", async () => {
      const { people } = harness().storage;
      const [whole, here] = [`memory:${randomUUID()}`, `memory:${randomUUID()}`];
      const ours = await people.ensure(FIRST_TEAM, here, "Ada", [whole]);
      const theirs = await people.ensure(await aTeam(harness()), here, "Ada", [whole]);

      expect(theirs.id).not.toBe(ours.id);
    });

    test("existing people are found by their ids", async () => {
      const { people } = harness().storage;
      const [one, two] = [await aPerson(harness()), await aPerson(harness())];

      const found = await people.getMany([one.id, randomUUID() as PrincipalId, two.id]);

      expect(new Set(found)).toEqual(new Set([one, two]));
      expect(await people.getMany([])).toEqual([]);
    });

    test("one account has a different principal in each team", async () => {
      const { people } = harness().storage;
      const subject = `memory:${randomUUID()}`;
      const here = await people.ensure(FIRST_TEAM, subject, "Ada");
      const otherTeam = await aTeam(harness());

      const there = await people.ensure(otherTeam, subject, "Ada");

      expect([there.id === here.id, there.teamId]).toEqual([false, otherTeam]);
      expect(await people.list(otherTeam)).toEqual([there]);
    });

    test("a person can be added and changed", async () => {
      const { people } = harness().storage;
      const teamId = await aTeam(harness());
      const robot = aPrincipal({ teamId, type: "service_account", displayName: "CI" });

      await people.put(robot);
      const stored = await people.getMany([robot.id]);
      await people.put({ ...robot, disabled: true, administrator: true });

      expect(stored).toEqual([robot]);
      expect(await people.list(teamId)).toEqual([{ ...robot, disabled: true, administrator: true }]);
    });
  });

  describe("the administrator's key", () => {
    test("only the last key that was set is the administrator's key", async () => {
      const { administrators, keys } = harness().storage;
      const [first, second] = [randomUUID(), randomUUID()];
      expect(await keys.findByHash(first)).toBeUndefined();

      await administrators.set(first, "first…");
      const holder = await keys.findByHash(first);
      await administrators.set(second, "second…");
      await administrators.set(second, "second…");

      expect(holder?.principal).toMatchObject({ administrator: true, displayName: "Administrator" });
      expect(holder?.key).toMatchObject({ hint: "first…", scopes: SCOPES });
      expect(await keys.findByHash(first)).toBeUndefined();
      expect((await keys.findByHash(second))?.principal).toEqual(holder?.principal);
      expect(await administrators.exists()).toBe(true);
    });

    test("setting the key again enables its administrator again", async () => {
      const { administrators, keys, people } = harness().storage;
      const hash = randomUUID();
      await administrators.set(hash, "…");
      const principal = (await keys.findByHash(hash))?.principal;
      if (principal === undefined) {
        throw new Error("no key");
      }

      const found: unknown[] = [];
      for (const lost of [{ disabled: true }, { administrator: false }]) {
        await people.put({ ...principal, ...lost });
        await administrators.set(hash, "…");
        found.push((await keys.findByHash(hash))?.principal);
      }

      expect(found).toEqual([principal, principal]);
    });

    test("of several keys set concurrently one remains", async () => {
      const { administrators, keys } = harness().storage;
      const hashes = Array.from({ length: 5 }, () => randomUUID());

      await Promise.all(hashes.map((hash) => administrators.set(hash, "…")));

      const found = await Promise.all(hashes.map((hash) => keys.findByHash(hash)));
      expect(found.filter((holder) => holder !== undefined)).toHaveLength(1);
    });
  });

  describe("keys", () => {
    test("a key is found with its holder and listed only for its team", async () => {
      const { keys } = harness().storage;
      const [ada, teamId] = [await aPerson(harness()), await aTeam(harness())];
      const [hash, key] = [randomUUID(), aKey({ principalId: ada.id, expiresAt: new Date("2030-01-01") })];

      await keys.add(key, hash);

      expect(await keys.findByHash(hash)).toEqual({ key, principal: ada });
      expect(await keys.list(ada.teamId)).toContainEqual(key);
      expect(await keys.list(teamId)).toEqual([]);
    });

    test("a key can be changed, and using it changes nothing else", async () => {
      const { keys } = harness().storage;
      const ada = await aPerson(harness());
      const [hash, key] = [randomUUID(), aKey({ principalId: ada.id })];
      const [earlier, later] = [new Date("2026-03-02"), new Date("2026-03-03")];
      await keys.add(key, hash);
      const changed = { ...key, name: "renamed", revokedAt: later };

      const told = await keys.change(ada.teamId, key.id, () => changed);
      await keys.touch(key.id, later);
      await keys.touch(key.id, earlier);

      expect(told).toEqual({ before: key, after: changed });
      expect((await keys.findByHash(hash))?.key).toEqual({ ...changed, lastUsedAt: later });
      expect(harness().pubsub).toContain("keys");
    });

    test("concurrent changes of a key run one after another", async () => {
      const { keys } = harness().storage;
      const ada = await aPerson(harness());
      const [hash, key] = [randomUUID(), aKey({ principalId: ada.id, name: "" })];
      await keys.add(key, hash);
      const append = () => keys.change(ada.teamId, key.id, (held) => ({ ...held, name: `${held.name}x` }));

      await Promise.all([1, 2, 3, 4, 5].map(append));

      expect((await keys.findByHash(hash))?.key.name).toBe("xxxxx");
    });

    test("a key is changed only for its team and only if the decision allows it, and published after the commit", async () => {
      const { pubsub, storage } = harness();
      const ada = await aPerson(harness());
      const [hash, key] = [randomUUID(), aKey({ principalId: ada.id })];
      await storage.keys.add(key, hash);
      const rename = (held: ApiKey) => ({ ...held, name: "renamed" });
      const refuse = () => {
        throw new Error("no");
      };
      pubsub.length = 0;

      expect(await storage.keys.change(await aTeam(harness()), key.id, rename)).toBeUndefined();
      expect(await storage.keys.change(ada.teamId, randomUUID(), rename)).toBeUndefined();
      await expect(storage.keys.change(ada.teamId, key.id, refuse)).rejects.toThrow("no");

      expect((await storage.keys.findByHash(hash))?.key).toEqual(key);
      expect(pubsub).toEqual([]);
      const before = await storage.atomically(async ({ keys }) => {
        await keys.change(ada.teamId, key.id, rename);
        return [...pubsub];
      });
      expect([before, pubsub]).toEqual([[], ["keys"]]);
    });
  });

  describe("teams", () => {
    test("concurrent locks of a team wait for each other", async () => {
      const { storage } = harness();
      const teamId = await aTeam(harness());
      const append = () =>
        storage.atomically(async ({ teams }) => {
          await teams.lock(teamId);
          const held = (await teams.find(teamId)) ?? raise();
          await teams.put({ ...held, name: `${held.name}x` });
        });

      await Promise.all([1, 2, 3, 4, 5].map(append));

      expect((await storage.teams.find(teamId))?.name).toBe(`${teamId}xxxxx`);
    });
  });

  describe("installations", () => {
    test("an installation is created once, for the first team, and can be assigned to another", async () => {
      const { installations } = harness().storage;
      const [adapter, externalId] = [randomUUID(), randomUUID()];
      const made = await Promise.all(
        Array.from({ length: 5 }, () => installations.ensure(adapter, externalId)),
      );
      const [first = raise()] = made;
      const teamId = await aTeam(harness());

      await installations.update({ ...first, teamId, name: "Acme", enabled: false });

      expect([new Set(made.map(({ id }) => id)).size, first.teamId, first.enabled]).toEqual([
        1,
        FIRST_TEAM,
        true,
      ]);
      expect(await installations.list(teamId)).toEqual([{ ...first, teamId, name: "Acme", enabled: false }]);
      expect(await installations.ensure(adapter, externalId)).toMatchObject({ teamId });
    });

    test("every installation of an adapter except the first starts disabled, even if many are created concurrently", async () => {
      const { installations } = harness().storage;
      const adapters = [randomUUID(), randomUUID()];

      const made = await Promise.all(
        adapters.flatMap((adapter) => [1, 2, 3].map(() => installations.ensure(adapter, randomUUID()))),
      );

      const on = made.filter(({ enabled }) => enabled);
      expect(on.map(({ adapter }) => adapter).sort()).toEqual(adapters.sort());
    });

    test("the problem of an installation, or of all of an adapter, is set and removed, and changes keep it", async () => {
      const { installations } = harness().storage;
      const adapter = randomUUID();
      const one = await installations.ensure(adapter, "one");
      const other = await installations.ensure(adapter, "other");
      const problems = async () => {
        const all = [
          await installations.ensure(adapter, "one"),
          await installations.ensure(adapter, "other"),
        ];
        return all.map(({ problem }) => problem);
      };

      await installations.setProblem({ adapter, externalId: "one" }, "revoked");
      await installations.update({ ...one, name: "One" });
      expect(await problems()).toEqual(["revoked", undefined]);
      await installations.setProblem({ adapter }, "expired");
      expect(await problems()).toEqual(["expired", "expired"]);
      await installations.setProblem({ adapter, externalId: "one" }, undefined);
      expect(await problems()).toEqual([undefined, "expired"]);
      await installations.setProblem({ adapter, externalId: "unknown" }, "expired");
      expect((await installations.ensure(adapter, "unknown")).problem).toBeUndefined();
      expect(await installations.ensure(adapter, "other")).toEqual({ ...other, problem: "expired" });
    });

    test("concurrent changes of a locked installation run one after another", async () => {
      const { storage } = harness();
      const { id, teamId } = await storage.installations.ensure("memory", randomUUID());
      const append = () =>
        storage.atomically(async ({ installations }) => {
          const { name = "", ...held } = (await installations.lock(id)) ?? raise();
          await installations.update({ ...held, name: `${name}x` });
        });

      await Promise.all([1, 2, 3, 4, 5].map(append));

      expect(await storage.installations.lock(id)).toMatchObject({ id, teamId, name: "xxxxx" });
      expect(await storage.installations.lock(randomUUID())).toBeUndefined();
    });
  });

  describe("remembered answers", () => {
    test("a remembered answer is found by principal and key", async () => {
      const { idempotentResponses: answers } = harness().storage;
      const principalId = (await aPerson(harness())).id;
      const answer = { principalId, key: "key one", requestHash: "hash", status: 200, body: "just text" };

      await aStoredRun(harness(), {}, { idempotentResponse: answer });

      expect(await answers.find(principalId, "key one")).toEqual(answer);
      expect(await answers.find(principalId, "key")).toBeUndefined();
      expect(await answers.find(randomUUID() as PrincipalId, "key one")).toBeUndefined();
    });

    test("of many concurrent creates with one key one is stored with its run, and the others are refused", async () => {
      const creatorId = (await aPerson(harness())).id;
      const create = (body: number) => {
        const answer = { principalId: creatorId, key: "key", requestHash: "hash", status: 200, body };
        return aStoredRun(harness(), { creatorId, title: String(body) }, { idempotentResponse: answer });
      };

      const created = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => create(index)));

      const runs = created.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const refusals = created.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      expect(refusals).toEqual(Array.from({ length: 7 }, () => new UniqueConflict("idempotencyKey")));
      expect(String((await harness().storage.idempotentResponses.find(creatorId, "key"))?.body)).toBe(
        runs[0]?.title,
      );
    });
  });
}

function aKey(changes: Partial<ApiKey>): ApiKey {
  const createdAt = new Date("2026-03-01T12:00:00.000Z");
  const principalId = randomUUID() as PrincipalId;
  return {
    id: randomUUID(),
    principalId,
    name: "ci",
    hint: "errand_abcde…",
    scopes: ["runs:read"],
    createdAt,
    ...changes,
  };
}

function raise(): never {
  throw new Error("Nothing was made.");
}
