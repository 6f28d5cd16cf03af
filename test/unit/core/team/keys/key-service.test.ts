import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { PrincipalId } from "../../../../../src/core/basics/ids.ts";
import {
  hasScope,
  isAlive,
  type KeyHolder,
  type Scope,
} from "../../../../../src/core/model/people/api-key.ts";
import { ADMINISTRATOR_SUBJECT } from "../../../../../src/core/model/people/identity.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { KEYS_MAX } from "../../../../../src/core/team/keys/key-service.ts";
import { PeopleHarness } from "../people/people-harness.ts";

let harness: PeopleHarness;
beforeEach(() => {
  harness = new PeopleHarness();
});

const WRITES: readonly Scope[] = ["settings:write"];

async function isOpen(secret: string): Promise<boolean> {
  const holder = await harness.find(secret);
  return holder !== undefined && isAlive(holder, harness.clock.now());
}

describe("a new key", () => {
  test("a principal has a limited number of valid keys, whether they are created or rotated", async () => {
    const caller = await harness.holder(WRITES);
    const create = () => harness.keys.create(caller, { name: "x", scopes: [] });
    const first = await create();
    // One is the caller's own.
    for (let made = 2; made < KEYS_MAX; made += 1) {
      await create();
    }

    const refusal = { code: "invalid_request", message: `This account has ${KEYS_MAX} valid keys already.` };
    await expect(create()).rejects.toMatchObject(refusal);
    await expect(harness.keys.rotate(caller, first.key.id, 60_000)).rejects.toMatchObject(refusal);
    const rotated = await harness.keys.rotate(caller, first.key.id, 0);
    await harness.keys.revoke(caller, rotated.key.id);
    expect((await create()).key.principalId).toBe(caller.principal.id);
  });

  test("a new key belongs to its creator, is shown once and is stored as a hash", async () => {
    const caller = await harness.holder(["settings:write", "runs:write"]);

    const { key, secret } = await harness.keys.create(caller, { name: "ci", scopes: ["runs:write"] });

    expect((await harness.find(secret))?.key).toEqual(key);
    expect(key).toMatchObject({
      name: "ci",
      principalId: caller.principal.id,
      createdBy: caller.principal.id,
    });
    expect(JSON.stringify(key)).not.toContain(secret);
  });

  test.each<[readonly Scope[], readonly Scope[], boolean]>([
    [["settings:write", "runs:write"], ["runs:read", "settings:read"], true],
    [["settings:write", "runs:read"], ["runs:write"], false],
    [["settings:write"], ["runs:read"], false],
    [["settings:write"], ["admin"], false],
    [["admin"], ["admin", "runs:write", "settings:write"], true],
  ])("a key with %j may create a key with %j: %j", async (own, scopes, isAllowed) => {
    const creation = harness.keys.create(await harness.holder(own), { name: "x", scopes });

    if (isAllowed) {
      expect((await creation).key.scopes).toEqual(scopes);
    } else {
      await expect(creation).rejects.toMatchObject({ code: "not_authorized" });
    }
  });

  test("only an administrator may own a key with the scope admin, no matter who creates it", async () => {
    const [admin, member] = [await harness.holder(["admin"]), await harness.principal()];
    const request = { name: "x", scopes: ["admin"], principalId: member.id } as const;

    await expect(harness.keys.create(admin, request)).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("an administrator creates keys for active members of the team", async () => {
    const [admin, member] = [await harness.holder(["admin"]), await harness.holder(WRITES)];
    const [ada, gone] = [await harness.principal(), await harness.principal({ disabled: true })];
    const outsider = await harness.principal({ teamId: await harness.team() });
    const give = (caller: KeyHolder, principalId: PrincipalId) =>
      harness.keys.create(caller, { name: "x", scopes: ["settings:read"], principalId });

    expect((await give(admin, ada.id)).key).toMatchObject({
      principalId: ada.id,
      createdBy: admin.principal.id,
    });
    await expect(give(member, ada.id)).rejects.toMatchObject({ code: "not_authorized" });
    await expect(give(admin, gone.id)).rejects.toMatchObject({ code: "invalid_request" });
    const foreign = await harness.holder(["admin"], { teamId: outsider.teamId });
    await expect(give(foreign, ada.id)).rejects.toMatchObject({ code: "resource_not_found" });
    await expect(give(admin, randomUUID() as PrincipalId)).rejects.toMatchObject({
      code: "resource_not_found",
    });
  });

  test("an operator creates keys of another team until that team has a working key", async () => {
    const [operator, teamId] = [await harness.holder(["admin"]), await harness.team()];
    const boss = await harness.principal({ teamId, administrator: true });
    const give = () =>
      harness.keys.create(operator, { name: "first", scopes: ["admin"], principalId: boss.id });

    const first = await give();
    await expect(give()).rejects.toMatchObject({ code: "resource_not_found" });
    await harness.revoke(first.key, teamId);
    const again = await give();

    expect([first.key.principalId, again.key.principalId]).toEqual([boss.id, boss.id]);
  });

  test("only an operator creates keys of another team, even if that team has none", async () => {
    const admin = await harness.holder(["admin"], { teamId: await harness.team() });
    const boss = await harness.principal({ teamId: await harness.team(), administrator: true });

    const creation = harness.keys.create(admin, { name: "x", scopes: ["admin"], principalId: boss.id });

    await expect(creation).rejects.toMatchObject({ code: "resource_not_found" });
  });

  test("the expiry of a new key is in the future", async () => {
    const caller = await harness.holder(["admin"]);
    const make = (expiresAt: Date) =>
      harness.keys.create(caller, { name: "x", scopes: ["runs:read"], expiresAt });

    await expect(make(harness.clock.now())).rejects.toMatchObject({
      options: { issues: [{ path: "expires_at" }] },
    });
    const { secret } = await make(new Date(harness.clock.now().getTime() + 1_000));
    expect(await isOpen(secret)).toBe(true);
    await harness.clock.advance(1_000);
    expect(await isOpen(secret)).toBe(false);
  });
});

describe("keys", () => {
  test("a key is visible to its principal and to the administrators of the team", async () => {
    const [admin, ada] = [await harness.holder(["admin"]), await harness.holder(WRITES)];
    const foreign = await harness.holder(["admin"], { teamId: await harness.team() });
    const ids = async (caller: KeyHolder, whose?: PrincipalId) =>
      (await harness.keys.list(caller, whose)).map(({ id }) => id);

    expect(new Set(await ids(admin))).toEqual(new Set([admin.key.id, ada.key.id]));
    expect(await ids(admin, ada.principal.id)).toEqual([ada.key.id]);
    expect(await ids(ada)).toEqual([ada.key.id]);
    expect(await ids(ada, admin.principal.id)).toEqual([]);
    expect(await ids(foreign)).toEqual([foreign.key.id]);
    await expect(harness.keys.get(ada, admin.key.id)).rejects.toMatchObject({ code: "resource_not_found" });
  });

  test("a key is changed and revoked only by callers who see it", async () => {
    const [ada, ben] = [await harness.holder(WRITES), await harness.holder(WRITES)];
    const foreign = await harness.holder(["admin"], { teamId: await harness.team() });

    for (const caller of [ben, foreign]) {
      for (const write of [
        () => harness.keys.change(caller, ada.key.id, { name: "mine" }),
        () => harness.keys.revoke(caller, ada.key.id),
        () => harness.keys.rotate(caller, ada.key.id, 0),
      ]) {
        await expect(write()).rejects.toMatchObject({ code: "resource_not_found" });
      }
    }

    expect(await harness.keys.get(ada, ada.key.id)).toEqual(ada.key);
  });

  test("a key without the scope admin sees its own principal's keys only, even for an administrator", async () => {
    const careful = await harness.holder(WRITES, { administrator: true });
    await harness.holder(["admin"]);

    expect(await harness.keys.list(careful)).toHaveLength(1);
    expect(hasScope(careful, "admin")).toBe(false);
  });

  test("a key gets another name and expiry, but an ended key stays ended", async () => {
    const caller = await harness.holder(["admin"]);
    const { key } = await harness.keys.create(caller, { name: "x", scopes: ["runs:read"] });
    const later = new Date(harness.clock.now().getTime() + 5_000);

    expect(await harness.keys.change(caller, key.id, { name: "y", expiresAt: later })).toMatchObject({
      name: "y",
      expiresAt: later,
    });
    await harness.keys.revoke(caller, key.id);
    await expect(harness.keys.change(caller, key.id, { expiresAt: later })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(await harness.keys.change(caller, key.id, { name: "z" })).toMatchObject({ name: "z" });
  });

  test("a key ends when it is revoked, and the time of the revocation stays", async () => {
    const caller = await harness.holder(["admin"]);
    const { key, secret } = await harness.keys.create(caller, { name: "x", scopes: ["runs:read"] });
    const revokedAt = harness.clock.now();

    await harness.keys.revoke(caller, key.id);
    await harness.clock.advance(1_000);
    await harness.keys.revoke(caller, key.id);

    expect([await isOpen(secret), (await harness.find(secret))?.key.revokedAt]).toEqual([false, revokedAt]);
  });
});

describe("a key that was created with another one", () => {
  const scopes: readonly Scope[] = ["settings:write"];
  const inMs = (ms: number) => new Date(harness.clock.now().getTime() + ms);

  /** A key of the caller's principal, created with the caller's key, and its holder. */
  async function child(caller: KeyHolder, changes: { readonly expiresAt?: Date } = {}) {
    const made = await harness.keys.create(caller, { name: "x", scopes, ...changes });
    const holder: KeyHolder = { principal: caller.principal, scopes, key: made.key };
    return { ...made, holder };
  }

  const keyOf = async (secret: string) => (await harness.find(secret))?.key;

  test("a key created with another one names that key and ends no later, whatever expiry it was given", async () => {
    const caller = await harness.holder(scopes);
    const parent = await child(caller, { expiresAt: inMs(5_000) });

    const [same, earlier] = [await child(parent.holder), await child(parent.holder, { expiresAt: inMs(10) })];

    expect(parent.key.createdByKey).toBe(caller.key?.id);
    expect([same.key.createdByKey, earlier.key.createdByKey]).toEqual([parent.key.id, parent.key.id]);
    expect([same.key.expiresAt, earlier.key.expiresAt]).toEqual([inMs(5_000), inMs(10)]);
    await expect(child(parent.holder, { expiresAt: inMs(5_001) })).rejects.toMatchObject({
      code: "invalid_request",
      options: { issues: [{ path: "expires_at" }] },
    });
    const change = { expiresAt: inMs(5_001) };
    await expect(harness.keys.change(caller, same.key.id, change)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  test("a key created with another one ends earlier when the other key gets an earlier expiry", async () => {
    const caller = await harness.holder(scopes);
    const parent = await child(caller);
    const [endless, short] = [
      await child(parent.holder),
      await child(parent.holder, { expiresAt: inMs(10) }),
    ];
    const grandchild = await child(endless.holder);

    await harness.keys.change(caller, parent.key.id, { expiresAt: inMs(100) });

    const ends = [endless, short, grandchild].map(async ({ secret }) => (await keyOf(secret))?.expiresAt);
    expect(await Promise.all(ends)).toEqual([inMs(100), inMs(10), inMs(100)]);
  });

  test("a key created with another one is revoked together with it only when descendants are", async () => {
    const caller = await harness.holder(scopes);
    const [one, two] = [await child(caller), await child(caller)];
    const grandchildren = [await child((await child(one.holder)).holder), await child(two.holder)];

    await harness.keys.revoke(caller, two.key.id);
    await harness.keys.revoke(caller, one.key.id, { descendants: true });

    expect(await Promise.all(grandchildren.map(({ secret }) => isOpen(secret)))).toEqual([false, true]);
    expect(await isOpen(two.secret)).toBe(false);
  });

  test("a key belongs to the new key after a rotation, and a key that replaces itself is no descendant of itself", async () => {
    const caller = await harness.holder(scopes);
    const parent = await child(caller);
    const kept = await child(parent.holder);

    const fresh = await harness.keys.rotate(parent.holder, parent.key.id, 1_000);
    await harness.clock.advance(1_000);

    expect(fresh.key.createdByKey).toBe(caller.key?.id);
    expect((await keyOf(kept.secret))?.createdByKey).toBe(fresh.key.id);
    expect([await isOpen(parent.secret), await isOpen(fresh.secret), await isOpen(kept.secret)]).toEqual([
      ...[false, true, true],
    ]);
    await harness.keys.revoke(caller, fresh.key.id, { descendants: true });
    expect(await isOpen(kept.secret)).toBe(false);
  });
});

test("all keys of a principal are revoked at once, by itself and by administrators, except the installation's own", async () => {
  const { administrators, identities } = harness.storage;
  await administrators.set("hash of the key", "…");
  const own = (await identities.find(FIRST_TEAM, ADMINISTRATOR_SUBJECT))?.principalId as PrincipalId;
  const [admin, member] = [await harness.holder(["admin"]), await harness.holder(["settings:write"])];
  const other = await harness.keys.create(member, { name: "x", scopes: ["settings:write"] });
  await harness.keys.revoke(member, other.key.id);
  await harness.keys.create(member, { name: "y", scopes: ["settings:write"] });

  const count = await harness.keys.revokeAllOf(admin, member.principal.id);

  expect(count).toBe((await harness.keys.list(admin, member.principal.id)).length - 1);
  expect(await harness.keys.revokeAllOf(admin, member.principal.id)).toBe(0);
  expect(await harness.keys.revokeAllOf(admin, own)).toBe(0);
  await expect(harness.keys.revokeAllOf(member, admin.principal.id)).rejects.toMatchObject({
    code: "not_authorized",
  });
  await expect(harness.keys.revokeAllOf(admin, randomUUID() as PrincipalId)).rejects.toMatchObject({
    code: "resource_not_found",
  });
});

describe("a rotated key", () => {
  test("a rotated key keeps its properties, and the old key is refused", async () => {
    const caller = await harness.holder(["admin"]);
    const member = await harness.principal();
    const expiresAt = new Date(harness.clock.now().getTime() + 9_000);
    const request = { name: "ci", scopes: ["runs:write"], expiresAt, principalId: member.id } as const;
    const old = await harness.keys.create(caller, request);

    const fresh = await harness.keys.rotate(caller, old.key.id, 0);

    const { createdAt, id, hint, ...same } = old.key;
    expect(fresh.key).toMatchObject(same);
    expect([fresh.key.id === id, fresh.secret === old.secret]).toEqual([false, false]);
    expect([await isOpen(old.secret), await isOpen(fresh.secret)]).toEqual([false, true]);
  });

  test("the old key stays valid for the requested overlap, but never longer than its expiry", async () => {
    const caller = await harness.holder(["admin"]);
    const make = async (lifeMs?: number) =>
      harness.keys.create(caller, {
        name: "ci",
        scopes: ["runs:write"],
        ...(lifeMs === undefined ? {} : { expiresAt: new Date(harness.clock.now().getTime() + lifeMs) }),
      });
    const [endless, short] = [await make(), await make(1_000)];

    await harness.keys.rotate(caller, endless.key.id, 5_000);
    await harness.keys.rotate(caller, short.key.id, 5_000);

    await harness.clock.advance(999);
    expect([await isOpen(endless.secret), await isOpen(short.secret)]).toEqual([true, true]);
    await harness.clock.advance(1);
    expect([await isOpen(endless.secret), await isOpen(short.secret)]).toEqual([true, false]);
    await harness.clock.advance(4_000);
    expect(await isOpen(endless.secret)).toBe(false);
  });

  test("a key is rotated neither by a weaker key nor after its end", async () => {
    const owner = await harness.holder(["runs:write", "settings:write"]);
    const strong = await harness.keys.create(owner, { name: "x", scopes: ["runs:write"] });
    const weak = { ...owner, scopes: WRITES };

    await expect(harness.keys.rotate(weak, strong.key.id, 0)).rejects.toMatchObject({
      code: "not_authorized",
    });
    await harness.keys.revoke(weak, strong.key.id);
    await expect(harness.keys.rotate(owner, strong.key.id, 0)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });
});

test("the installation's own key is revoked only by changing the configuration", async () => {
  const { administrators, identities } = harness.storage;
  await administrators.set("hash of the key", "…");
  const link = await identities.find(FIRST_TEAM, ADMINISTRATOR_SUBJECT);
  const caller = await harness.find("the key");
  if (caller === undefined) {
    throw new Error("The key is not stored.");
  }
  const later = new Date(harness.clock.now().getTime() + 5_000);

  const { id } = caller.key;
  for (const end of [
    () => harness.keys.revoke(caller, id),
    () => harness.keys.rotate(caller, id, 0),
    () => harness.keys.change(caller, id, { expiresAt: later }),
  ]) {
    await expect(end()).rejects.toMatchObject({ code: "invalid_request" });
  }

  expect((await harness.find("the key"))?.principal.id).toBe(link?.principalId);
  expect(await harness.keys.change(caller, id, { name: "Ours" })).toMatchObject({ name: "Ours" });
});
