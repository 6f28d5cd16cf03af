import { describe, expect, test } from "vitest";
import type { PrincipalId, RunId, TeamId } from "../../../../../src/core/basics/ids.ts";
import { isOpenTo, ownerOf } from "../../../../../src/core/model/people/ownership.ts";
import { problemOfName } from "../../../../../src/core/model/secrets/secret.ts";
import { newEnvironmentUid } from "../../../../../src/core/model/workspaces/environment.ts";

test("the uid of an environment is 22 letters and digits, each equally likely", () => {
  const uids = Array.from({ length: 2_000 }, newEnvironmentUid);
  const counts = Map.groupBy(uids.join(""), (character) => character);

  for (const uid of uids) {
    expect(uid).toMatch(/^[0-9A-Za-z]{22}$/);
  }
  expect(new Set(uids).size).toBe(2_000);
  expect(counts.size).toBe(62);
  const expected = (2_000 * 22) / 62;
  for (const [, found] of counts) {
    expect(Math.abs(found.length - expected)).toBeLessThan(expected / 3);
  }
});

describe("an object with an owner", () => {
  const [teamId, otherTeam] = ["team" as TeamId, "other team" as TeamId];
  const ann = { id: "ann" as PrincipalId, teamId };
  const bob = { id: "bob" as PrincipalId, teamId };
  const teams = { teamId, ownerId: ownerOf(ann, true) };
  const anns = { teamId, ownerId: ownerOf(ann, false) };

  test.each([
    ["the team's", teams, bob, true],
    ["the team's", teams, { ...bob, teamId: otherTeam, administrator: true }, false],
    ["the team's, for the guest of a link", teams, { ...bob, onlyRunId: "run" as RunId }, false],
    ["one's own", anns, ann, true],
    ["another's", anns, bob, false],
    ["another's, for an administrator", anns, { ...bob, administrator: true }, true],
    [
      "another's, for an administrator elsewhere",
      anns,
      { ...bob, teamId: otherTeam, administrator: true },
      false,
    ],
  ])("an object that is %s is visible: %4$s", (_whose, owned, viewer, isOpen) => {
    expect(isOpenTo(owned, viewer)).toBe(isOpen);
  });
});

test.each([
  "PATH",
  "Path",
  "LD_LIBRARY_PATH",
  "DYLD_INSERT_LIBRARIES",
  "NODE_EXTRA_CA_CERTS",
  "ERRAND_ANY",
  "PYTHONPATH",
  "LC_ALL",
])("no secret may be named %s", (name) => {
  expect(problemOfName(name)).toBe("is a name that the platform keeps for itself");
});
