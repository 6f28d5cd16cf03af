import { describe, expect, test } from "vitest";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { Policy } from "../../../../src/core/model/policies/policy.ts";
import type { Run } from "../../../../src/core/model/runs/run.ts";
import { decidersFor, waitsForDecision } from "../../../../src/core/requests/deciders.ts";
import { aPolicy } from "../../../support/rule-builders.ts";
import { anApproval, aPrincipal, aRun } from "../../../support/run-builders.ts";

const SINCE = new Date("2026-03-01T12:00:00.000Z");
const PERMISSION = { permissionId: "p", title: "May I?", options: [], askedAt: SINCE };

const administrator = aPrincipal({ displayName: "Olga", administrator: true });
const ann = aPrincipal({ displayName: "Ann" });
const ben = aPrincipal({ displayName: "Ben" });
const robot = aPrincipal({ displayName: "Robot", type: "service_account" });
const left = aPrincipal({ displayName: "Left", disabled: true });
const TEAM = [robot, left, administrator, ann, ben];

/** What Ben, or another reader, is told about the run. */
async function deciders(run: Run, policies: readonly Policy[] = [], reader: Principal = ben) {
  let reads = 0;
  const members = async () => {
    reads += 1;
    return TEAM;
  };
  const deps = {
    members,
    policies: { of: async () => policies },
    environments: { list: async () => [] },
  };
  const decidersOf = await decidersFor(deps, reader, { source: "WEB_APP" });
  const { mayDecide, people } = await decidersOf(run);
  return { mayDecide, names: people.map(({ displayName }) => displayName), reads };
}

function blocked(changes: Partial<Run>): Run {
  return aRun({ state: "BLOCKED", creatorId: ann.id, stateSince: SINCE, ...changes });
}

describe("who may decide", () => {
  test("every member may answer a question, and then nobody else is looked for", async () => {
    const run = blocked({ permission: PERMISSION });

    expect(await deciders(run)).toEqual({ mayDecide: true, names: [], reads: 0 });
  });

  test("only administrators approve without a policy", async () => {
    const run = blocked({ approval: anApproval() });

    expect(await deciders(run)).toEqual({ mayDecide: false, names: ["Olga"], reads: 1 });
    expect(await deciders(run, [], administrator)).toMatchObject({ mayDecide: true });
  });

  test("members whom a policy lets approve stand before administrators, and never for their own words", async () => {
    const policy = aPolicy({ effect: "allow", match: { actions: ["approve"] } });
    const run = blocked({ approval: anApproval() });

    expect(await deciders(run, [policy])).toMatchObject({ mayDecide: true });
    expect(await deciders(run, [policy], ann)).toMatchObject({ mayDecide: false, names: ["Ben", "Olga"] });
    expect(
      await deciders(blocked({ approval: anApproval({ authorIds: [ben.id] }) }), [policy]),
    ).toMatchObject({
      mayDecide: false,
      names: ["Olga"],
    });
  });

  test("the person who asked stands first for a question that a policy takes from others", async () => {
    const policy = aPolicy({ effect: "deny", match: { actions: ["answer"], relation: "others" } });

    expect(await deciders(blocked({ permission: PERMISSION }), [policy])).toMatchObject({
      mayDecide: false,
      names: ["Ann"],
    });
  });

  test("a private run is decided only by those who see it", async () => {
    const policy = aPolicy({ effect: "allow", match: { actions: ["approve"] } });
    const run = blocked({ approval: anApproval(), teamOwned: false });

    expect(await deciders(run, [policy], ann)).toMatchObject({ mayDecide: false, names: ["Olga"] });
  });

  test("a follow-up to an ended run is not approved by its author", async () => {
    const policy = aPolicy({ effect: "allow", match: { actions: ["approve"] } });
    const waitingFollowUp = { followUpId: "f", reason: "Look.", authorIds: [ben.id], since: SINCE };
    const run = aRun({ state: "SUCCEEDED", creatorId: ann.id, waitingFollowUp });

    expect(await deciders(run, [policy])).toMatchObject({ mayDecide: false, names: ["Ann", "Olga"] });
  });
});

test("a run waits for a decision while a question, an approval or a follow-up to the ended run is open", () => {
  const waitingFollowUp = { followUpId: "f", reason: "Look.", authorIds: [], since: SINCE };
  const runs = [
    blocked({ permission: PERMISSION }),
    blocked({ approval: anApproval() }),
    aRun({ state: "SUCCEEDED", waitingFollowUp }),
    aRun({ state: "INPROGRESS", waitingFollowUp }),
    aRun({ state: "QUEUED", approval: anApproval({ approved: true }) }),
  ];

  expect(runs.map(waitsForDecision)).toEqual([true, true, true, false, false]);
});
