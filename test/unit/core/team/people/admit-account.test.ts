import { beforeEach, describe, expect, test } from "vitest";
import { ADMINISTRATOR_SUBJECT } from "../../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type { Membership, ProvenAccount } from "../../../../../src/core/ports/sign-in-provider.ts";
import { admitAccount, suspend } from "../../../../../src/core/team/people/admit-account.ts";
import { PeopleHarness } from "./people-harness.ts";

let harness: PeopleHarness;
beforeEach(() => {
  harness = new PeopleHarness();
});

const SUBJECT = "memory:ann";

/** An account of a system with groups, of which `leads` administer. */
function accountOf(groups: readonly string[], changes: Partial<ProvenAccount> = {}): ProvenAccount {
  const role = groups.includes("leads");
  const entry: readonly Membership[] = role ? [{ team: FIRST_TEAM, administrator: true }] : [];
  return {
    subject: SUBJECT,
    displayName: "Ann",
    groups,
    memberships: groups.length === 0 ? [] : [...entry, { team: FIRST_TEAM }],
    isAdministratorWith: (names) => names.includes("leads"),
    decidesAlone: true,
    ...changes,
  };
}

function admit(account: ProvenAccount) {
  return admitAccount(harness.storage, account, harness.clock.now());
}

async function stored({ id }: Principal): Promise<Principal | undefined> {
  return (await harness.storage.people.getMany([id]))[0];
}

async function known(changes: Partial<Principal>): Promise<Principal> {
  const principal = await harness.storage.people.ensure(FIRST_TEAM, SUBJECT, "Ann");
  const changed = { ...principal, ...changes };
  await harness.storage.people.put(changed);
  return changed;
}

describe("the role of an administrator", () => {
  test("a role from a group ends with the group", async () => {
    await harness.principal({ administrator: true });
    const roles = [];
    for (const groups of [["leads"], ["engineers"], ["leads"]]) {
      roles.push((await admit(accountOf(groups)))?.principal.administrator);
    }

    expect(roles).toEqual([true, false, true]);
  });

  test.each<[string, Partial<Principal>, boolean]>([
    ["a group gave, of which no mark was stored", { groups: ["leads"] }, false],
    ["a group gave", { roleFromGroup: true }, false],
    ["an administrator gave", { roleFromGroup: false, groups: ["leads"] }, true],
    ["an administrator gave before marks were stored", { groups: ["engineers"] }, true],
  ])("a role that %s: does it stay without the group?", async (_who, before, stays) => {
    await harness.principal({ administrator: true });
    await known({ administrator: true, ...before });

    const admission = await admit(accountOf(["engineers"]));

    expect(admission?.principal.administrator).toBe(stays);
  });

  test("the last administrator of a team loses a role from a group, and is told", async () => {
    await admit(accountOf(["leads"]));

    expect(await admit(accountOf(["engineers"]))).toMatchObject({
      principal: { administrator: false },
      leftNoAdministrator: true,
    });
  });

  test("the last administrator keeps a role that an administrator gave, whatever a group gives", async () => {
    await known({ administrator: true, roleFromGroup: false });
    const asMember = [{ team: FIRST_TEAM, administrator: false }];

    const admission = await admit(accountOf(["engineers"], { memberships: asMember }));

    expect(admission).toMatchObject({ principal: { administrator: true }, leftNoAdministrator: false });
  });

  test("a role that an administrator gave stays one when a group gives it too", async () => {
    await harness.principal({ administrator: true });
    await known({ administrator: true, roleFromGroup: false });
    await admit(accountOf(["leads"]));

    expect((await admit(accountOf(["engineers"])))?.principal.administrator).toBe(true);
  });

  test("a role that an administrator sets is no longer from a group", async () => {
    const boss = await harness.viewer(["admin"]);
    const { id } = (await admit(accountOf(["leads"])))?.principal ?? boss;
    await harness.principals.change(boss, id, { administrator: true });

    expect((await admit(accountOf(["engineers"])))?.principal.administrator).toBe(true);
  });

  test.each([
    ["a system without groups", ["groups", "isAdministratorWith", "decidesAlone"]],
    ["a system that left the groups out", ["groups", "decidesAlone"]],
  ])("%s takes no role from a group away", async (_what, missing) => {
    await harness.principal({ administrator: true });
    await admit(accountOf(["leads"]));
    const members = Object.entries(accountOf(["engineers"])).filter(([name]) => !missing.includes(name));
    const silent = { ...(Object.fromEntries(members) as Partial<ProvenAccount>), subject: SUBJECT };

    const admission = await admit({ memberships: [], ...silent });

    expect(admission?.principal).toMatchObject({ administrator: true, groups: ["leads"] });
  });
});

describe("a person whom the system no longer lets in", () => {
  test("is suspended with keys and sign-ins, and enabled again by the next admission", async () => {
    const { principal } = (await admit(accountOf(["engineers"]))) ?? {};
    const times = { createdAt: harness.clock.now(), lastSeenAt: harness.clock.now() };
    const expiresAt = new Date(harness.clock.now().getTime() + 60_000);
    const whose = { teamId: FIRST_TEAM, principalId: principal?.id ?? raise() };
    const signIn = { id: "s1", ...whose, method: "link", ...times, expiresAt } as const;
    await harness.storage.signIns.add(signIn, { tokenHash: "hash" });

    const refused = await admit(accountOf([]));
    const suspended = await stored(principal ?? raise());
    const open = await harness.storage.signIns.listOpen(whose, harness.clock.now(), 10);
    const back = await admit(accountOf(["engineers"]));

    expect([refused, suspended?.disabled, suspended?.suspendedAt, open]).toEqual([
      undefined,
      true,
      harness.clock.now(),
      [],
    ]);
    expect(back?.principal).toMatchObject({ id: principal?.id, disabled: false });
    expect(back?.principal).not.toHaveProperty("suspendedAt");
  });

  test("another system does not let the suspended person in, and the one that decides does", async () => {
    const { principal } = (await admit(accountOf(["engineers"]))) ?? {};
    await harness.storage.identities.link(FIRST_TEAM, "chat:ann", principal?.id ?? raise());
    await admit(accountOf([]));

    expect(await admit({ subject: "chat:ann", memberships: [] })).toBeUndefined();
    expect((await stored(principal ?? raise()))?.disabled).toBe(true);

    const admission = await admit(accountOf(["engineers"]));

    expect(admission?.principal).toMatchObject({ id: principal?.id, disabled: false });
  });

  test("keeps the account with the server's own key an administrator, whatever its groups are", async () => {
    const own = await harness.storage.people.ensure(FIRST_TEAM, ADMINISTRATOR_SUBJECT, "Administrator");
    await harness.storage.people.put({ ...own, administrator: true, groups: ["leads"] });
    await harness.principal({ administrator: true });
    await harness.storage.identities.link(FIRST_TEAM, SUBJECT, own.id);

    const admission = await admit(
      accountOf(["engineers"], { memberships: [{ team: FIRST_TEAM, administrator: false }] }),
    );

    expect(admission?.principal).toMatchObject({ id: own.id, administrator: true });
    expect((await stored(own))?.administrator).toBe(true);
  });

  test("leaves a role that an administrator gave in a team that the groups do not name", async () => {
    const other = await harness.team();
    const ben = await harness.principal({ teamId: other, administrator: true, groups: ["leads"] });
    await harness.storage.identities.link(other, SUBJECT, ben.id);
    const isAdministratorWith: ProvenAccount["isAdministratorWith"] = (names, team) =>
      names.includes("leads") && team.includes(FIRST_TEAM);

    const admission = await admit(accountOf(["leads"], { isAdministratorWith }));

    expect(admission?.principal).toMatchObject({ id: ben.id, administrator: true });
  });

  test("stays if an administrator linked the account", async () => {
    const ann = await harness.principal();
    await harness.storage.identities.link(FIRST_TEAM, SUBJECT, ann.id);

    expect((await admit(accountOf([])))?.principal).toMatchObject({ id: ann.id, disabled: false });
  });

  test("stays if the system does not decide alone, because the account is known from messages", async () => {
    const guest = await known({});

    expect(await admit({ subject: SUBJECT, memberships: [] })).toBeUndefined();
    expect((await stored(guest))?.disabled).toBe(false);
  });

  test("is suspended in the team that a group no longer names, and is a member of the other", async () => {
    const other = await harness.team();
    const { principal } = (await admit(accountOf(["engineers"]))) ?? {};

    const moved = await admit(accountOf(["platform"], { memberships: [{ team: other }] }));

    expect(moved?.principal.teamId).toBe(other);
    expect((await stored(principal ?? raise()))?.suspendedAt).toBeDefined();
  });

  test("stays disabled if an administrator disabled the principal", async () => {
    const boss = await harness.viewer(["admin"]);
    const { principal } = (await admit(accountOf(["engineers"]))) ?? {};
    await admit(accountOf([]));
    await harness.principals.change(boss, principal?.id ?? raise(), { disabled: true });

    expect(await admit(accountOf(["engineers"]))).toBeUndefined();
  });

  test("the account with the server's own key is never suspended", async () => {
    const own = await harness.storage.people.ensure(FIRST_TEAM, ADMINISTRATOR_SUBJECT, "Administrator");

    await suspend(harness.storage, own, harness.clock.now());

    expect(await stored(own)).toMatchObject({ disabled: false });
  });
});

describe("what the system says about a person", () => {
  test("an address and a name lose what nobody sees, or do not count", async () => {
    const account = accountOf(["engineers"], { displayName: "An\u202en\u200b", email: "ann@acme.test\n" });

    const admission = await admit(account);

    expect(admission?.principal).toMatchObject({ displayName: "Ann" });
    expect(admission?.principal).not.toHaveProperty("email");
  });
});

function raise(): never {
  throw new Error("The account was not admitted.");
}
