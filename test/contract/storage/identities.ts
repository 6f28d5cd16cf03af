import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newId, type PrincipalId } from "../../../src/core/basics/ids.ts";
import { ADMINISTRATOR_SUBJECT } from "../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../src/core/model/people/principal.ts";
import type { ShareLink } from "../../../src/core/model/people/share-link.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { aPrincipal } from "../../support/run-builders.ts";
import { aPerson, aStoredRun, aTeam, type StorageHarness } from "./harness.ts";

export function describeIdentities(harness: () => StorageHarness): void {
  describe("identities", () => {
    test("identities are listed only for their team, with their principals", async () => {
      const { identities, people } = harness().storage;
      const [subject, teamId] = [`memory:${randomUUID()}`, await aTeam(harness())];
      const ada = await people.ensure(teamId, subject, "Ada");

      const link = await identities.find(teamId, subject);

      expect(link).toEqual({
        id: expect.any(String),
        teamId,
        subject,
        principalId: ada.id,
        createdAt: expect.any(Date),
      });
      expect(await identities.list(teamId)).toEqual([link]);
      expect(await identities.find(FIRST_TEAM, subject)).toBeUndefined();
    });

    test("an identity can be moved to another principal, who then has that account", async () => {
      const { identities, people } = harness().storage;
      const subject = `memory:${randomUUID()}`;
      const [before, after] = [await people.ensure(FIRST_TEAM, subject, "Ada"), await aPerson(harness())];
      const known = await identities.find(FIRST_TEAM, subject);

      const link = await identities.link(FIRST_TEAM, subject, after.id);

      const linkedAt = expect.any(Date);
      expect([before.id === after.id, link]).toEqual([false, { ...known, principalId: after.id, linkedAt }]);
      expect((await people.ensure(FIRST_TEAM, subject, undefined)).id).toBe(after.id);
    });

    test("an identity can be linked before its first message", async () => {
      const { identities, people } = harness().storage;
      const [subject, ada] = [`memory:${randomUUID()}`, await aPerson(harness())];

      await identities.link(FIRST_TEAM, subject, ada.id);

      expect((await people.ensure(FIRST_TEAM, subject, undefined)).id).toBe(ada.id);
    });

    test("an account has an identity in each team, and only those that were linked say so", async () => {
      const { identities, people } = harness().storage;
      const subject = `memory:${randomUUID()}`;
      const teamId = await aTeam(harness());
      await people.ensure(FIRST_TEAM, subject, "Ada");
      const seen = await identities.listAccount(subject);
      const other = aPrincipal({ teamId });
      await people.put(other);

      const links = [
        await identities.link(teamId, subject, other.id),
        await identities.link(FIRST_TEAM, subject, (await aPerson(harness())).id),
      ];

      expect(seen.map(({ linkedAt }) => linkedAt)).toEqual([undefined]);
      expect(links.map(({ linkedAt }) => linkedAt)).not.toContain(undefined);
      expect(new Set(await identities.listAccount(subject))).toEqual(new Set(links));
    });

    test("an identity is unlinked only by its team, and its next message creates a new principal", async () => {
      const { identities, people } = harness().storage;
      const subject = `memory:${randomUUID()}`;
      const before = await people.ensure(FIRST_TEAM, subject, "Ada");
      const id = (await identities.find(FIRST_TEAM, subject))?.id ?? "";

      const results = [
        await identities.unlink(await aTeam(harness()), id),
        await identities.unlink(FIRST_TEAM, id),
        await identities.unlink(FIRST_TEAM, id),
      ];

      expect(results).toEqual([false, true, false]);
      expect((await people.ensure(FIRST_TEAM, subject, "Ada")).id).not.toBe(before.id);
    });

    test("several identities of one principal do not rename it alternately", async () => {
      const { identities, people } = harness().storage;
      const [one, two] = [`memory:${randomUUID()}`, `memory:${randomUUID()}`];
      const ada = await people.ensure(FIRST_TEAM, one, "Ada");
      await identities.link(FIRST_TEAM, two, ada.id);

      expect(await people.ensure(FIRST_TEAM, two, "ada-l")).toEqual(ada);
      expect(await people.ensure(FIRST_TEAM, one, "ada-1")).toEqual(ada);
    });
  });

  describe("a principal", () => {
    test("the decision about a principal sees all administrators of its team", async () => {
      const { people } = harness().storage;
      const teamId = await aTeam(harness());
      const [boss, gone, member] = [
        aPrincipal({ teamId, administrator: true }),
        aPrincipal({ teamId, administrator: true, disabled: true }),
        aPrincipal({ teamId }),
      ];
      for (const one of [boss, gone, member]) {
        await people.put(one);
      }
      harness().pubsub.length = 0;
      let seen: readonly Principal[] = [];

      const changed = await people.change(teamId, member.id, (principal, administrators) => {
        seen = administrators;
        return { ...principal, displayName: "Ben" };
      });

      expect([changed, seen]).toEqual([{ ...member, displayName: "Ben" }, [boss]]);
      expect(await people.getMany([member.id])).toEqual([changed]);
      expect(harness().pubsub).toContain("keys");
    });

    test("a principal of another team, or one that does not exist, is not changed", async () => {
      const { people } = harness().storage;
      const [ada, teamId] = [await aPerson(harness()), await aTeam(harness())];
      const disable = (principal: Principal) => ({ ...principal, disabled: true });

      expect(await people.change(teamId, ada.id, disable)).toBeUndefined();
      expect(await people.change(teamId, randomUUID() as PrincipalId, disable)).toBeUndefined();
      expect(await people.getMany([ada.id])).toEqual([ada]);
    });

    test("a principal is not changed if the decision throws", async () => {
      const { people } = harness().storage;
      const ada = await aPerson(harness());
      const refuse = () => {
        throw new Error("no");
      };

      await expect(people.change(ada.teamId, ada.id, refuse)).rejects.toThrow("no");
      expect(await people.getMany([ada.id])).toEqual([ada]);
    });

    test("if all administrators step down concurrently, one remains", async () => {
      const { people } = harness().storage;
      const teamId = await aTeam(harness());
      const all = Array.from({ length: 6 }, () => aPrincipal({ teamId, administrator: true }));
      await Promise.all(all.map((one) => people.put(one)));
      const demote = (principal: Principal, administrators: readonly Principal[]) => {
        if (administrators.length === 1) {
          throw new Error("the last one");
        }
        return { ...principal, administrator: false };
      };

      const ends = await Promise.allSettled(all.map(({ id }) => people.change(teamId, id, demote)));

      expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(1);
      expect((await people.list(teamId)).filter(({ administrator }) => administrator)).toHaveLength(1);
    });
  });

  describe("a key", () => {
    test("a key with a new hash is found only by the new hash", async () => {
      const { keys } = harness().storage;
      const [ada, former, hash] = [await aPerson(harness()), randomUUID(), randomUUID()];
      const plain = { name: "ci", hint: "errand_a…", scopes: ["runs:read"], createdBy: ada.id } as const;
      const createdAt = new Date("2026-03-01");
      const key = { id: randomUUID(), principalId: ada.id, ...plain, createdAt };
      await keys.add(key, former);

      await keys.touch(key.id, new Date("2026-03-02"), hash);

      expect(await keys.findByHash(former)).toBeUndefined();
      expect((await keys.findByHash(hash))?.key).toEqual({ ...key, lastUsedAt: new Date("2026-03-02") });
    });

    test("keys that expired 30 days ago are removed, and those without an end stay", async () => {
      const { clock, storage } = harness();
      const ada = await aPerson(harness());
      const plain = { principalId: ada.id, name: "ci", hint: "", scopes: [], createdBy: ada.id };
      const made = { ...plain, createdAt: new Date("2026-03-01") };
      const monthAgo = clock.now().getTime() - 30 * 24 * 3_600_000;
      const endless = { id: randomUUID(), ...made };
      const younger = { id: randomUUID(), ...made, expiresAt: new Date(monthAgo + 1) };
      const old = { id: randomUUID(), ...made, expiresAt: new Date(monthAgo - 1) };
      for (const key of [endless, younger, old]) {
        await storage.keys.add(key, randomUUID());
      }

      expect(await storage.keys.prune()).toBeGreaterThan(0);

      const left = (await storage.keys.list(ada.teamId)).filter(({ principalId }) => principalId === ada.id);
      expect(left.map(({ id }) => id).toSorted()).toEqual([endless.id, younger.id].toSorted());
    });
  });

  describe("share links", () => {
    test("a share link is found by its token's hash, listed by run and removed", async () => {
      const { shareLinks } = harness().storage;
      const run = await aStoredRun(harness());
      const [hash, link] = [randomUUID(), aLink(run)];

      await shareLinks.add(link, hash);
      const [found, listed] = [await shareLinks.findByHash(hash), await shareLinks.list(run.id)];
      const other = await aStoredRun(harness());
      const removals = [
        await shareLinks.remove(other.id, link.id),
        await shareLinks.remove(run.id, link.id),
        await shareLinks.remove(run.id, link.id),
      ];

      expect([found, listed]).toEqual([link, [link]]);
      expect(removals).toEqual([false, true, false]);
      expect([await shareLinks.findByHash(hash), await shareLinks.list(run.id)]).toEqual([undefined, []]);
    });

    test("a share link is found by the new hash of its token, and not by the former one", async () => {
      const { shareLinks } = harness().storage;
      const [former, hash, link] = [randomUUID(), randomUUID(), aLink(await aStoredRun(harness()))];
      await shareLinks.add(link, former);

      await shareLinks.rehash(link.id, hash);
      await shareLinks.rehash(randomUUID(), randomUUID());

      expect([await shareLinks.findByHash(former), await shareLinks.findByHash(hash)]).toEqual([
        undefined,
        link,
      ]);
    });

    test("a share link is found only while the key that created it exists and has neither been revoked nor expired", async () => {
      const { clock } = harness();
      const { keys, shareLinks } = harness().storage;
      const [run, ada] = [await aStoredRun(harness()), await aPerson(harness())];
      const plain = { name: "", hint: "", scopes: [], createdBy: ada.id };
      const key = { id: randomUUID(), principalId: ada.id, ...plain, createdAt: new Date("2026-03-01") };
      await keys.add(key, randomUUID());
      const [hash, hashOfNoKey] = [randomUUID(), randomUUID()];
      const link = { ...aLink(run), keyId: key.id };
      await shareLinks.add(link, hash);
      await shareLinks.add({ ...aLink(run), keyId: randomUUID() }, hashOfNoKey);

      expect([await shareLinks.findByHash(hash), await shareLinks.findByHash(hashOfNoKey)]).toEqual([
        link,
        undefined,
      ]);
      const expiresAt = (ms: number) => new Date(clock.now().getTime() + ms);
      await keys.change(ada.teamId, key.id, (now) => ({ ...now, expiresAt: expiresAt(1_000) }));
      expect(await shareLinks.findByHash(hash)).toEqual(link);
      await keys.change(ada.teamId, key.id, (now) => ({ ...now, expiresAt: expiresAt(0) }));
      expect(await shareLinks.findByHash(hash)).toBeUndefined();
      await keys.change(ada.teamId, key.id, ({ expiresAt: _over, ...now }) => now);
      expect(await shareLinks.findByHash(hash)).toEqual(link);
      await keys.change(ada.teamId, key.id, (now) => ({ ...now, revokedAt: new Date("2026-03-02") }));
      expect(await shareLinks.findByHash(hash)).toBeUndefined();
    });

    test("share links that expired long ago are deleted", async () => {
      const { clock, storage } = harness();
      const run = await aStoredRun(harness());
      const monthAgo = clock.now().getTime() - 30 * 24 * 3_600_000;
      const [old, younger] = [-1, 1].map((ms) => ({ ...aLink(run), expiresAt: new Date(monthAgo + ms) }));
      if (old === undefined || younger === undefined) {
        throw new Error("No links.");
      }
      await storage.shareLinks.add(old, randomUUID());
      await storage.shareLinks.add(younger, randomUUID());

      expect(await storage.shareLinks.prune()).toBeGreaterThan(0);

      expect(await storage.shareLinks.list(run.id)).toEqual([younger]);
    });
  });
}

/** For a storage that has no administrator yet. */
export function describeFirstKey(harness: () => StorageHarness): void {
  test("the first key of an administrator is set once: concurrent callers wait and are refused", async () => {
    const { storage } = harness();
    const { administrators, keys, people } = storage;
    const [first, second] = [randomUUID(), randomUUID()];
    // Creates the principal first, so that callers wait for the lock on its row and not for its creation.
    await people.ensure(FIRST_TEAM, ADMINISTRATOR_SUBJECT, "Administrator");
    const existed = await administrators.exists();
    let meanwhile: Promise<boolean> | undefined;

    const isFirst = await storage.atomically(async (stores) => {
      const isSet = await stores.administrators.setFirst(first, "…");
      meanwhile = administrators.setFirst(second, "…");
      // Takes longer than setting the key would take without the wait.
      for (let round = 0; round < 20; round += 1) {
        await keys.findByHash(randomUUID());
      }
      return isSet;
    });

    const told = [isFirst, await meanwhile, await administrators.setFirst(randomUUID(), "…")];
    const found = await Promise.all([first, second].map((hash) => keys.findByHash(hash)));
    expect([existed, await administrators.exists()]).toEqual([false, true]);
    expect(told).toEqual([true, false, false]);
    expect(found.map((holder) => holder?.key.hint)).toEqual(["…", undefined]);
  });

  test("other keys of an administrator are not the installation's key and survive its replacement", async () => {
    const { administrators, keys } = harness().storage;
    const [first, own, second] = [randomUUID(), randomUUID(), randomUUID()];
    await administrators.set(first, "…");
    const { principal } = (await keys.findByHash(first)) ?? {};
    if (principal === undefined) {
      throw new Error("The key is not stored.");
    }
    const made = { id: randomUUID(), principalId: principal.id, createdBy: principal.id };
    const key = { ...made, name: "The installation's own key", hint: "…", scopes: [], createdAt: new Date() };
    await keys.add(key, own);

    await administrators.set(second, "…");

    expect(await keys.findByHash(first)).toBeUndefined();
    expect(await keys.findByHash(own)).toBeDefined();
  });

  test("the installation's own key stays the same when it is set again, also under another secret", async () => {
    const { administrators, keys } = harness().storage;
    const [first, second] = [randomUUID(), randomUUID()];
    await administrators.set(first, "…");
    const before = (await keys.findByHash(first))?.key;

    await administrators.set(first, "…");
    await administrators.set(second, "…", [randomUUID(), first]);

    expect(await keys.findByHash(first)).toBeUndefined();
    expect((await keys.findByHash(second))?.key).toEqual(before);
    await administrators.set(randomUUID(), "…", [first]);
    expect(await keys.findByHash(second)).toBeUndefined();
  });
}

function aLink({ creatorId, id, teamId }: Pick<ShareLink, "creatorId" | "id" | "teamId">): ShareLink {
  const createdAt = new Date("2026-03-01T12:00:00.000Z");
  const expiresAt = new Date("2026-03-08T12:00:00.000Z");
  return {
    id: newId(createdAt),
    teamId,
    runId: id as ShareLink["runId"],
    creatorId,
    access: "EDITOR",
    createdAt,
    expiresAt,
  };
}
