import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/basics/ids.ts";
import type { DeviceCode } from "../../../src/core/model/people/device-code.ts";
import type { SignIn } from "../../../src/core/model/people/sign-in.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { SignInLink } from "../../../src/core/ports/stores/sign-in-store.ts";
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

  describe("renewals of sign-ins", () => {
    test("an attempt leads to one sign-in, however often it is used at the same time", async () => {
      const { signIns } = harness().storage;
      const attemptHash = randomUUID();
      const rows = await Promise.all(Array.from({ length: 5 }, () => aSignIn(harness())));

      const added = await Promise.all(
        rows.map((row) => signIns.add(row, { tokenHash: randomUUID(), attemptHash })),
      );
      const others = await signIns.add(await aSignIn(harness()), {
        tokenHash: randomUUID(),
        attemptHash: randomUUID(),
      });

      expect(added.filter(Boolean)).toHaveLength(1);
      expect(others).toBe(true);
    });

    test("a due renewal is claimed once, and again after its claim has passed", async () => {
      const { signIns } = harness().storage;
      const row = await renewable(harness(), "sealed");

      const claims = await Promise.all(Array.from({ length: 4 }, () => claim(harness(), row.createdAt)));
      const early = await claim(harness(), new Date(row.createdAt.getTime() + 1_000));
      const repeated = await claim(harness(), new Date(row.createdAt.getTime() + 60_000));

      const mine = claims.flat().filter(({ signIn }) => signIn.id === row.id);
      expect(mine).toMatchObject([
        { sealedRenewal: "sealed", isRepeated: false, signIn: { isRenewable: true } },
      ]);
      expect(early.filter(({ signIn }) => signIn.id === row.id)).toEqual([]);
      expect(repeated.find(({ signIn }) => signIn.id === row.id)).toMatchObject({ isRepeated: true });
      await signIns.end({ teamId: row.teamId, principalId: row.principalId }, row.createdAt);
    });

    test("a renewed sign-in is due later, an unanswered one stays claimed, and an unclear one is never due", async () => {
      const { signIns } = harness().storage;
      const [proven, unanswered, unclear] = [
        await renewable(harness(), "a"),
        await renewable(harness(), "b"),
        await renewable(harness(), "c"),
      ];
      const at = proven.createdAt;
      const next = new Date(at.getTime() + 120_000);
      await claim(harness(), unclear.createdAt);

      await signIns.renewed(proven.id, { provenAt: next, sealedRenewal: "a2" });
      await signIns.renewed(unanswered.id, { sealedRenewal: "b2" });
      await signIns.renewed(unclear.id, {});

      const ids = new Set([proven.id, unanswered.id, unclear.id]);
      const due = async (now: Date) =>
        (await claim(harness(), now)).filter(({ signIn }) => ids.has(signIn.id));
      expect(await due(new Date(at.getTime() + 1_000))).toEqual([]);
      expect(await due(new Date(at.getTime() + 90_000))).toMatchObject([
        { signIn: { id: unanswered.id }, sealedRenewal: "b2", isRepeated: true },
      ]);
      expect((await due(new Date(at.getTime() + 180_000))).map(({ sealedRenewal }) => sealedRenewal)).toEqual(
        expect.arrayContaining(["a2", "b2"]),
      );
    });

    test("an ended sign-in has no renewal, and no outcome opens it again", async () => {
      const { signIns } = harness().storage;
      const row = await renewable(harness(), "sealed");

      await signIns.end({ teamId: row.teamId, principalId: row.principalId }, row.createdAt);
      await signIns.renewed(row.id, { provenAt: row.createdAt, sealedRenewal: "again" });

      const claimed = await claim(harness(), new Date(row.createdAt.getTime() + 60_000));
      expect(claimed.filter(({ signIn }) => signIn.id === row.id)).toEqual([]);
    });

    test("of several pages at once, one asks again, and none before the pause has passed", async () => {
      const { signIns } = harness().storage;
      const row = await aSignIn(harness());
      await signIns.add(row, { tokenHash: randomUUID() });
      const [now, until] = [row.createdAt, new Date(row.createdAt.getTime() + 60_000)];

      const tries = await Promise.all(
        Array.from({ length: 4 }, () => signIns.postponeProof(row.id, now, until)),
      );

      expect(tries.filter(Boolean)).toHaveLength(1);
      expect(await signIns.postponeProof(row.id, justBefore(until), until)).toBe(false);
      expect(await signIns.postponeProof(row.id, until, new Date(until.getTime() + 1))).toBe(true);
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

async function aSignIn(harness: StorageHarness): Promise<SignIn> {
  const { id: principalId, teamId } = await aPerson(harness);
  const now = harness.clock.now();
  const expiresAt = new Date(now.getTime() + 3_600_000);
  return { id: newId(now), teamId, principalId, method: "oidc", createdAt: now, lastSeenAt: now, expiresAt };
}

async function renewable(harness: StorageHarness, sealedRenewal: string): Promise<SignIn> {
  const row = await aSignIn(harness);
  await harness.storage.signIns.add(row, { tokenHash: randomUUID(), sealedRenewal });
  return row;
}

/** Claims what was proven until `now`, for 50 seconds. */
function claim({ storage }: StorageHarness, now: Date) {
  const until = new Date(now.getTime() + 50_000);
  return storage.signIns.claimRenewals({ now, provenBefore: now, until, limit: 100 });
}
