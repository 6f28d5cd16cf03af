import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { TeamId } from "../../../../src/core/ids.ts";
import { FIRST_TEAM } from "../../../../src/core/people/team.ts";
import { PeopleBench } from "./people-bench.ts";

let bench: PeopleBench;
beforeEach(() => {
  bench = new PeopleBench();
});

const UNKNOWN = { code: "resource_not_found" };
const FORBIDDEN = { code: "not_authorized" };
const INVALID = { code: "invalid_request" };
const ROBOT = { type: "service_account", displayName: "CI", administrator: false } as const;

describe("teams", () => {
  test("are made and all seen by operators", async () => {
    const operator = await bench.viewer(["admin"]);

    const made = await bench.teams.create(operator, "Research");

    expect((await bench.teams.list(operator)).map(({ id }) => id)).toEqual([FIRST_TEAM, made.id]);
    expect(await bench.teams.get(operator, made.id)).toEqual(made);
    expect(await bench.teams.rename(operator, made.id, "Lab")).toMatchObject({ name: "Lab" });
  });

  test("are to others as if there were but their own", async () => {
    const teamId = await bench.team();
    const admin = await bench.viewer(["admin"], { teamId });
    const member = await bench.viewer(["settings:read"]);

    expect((await bench.teams.list(admin)).map(({ id }) => id)).toEqual([teamId]);
    await expect(bench.teams.get(admin, FIRST_TEAM)).rejects.toMatchObject(UNKNOWN);
    await expect(bench.teams.rename(admin, FIRST_TEAM, "x")).rejects.toMatchObject(UNKNOWN);
    await expect(bench.teams.create(admin, "x")).rejects.toMatchObject(FORBIDDEN);
    await expect(bench.teams.get(member, teamId)).rejects.toMatchObject(UNKNOWN);
    expect(await bench.teams.rename(admin, teamId, "Lab")).toMatchObject({ id: teamId, name: "Lab" });
  });

  test("have names of their own", async () => {
    const operator = await bench.viewer(["admin"]);
    await bench.teams.create(operator, "Research");

    await expect(bench.teams.create(operator, "Research")).rejects.toMatchObject({
      ...INVALID,
      options: { issues: [{ path: "name" }] },
    });
  });
});

describe("principals", () => {
  test("are made in the own team, and by operators in any", async () => {
    const [operator, teamId] = [await bench.viewer(["admin"]), await bench.team()];
    const admin = await bench.viewer(["admin"], { teamId });

    const own = await bench.principals.create(admin, ROBOT);
    const given = await bench.principals.create(operator, { ...ROBOT, administrator: true, teamId });

    expect([own.teamId, given.teamId, given.administrator]).toEqual([teamId, teamId, true]);
    expect(await bench.principals.get(admin, given.id)).toEqual(given);
    for (const other of [FIRST_TEAM, randomUUID() as TeamId])
      await expect(bench.principals.create(admin, { ...ROBOT, teamId: other })).rejects.toMatchObject(
        FORBIDDEN,
      );
    const nowhere = { ...ROBOT, teamId: randomUUID() as TeamId };
    await expect(bench.principals.create(operator, nowhere)).rejects.toMatchObject(UNKNOWN);
  });

  test("of another team are unknown, to operators too", async () => {
    const [operator, teamId] = [await bench.viewer(["admin"]), await bench.team()];
    const { id } = await bench.principal({ teamId });

    await expect(bench.principals.get(operator, id)).rejects.toMatchObject(UNKNOWN);
    await expect(bench.principals.change(operator, id, { disabled: true })).rejects.toMatchObject(UNKNOWN);
    expect((await bench.principals.list(operator)).map((one) => one.id)).toEqual([operator.id]);
  });

  test.each([{ administrator: false }, { disabled: true }])(
    "the last administrator of a team is not changed to %j",
    async (changes) => {
      const boss = await bench.viewer(["admin"]);
      await bench.principal({ administrator: true, disabled: true });
      await bench.principal();

      await expect(bench.principals.change(boss, boss.id, changes)).rejects.toMatchObject(INVALID);

      const other = await bench.principal({ administrator: true });
      await bench.principals.change(boss, boss.id, changes);
      await expect(bench.principals.change(boss, other.id, changes)).rejects.toMatchObject(INVALID);
      expect(await bench.principals.change(boss, other.id, { displayName: "Ben" })).toMatchObject({
        displayName: "Ben",
      });
    },
  );
});

describe("installations", () => {
  test("are seen and switched by their team, and handed out by operators", async () => {
    const [operator, teamId] = [await bench.viewer(["admin"]), await bench.team()];
    const admin = await bench.viewer(["admin"], { teamId });
    const { id } = await bench.storage.installations.ensure("memory", "here");
    const change = bench.installations.change.bind(bench.installations);

    await expect(change(admin, id, { enabled: false })).rejects.toMatchObject(UNKNOWN);
    expect(await bench.installations.list(admin)).toEqual([]);
    await change(operator, id, { teamId });
    expect(await change(admin, id, { enabled: false, name: "Acme" })).toMatchObject({
      enabled: false,
      name: "Acme",
      teamId,
    });
    await expect(change(admin, id, { teamId: FIRST_TEAM })).rejects.toMatchObject(FORBIDDEN);
    await expect(change(operator, id, { teamId: randomUUID() as TeamId })).rejects.toMatchObject(UNKNOWN);
    expect(await change(operator, id, { teamId: FIRST_TEAM })).toMatchObject({ teamId: FIRST_TEAM });
    expect(await bench.installations.list(admin)).toEqual([]);
  });
});
