import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import type { ProvenAccount } from "../../../../src/core/ports/sign-in-provider.ts";
import type { Storage } from "../../../../src/core/ports/stores/storage.ts";
import { admitAccount as admit } from "../../../../src/core/team/people/admit-account.ts";
import { PeopleHarness } from "../team/people/people-harness.ts";

async function admitAccount(storage: Storage, account: ProvenAccount): Promise<Principal | undefined> {
  return (await admit(storage, account, new Date()))?.principal;
}

let harness: PeopleHarness;
beforeEach(() => {
  harness = new PeopleHarness();
});

const ACCOUNT: ProvenAccount = { subject: "memory:ann", displayName: "Ann", memberships: [] };
const IN_WORKSPACE = { adapter: "memory", installation: "T1" };

describe("an account that proved who it is", () => {
  test("an account without a membership is admitted only if an administrator linked it", async () => {
    const { identities, people } = harness.storage;
    const ann = await harness.principal();

    const before = await admitAccount(harness.storage, ACCOUNT);
    await people.ensure(FIRST_TEAM, ACCOUNT.subject, "Ann");
    const seen = await admitAccount(harness.storage, ACCOUNT);
    await identities.link(FIRST_TEAM, ACCOUNT.subject, ann.id);

    expect([before, seen]).toEqual([undefined, undefined]);
    expect(await admitAccount(harness.storage, ACCOUNT)).toEqual(ann);
  });

  test("a member of an enabled installation becomes a member of its team", async () => {
    const teamId = await harness.team();
    const { installations, people } = harness.storage;
    const installed = await installations.ensure("memory", "T1");
    await installations.update({ ...installed, teamId });

    const ann = await admitAccount(harness.storage, { ...ACCOUNT, memberships: [IN_WORKSPACE] });

    expect(ann).toMatchObject({ teamId, displayName: "Ann", administrator: false });
    expect(await people.list(teamId)).toEqual([ann]);
  });

  test("an installation that is disabled or unknown admits nobody", async () => {
    const { installations } = harness.storage;
    await installations.ensure("memory", "T0");
    await installations.ensure("memory", "T1");
    const ofUnknown = { ...IN_WORKSPACE, installation: "T2" };

    const admitted = await admitAccount(harness.storage, {
      ...ACCOUNT,
      memberships: [IN_WORKSPACE, ofUnknown],
    });

    expect(admitted).toBeUndefined();
    expect((await installations.list()).map(({ externalId }) => externalId)).toEqual(["T0", "T1"]);
  });

  test("an installation that the operator configured admits before its first message", async () => {
    const memberships = [{ ...IN_WORKSPACE, isConfigured: true }] as const;

    expect(await admitAccount(harness.storage, { ...ACCOUNT, memberships })).toMatchObject({
      teamId: FIRST_TEAM,
    });
  });

  test("a disabled principal is not admitted", async () => {
    const ann = await harness.principal({ disabled: true });
    await harness.storage.identities.link(FIRST_TEAM, ACCOUNT.subject, ann.id);

    expect(await admitAccount(harness.storage, ACCOUNT)).toBeUndefined();
  });

  test("the role that is granted holds, except that a team keeps its last administrator", async () => {
    const [boss, other] = [await harness.principal({ administrator: true }), await harness.principal()];
    const { identities } = harness.storage;
    await identities.link(FIRST_TEAM, "memory:boss", boss.id);
    await identities.link(FIRST_TEAM, "memory:other", other.id);
    const admitAs = (name: string, administrator: boolean) =>
      admitAccount(harness.storage, {
        subject: `memory:${name}`,
        memberships: [{ team: FIRST_TEAM, administrator }],
      });

    const last = await admitAs("boss", false);
    const promoted = await admitAs("other", true);
    const demoted = await admitAs("boss", false);

    expect([last, promoted, demoted].map((one) => one?.administrator)).toEqual([true, true, false]);
  });

  test("the verified address is stored if there is none yet", async () => {
    const memberships = [{ team: FIRST_TEAM }];
    const first = await admitAccount(harness.storage, { ...ACCOUNT, memberships, email: "ann@acme.test" });
    const later = await admitAccount(harness.storage, { ...ACCOUNT, memberships, email: "new@acme.test" });

    expect([first?.email, later?.email]).toEqual(["ann@acme.test", "ann@acme.test"]);
  });
});
