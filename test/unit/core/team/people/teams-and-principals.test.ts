import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { PeopleHarness } from "./people-harness.ts";

let harness: PeopleHarness;
beforeEach(() => {
  harness = new PeopleHarness();
});

const UNKNOWN = { code: "resource_not_found" };
const FORBIDDEN = { code: "not_authorized" };
const INVALID = { code: "invalid_request" };
const ROBOT = { type: "service_account", displayName: "CI", administrator: false } as const;

describe("teams", () => {
  test("operators create teams and see all of them", async () => {
    const operator = await harness.viewer(["admin"]);

    const created = await harness.teams.create(operator, "Research");

    expect((await harness.teams.list(operator)).map(({ id }) => id)).toEqual([FIRST_TEAM, created.id]);
    expect(await harness.teams.get(operator, created.id)).toEqual(created);
    expect(await harness.teams.update(operator, created.id, { name: "Lab" })).toMatchObject({ name: "Lab" });
  });

  test("other callers see their own team only", async () => {
    const teamId = await harness.team();
    const admin = await harness.viewer(["admin"], { teamId });
    const member = await harness.viewer(["settings:read"]);

    expect((await harness.teams.list(admin)).map(({ id }) => id)).toEqual([teamId]);
    await expect(harness.teams.get(admin, FIRST_TEAM)).rejects.toMatchObject(UNKNOWN);
    await expect(harness.teams.update(admin, FIRST_TEAM, { name: "x" })).rejects.toMatchObject(UNKNOWN);
    await expect(harness.teams.create(admin, "x")).rejects.toMatchObject(FORBIDDEN);
    await expect(harness.teams.get(member, teamId)).rejects.toMatchObject(UNKNOWN);
    expect(await harness.teams.update(admin, teamId, { name: "Lab" })).toMatchObject({
      id: teamId,
      name: "Lab",
    });
  });

  test("the name of a team is unique", async () => {
    const operator = await harness.viewer(["admin"]);
    await harness.teams.create(operator, "Research");

    await expect(harness.teams.create(operator, "Research")).rejects.toMatchObject({
      ...INVALID,
      options: { issues: [{ path: "name" }] },
    });
  });
});

describe("principals", () => {
  test("principals are created in the own team, and by operators in any team", async () => {
    const [operator, teamId] = [await harness.viewer(["admin"]), await harness.team()];
    const first = { ...ROBOT, administrator: true, teamId };

    const principal = await harness.principals.create(operator, first);
    await expect(harness.principals.create(operator, first)).rejects.toMatchObject(FORBIDDEN);
    await harness.principals.create(operator, { ...ROBOT, teamId });
    const admin = await harness.viewer(["admin"], { teamId });
    const own = await harness.principals.create(admin, ROBOT);

    expect([own.teamId, principal.teamId, principal.administrator]).toEqual([teamId, teamId, true]);
    expect(await harness.principals.get(admin, principal.id)).toEqual(principal);
    for (const other of [FIRST_TEAM, randomUUID() as TeamId]) {
      await expect(harness.principals.create(admin, { ...ROBOT, teamId: other })).rejects.toMatchObject(
        FORBIDDEN,
      );
    }
    const nowhere = { ...ROBOT, teamId: randomUUID() as TeamId };
    await expect(harness.principals.create(operator, nowhere)).rejects.toMatchObject(UNKNOWN);
  });

  test("a principal of another team is unknown, to operators too", async () => {
    const [operator, teamId] = [await harness.viewer(["admin"]), await harness.team()];
    const { id } = await harness.principal({ teamId });

    await expect(harness.principals.get(operator, id)).rejects.toMatchObject(UNKNOWN);
    await expect(harness.principals.change(operator, id, { disabled: true })).rejects.toMatchObject(UNKNOWN);
    expect((await harness.principals.list(operator)).map((one) => one.id)).toEqual([operator.id]);
  });

  test.each([{ administrator: false }, { disabled: true }])(
    "the last administrator of a team is not changed to %j",
    async (changes) => {
      const boss = await harness.viewer(["admin"]);
      await harness.principal({ administrator: true, disabled: true });
      await harness.principal();

      await expect(harness.principals.change(boss, boss.id, changes)).rejects.toMatchObject(INVALID);

      const other = await harness.principal({ administrator: true });
      await harness.principals.change(boss, boss.id, changes);
      await expect(harness.principals.change(boss, other.id, changes)).rejects.toMatchObject(INVALID);
      expect(await harness.principals.change(boss, other.id, { displayName: "Ben" })).toMatchObject({
        displayName: "Ben",
      });
    },
  );
});

describe("installations", () => {
  test("a team sees and switches its installations, and operators assign them", async () => {
    const [operator, teamId] = [await harness.viewer(["admin"]), await harness.team()];
    const admin = await harness.viewer(["admin"], { teamId });
    const { id } = await harness.storage.installations.ensure("memory", "here");
    const change = harness.installations.change.bind(harness.installations);

    await expect(change(admin, id, { enabled: false })).rejects.toMatchObject(UNKNOWN);
    expect(await harness.installations.list(admin)).toEqual([]);
    await change(operator, id, { teamId });
    await change(admin, id, { teamId });
    expect(await change(admin, id, { enabled: false, name: "Acme" })).toMatchObject({
      enabled: false,
      name: "Acme",
      teamId,
    });
    await expect(change(admin, id, { teamId: FIRST_TEAM })).rejects.toMatchObject(FORBIDDEN);
    await expect(change(operator, id, { teamId: randomUUID() as TeamId })).rejects.toMatchObject(UNKNOWN);
    expect(await change(operator, id, { teamId: FIRST_TEAM })).toMatchObject({ teamId: FIRST_TEAM });
    expect(await harness.installations.list(admin)).toEqual([]);
  });
});
