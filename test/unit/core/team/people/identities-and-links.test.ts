import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunId } from "../../../../../src/core/basics/ids.ts";
import { viewerWith } from "../../../../../src/core/model/people/api-key.ts";
import { ADMINISTRATOR_SUBJECT } from "../../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import { guestOf } from "../../../../../src/core/model/people/share-link.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { isVisible } from "../../../../../src/core/model/policies/visibility.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import { aChange, anOrigin, aRun } from "../../../../support/run-builders.ts";
import { PeopleHarness } from "./people-harness.ts";

let harness: PeopleHarness;
beforeEach(() => {
  harness = new PeopleHarness();
});

const UNKNOWN = { code: "resource_not_found" };
const INVALID = { code: "invalid_request" };
const SUBJECT = "memory:Ada";

async function current({ id }: Pick<Principal, "id">): Promise<Principal | undefined> {
  const [principal] = await harness.storage.people.getMany([id]);
  return principal;
}

describe("linking an account", () => {
  test("linking an account moves it, and disables a principal that is left without access", async () => {
    const [admin, mira] = [await harness.viewer(["admin"]), await harness.principal()];
    const before = await harness.storage.people.ensure(FIRST_TEAM, SUBJECT, "Ada");

    const link = await harness.identities.link(admin, SUBJECT, mira.id);

    expect(link).toMatchObject({ subject: SUBJECT, principalId: mira.id });
    expect((await harness.storage.people.ensure(FIRST_TEAM, SUBJECT, undefined)).id).toBe(mira.id);
    expect(await current(before)).toMatchObject({ disabled: true });
  });

  test("linking does not disable a principal with another account, a valid key or the team to manage", async () => {
    const [admin, mira] = [await harness.viewer(["admin"]), await harness.principal()];
    const { identities, people } = harness.storage;
    const both = await people.ensure(FIRST_TEAM, "memory:one", "Ada");
    await identities.link(FIRST_TEAM, "memory:two", both.id);
    const { principal: keyed } = await harness.holder(["runs:read"]);
    await identities.link(FIRST_TEAM, "memory:keyed", keyed.id);
    const boss = await harness.principal({ administrator: true });
    await identities.link(FIRST_TEAM, "memory:boss", boss.id);

    for (const subject of ["memory:one", "memory:keyed", "memory:boss"]) {
      await harness.identities.link(admin, subject, mira.id);
    }

    for (const one of [both, keyed, boss]) {
      expect(await current(one)).toMatchObject({ disabled: false });
    }
  });

  test("an expired key does not keep a principal from being disabled", async () => {
    const [admin, mira] = [await harness.viewer(["admin"]), await harness.principal()];
    const { key, principal } = await harness.holder(["runs:read"]);
    await harness.storage.identities.link(FIRST_TEAM, SUBJECT, principal.id);
    await harness.revoke(key);

    await harness.identities.link(admin, SUBJECT, mira.id);

    expect(await current(principal)).toMatchObject({ disabled: true });
  });

  test("linking an account to its principal again changes nothing", async () => {
    const admin = await harness.viewer(["admin"]);
    const ada = await harness.storage.people.ensure(FIRST_TEAM, SUBJECT, "Ada");

    await harness.identities.link(admin, SUBJECT, ada.id);

    expect(await current(ada)).toEqual(ada);
  });

  test("only active principals of the team are linked, and never to the service's own account", async () => {
    const admin = await harness.viewer(["admin"]);
    const [stranger, gone, mira] = [
      await harness.principal({ teamId: await harness.team() }),
      await harness.principal({ disabled: true }),
      await harness.principal(),
    ];
    const { identities } = harness;

    await expect(identities.link(admin, SUBJECT, stranger.id)).rejects.toMatchObject(UNKNOWN);
    await expect(identities.link(admin, SUBJECT, gone.id)).rejects.toMatchObject(INVALID);
    await expect(identities.link(admin, ADMINISTRATOR_SUBJECT, mira.id)).rejects.toMatchObject(INVALID);
    expect(await identities.list(admin)).toEqual([]);
  });
});

test("the service's own account is neither listed nor unlinked", async () => {
  const admin = await harness.viewer(["admin"]);
  await harness.storage.administrators.set("hash", "…");
  const own = await harness.storage.identities.find(FIRST_TEAM, ADMINISTRATOR_SUBJECT);

  expect(await harness.identities.list(admin)).toEqual([]);
  await expect(harness.identities.unlink(admin, own?.id ?? "")).rejects.toMatchObject(UNKNOWN);
});

test("an account of another team is not unlinked", async () => {
  const teamId = await harness.team();
  await harness.storage.people.ensure(teamId, SUBJECT, "Ada");
  const [link] = await harness.storage.identities.list(teamId);
  const operator = await harness.viewer(["admin"]);
  const admin = await harness.viewer(["admin"], { teamId });

  await expect(harness.identities.unlink(operator, link?.id ?? "")).rejects.toMatchObject(UNKNOWN);
  await harness.identities.unlink(admin, link?.id ?? "");

  expect(await harness.identities.list(admin)).toEqual([]);
});

describe("a share link", () => {
  async function aRunOf(creator: Pick<Principal, "id">, changes: Partial<Run> = {}): Promise<Run> {
    const origin = anOrigin({ creatorId: creator.id, ...changes });
    return harness.storage.runs.create(origin, aChange(aRun(origin)));
  }

  test("a share link opens its run alone until it expires", async () => {
    const maker = await harness.holder(["runs:write"]);
    const [run, other] = [await aRunOf(maker.principal, { teamOwned: false }), await aRunOf(maker.principal)];

    await harness.shareLinks.create(maker, run.id, {
      tokenHash: "hash",
      expires: { afterMs: 1_000 },
      access: "VIEWER",
    });
    const link = await harness.shareLinks.open("hash");
    await harness.clock.advance(1_000);

    if (link === undefined) {
      throw new Error("The link does not open.");
    }
    expect([run, other].map((one) => isVisible(one, guestOf(link)))).toEqual([true, false]);
    expect(await harness.shareLinks.open("hash")).toBeUndefined();
  });

  test("a share link ends when it is removed, or when its creator is disabled or may not see the run", async () => {
    const maker = await harness.holder(["admin"]);
    const someone = await harness.principal();
    const [run, hidden] = [await aRunOf(maker.principal), await aRunOf(someone, { teamOwned: false })];
    const make = (tokenHash: string, { id } = run) =>
      harness.shareLinks.create(maker, id, { tokenHash, expires: { afterMs: 1_000 }, access: "VIEWER" });
    const opening = async () => {
      const hashes = ["removed", "of the run", "of the hidden"];
      const opened = await Promise.all(hashes.map((hash) => harness.shareLinks.open(hash)));
      return hashes.filter((_, index) => opened[index] !== undefined);
    };
    const { link } = await make("removed");
    await make("of the run");
    await make("of the hidden", hidden);

    await harness.shareLinks.remove(viewerWith(maker), run.id, link.id);
    expect(await opening()).toEqual(["of the run", "of the hidden"]);
    await harness.storage.people.put({ ...maker.principal, administrator: false });
    expect(await opening()).toEqual(["of the run"]);
    await harness.storage.people.put({ ...maker.principal, disabled: true });
    expect(await opening()).toEqual([]);
  });

  test("a share link ends when the key that created it is revoked, but not with another key", async () => {
    const [maker, other] = [await harness.holder(["runs:write"]), await harness.holder(["runs:write"])];
    const run = await aRunOf(maker.principal);
    const request = { tokenHash: "hash", expires: { afterMs: 1_000 }, access: "VIEWER" } as const;
    const { link } = await harness.shareLinks.create(maker, run.id, request);

    await harness.revoke(other.key);
    expect(await harness.shareLinks.open("hash")).toMatchObject(link);
    await harness.revoke(maker.key);

    expect(await harness.shareLinks.open("hash")).toBeUndefined();
  });

  test("a run has at most a hundred share links, including expired ones", async () => {
    const maker = await harness.holder(["runs:write"]);
    const [run, other] = [await aRunOf(maker.principal), await aRunOf(maker.principal)];
    const make = (index: number, { id } = run) =>
      harness.shareLinks.create(maker, id, {
        tokenHash: `${id} ${index}`,
        expires: { afterMs: 1 },
        access: "VIEWER",
      });
    const { link } = await make(0);
    for (let index = 1; index < 100; index += 1) {
      await make(index);
    }
    await harness.clock.advance(1);

    await expect(make(100)).rejects.toMatchObject(INVALID);
    await make(100, other);
    await harness.shareLinks.remove(viewerWith(maker), run.id, link.id);
    await make(100);

    await expect(make(101)).rejects.toMatchObject(INVALID);
  });

  test("everyone who may see a run creates, lists and removes its share links", async () => {
    const [ann, ben] = [await harness.holder(["runs:write"]), await harness.holder(["runs:write"])];
    const foreign = await harness.holder(["admin"], { teamId: await harness.team() });
    const run = await aRunOf(ann.principal, { teamOwned: false });
    const request = { tokenHash: "hash", expires: { afterMs: 1_000 }, access: "VIEWER" } as const;
    const { link } = await harness.shareLinks.create(ann, run.id, request);

    for (const holder of [ben, foreign]) {
      const viewer = viewerWith(holder);
      await expect(harness.shareLinks.create(holder, run.id, request)).rejects.toMatchObject(UNKNOWN);
      await expect(harness.shareLinks.list(viewer, run.id)).rejects.toMatchObject(UNKNOWN);
      await expect(harness.shareLinks.remove(viewer, run.id, link.id)).rejects.toMatchObject(UNKNOWN);
    }
    const nowhere = randomUUID() as RunId;
    await expect(harness.shareLinks.create(ann, nowhere, request)).rejects.toMatchObject(UNKNOWN);
    const other = await aRunOf(ann.principal);
    await expect(harness.shareLinks.remove(viewerWith(ann), other.id, link.id)).rejects.toMatchObject(
      UNKNOWN,
    );
    expect(await harness.shareLinks.list(viewerWith(ann), run.id)).toEqual([link]);
  });
});
