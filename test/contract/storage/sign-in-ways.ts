import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import type { DeviceCode } from "../../../src/core/people/device-code.ts";
import type { SignInLink } from "../../../src/core/people/sign-in-link.ts";
import { FIRST_TEAM } from "../../../src/core/people/team.ts";
import { aPerson, type StorageHarness } from "./harness.ts";

export function describeSignInWays(harness: () => StorageHarness): void {
  describe("sign-in links", () => {
    test("a sign-in link is found by its token's hash until it expires", async () => {
      const { signInLinks } = harness().storage;
      const [hash, link] = [randomUUID(), await aLink(harness())];

      await signInLinks.add(link, hash);

      expect(await signInLinks.findByHash(hash, justBefore(link.expiresAt))).toEqual(link);
      expect(await signInLinks.findByHash(hash, link.expiresAt)).toBeUndefined();
      expect(await signInLinks.findByHash(randomUUID(), justBefore(link.expiresAt))).toBeUndefined();
    });

    test("of two links with one id, the second is not stored", async () => {
      const { signInLinks } = harness().storage;
      const [first, second, link] = [randomUUID(), randomUUID(), await aLink(harness())];

      expect(await signInLinks.add(link, first)).toBe(true);
      expect(await signInLinks.add(link, second)).toBe(false);

      expect(await signInLinks.findByHash(second, justBefore(link.expiresAt))).toBeUndefined();
    });

    test("exactly one of several concurrent uses gets a sign-in link", async () => {
      const { signInLinks } = harness().storage;
      const [hash, link] = [randomUUID(), await aLink(harness())];
      await signInLinks.add(link, hash);
      const usedAt = justBefore(link.expiresAt);

      const uses = await Promise.all(Array.from({ length: 5 }, () => signInLinks.use(hash, usedAt)));

      expect(uses.filter((used) => used !== undefined)).toEqual([{ ...link, usedAt }]);
      expect(await signInLinks.findByHash(hash, usedAt)).toBeUndefined();
    });

    test("an expired sign-in link is not used, and is deleted", async () => {
      const { clock, storage } = harness();
      const [hash, hashOfLater] = [randomUUID(), randomUUID()];
      const expiresAt = justBefore(clock.now());
      const link = { ...(await aLink(harness())), expiresAt };
      const later = { ...(await aLink(harness())), expiresAt: new Date(clock.now().getTime() + 60_000) };
      await storage.signInLinks.add(link, hash);
      await storage.signInLinks.add(later, hashOfLater);

      expect(await storage.signInLinks.use(hash, expiresAt)).toBeUndefined();
      expect(await storage.signInLinks.prune()).toBeGreaterThan(0);
      expect(await storage.signInLinks.findByHash(hash, justBefore(expiresAt))).toBeUndefined();
      expect(await storage.signInLinks.findByHash(hashOfLater, clock.now())).toEqual(later);
    });
  });

  describe("device codes", () => {
    test("a device code is found by either of its hashes, as it was last stored", async () => {
      const { storage } = harness();
      const [code, hashes, principal] = [aCode(harness()), someHashes(), await aPerson(harness())];
      await storage.deviceCodes.add(code, hashes);
      const { deviceCodeHash, userCodeHash } = hashes;
      const added = await storage.deviceCodes.lock({ deviceCodeHash });
      const approved: DeviceCode = {
        ...code,
        status: "approved",
        interval: 10,
        lastPolledAt: justBefore(code.expiresAt),
        teamId: principal.teamId,
        principalId: principal.id,
        keyId: randomUUID(),
        scopes: ["runs:write", "settings:write"],
      };

      await storage.deviceCodes.update(approved);

      expect(added).toEqual(code);
      expect(await storage.deviceCodes.lock({ deviceCodeHash })).toEqual(approved);
      expect(await storage.deviceCodes.lock({ userCodeHash })).toEqual(approved);
      expect(await storage.deviceCodes.lock(someHashes())).toBeUndefined();
    });

    test("only the approved device codes of a principal are denied", async () => {
      const { storage } = harness();
      const [mine, other] = [await aPerson(harness()), await aPerson(harness())];
      const approved = { teamId: FIRST_TEAM, status: "approved" } as const;
      const codes: readonly DeviceCode[] = [
        { ...aCode(harness()), ...approved, principalId: mine.id },
        { ...aCode(harness()), ...approved, principalId: mine.id, status: "used" },
        { ...aCode(harness()), ...approved, principalId: other.id },
      ];
      const hashes = codes.map(someHashes);
      for (const [index, code] of codes.entries()) {
        await storage.deviceCodes.add(code, hashes[index] ?? someHashes());
      }

      await storage.deviceCodes.denyApproved(mine.id);

      const stored = await Promise.all(hashes.map((each) => storage.deviceCodes.lock(each)));
      expect(stored.map((code) => code?.status)).toEqual(["denied", "used", "approved"]);
    });

    test("transactions that lock the same device code wait for each other", async () => {
      const { storage } = harness();
      const [code, hashes] = [aCode(harness()), someHashes()];
      await storage.deviceCodes.add(code, hashes);
      const pollOnce = () =>
        storage.atomically(async ({ deviceCodes }) => {
          const locked = await deviceCodes.lock(hashes);
          if (locked !== undefined) {
            await deviceCodes.update({ ...locked, interval: locked.interval + 1 });
          }
        });

      await Promise.all(Array.from({ length: 5 }, pollOnce));

      expect((await storage.deviceCodes.lock(hashes))?.interval).toBe(code.interval + 5);
    });

    test("transactions that lock the same network count what the others have added", async () => {
      const { clock, storage } = harness();
      const address = randomUUID();
      const addUnlessFull = () =>
        storage.atomically(async ({ deviceCodes }) => {
          await deviceCodes.lockNetwork(address);
          if ((await deviceCodes.countOpen(address, clock.now())) < 3) {
            await deviceCodes.add({ ...aCode(harness()), address }, someHashes());
          }
        });

      await Promise.all(Array.from({ length: 8 }, addUnlessFull));

      expect(await storage.deviceCodes.countOpen(address, clock.now())).toBe(3);
    });

    test("the open device codes of a network are counted, and expired ones are deleted", async () => {
      const { clock, storage } = harness();
      const [address, expiredHashes, openHashes] = [randomUUID(), someHashes(), someHashes()];
      const expired = { ...aCode(harness()), address, expiresAt: justBefore(clock.now()) };
      const open = { ...aCode(harness()), address };
      await storage.deviceCodes.add(expired, expiredHashes);
      await storage.deviceCodes.add(open, openHashes);
      await storage.deviceCodes.add(aCode(harness()), someHashes());

      expect(await storage.deviceCodes.countOpen(address, clock.now())).toBe(1);
      expect(await storage.deviceCodes.prune()).toBeGreaterThan(0);
      expect(await storage.deviceCodes.lock(expiredHashes)).toBeUndefined();
      expect(await storage.deviceCodes.lock(openHashes)).toEqual(open);
    });
  });
}

async function aLink(harness: StorageHarness): Promise<SignInLink> {
  const { id: principalId, teamId } = await aPerson(harness);
  const createdAt = harness.clock.now();
  const expiresAt = new Date(createdAt.getTime() + 600_000);
  return { id: newId(createdAt), teamId, principalId, createdAt, expiresAt };
}

function aCode({ clock }: StorageHarness): DeviceCode {
  const createdAt = clock.now();
  return {
    id: newId(createdAt),
    clientName: "a program",
    address: randomUUID(),
    status: "pending",
    interval: 5,
    scopes: [],
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 600_000),
  };
}

function someHashes(): { readonly deviceCodeHash: string; readonly userCodeHash: string } {
  return { deviceCodeHash: randomUUID(), userCodeHash: randomUUID() };
}

function justBefore(date: Date): Date {
  return new Date(date.getTime() - 1);
}
