import { expect, test } from "vitest";
import type { PrincipalId } from "../../../../../src/core/basics/ids.ts";
import type { IdentityLink } from "../../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { chooseJoin, PrincipalJoins } from "../../../../../src/core/team/people/principal-joins.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { aPrincipal } from "../../../../support/run-builders.ts";

const SUBJECTS = ["chat:T1:U1", "chat:E1:W1", "chat:T2:U1"];
const OLDER = "01900000-0000-7000-8000-000000000001" as PrincipalId;
const NEWER = "01900000-0000-7000-8000-000000000002" as PrincipalId;

function principal(id: PrincipalId, changes: Partial<Principal> = {}): Principal {
  return aPrincipal({ id, teamId: FIRST_TEAM, createdAt: new Date(id === OLDER ? 1 : 2), ...changes });
}

function link(principalId: PrincipalId, subject: string, linkedAt?: Date): IdentityLink {
  const at = new Date(0);
  return {
    id: subject,
    teamId: FIRST_TEAM,
    subject,
    principalId,
    createdAt: at,
    ...(linkedAt && { linkedAt }),
  };
}

interface Case {
  readonly older?: Partial<Principal>;
  readonly newer?: Partial<Principal>;
  readonly links?: readonly IdentityLink[];
  /** The principal that stays. Absent: there are two afterwards. */
  readonly stays?: PrincipalId;
}

test.each<readonly [string, Case]>([
  ["the older one stays", { stays: OLDER }],
  [
    "the one whose account an administrator linked stays",
    { links: [link(NEWER, "code:5", new Date(1))], stays: NEWER },
  ],
  ["an account of another platform goes with the person", { links: [link(NEWER, "code:5")], stays: OLDER }],
  [
    "two administrators of the same groups are joined",
    {
      older: { administrator: true, groups: ["a", "b"] },
      newer: { administrator: true, groups: ["b", "a"] },
      stays: OLDER,
    },
  ],
  ["not if one is an administrator", { newer: { administrator: true } }],
  ["not if one is disabled", { older: { disabled: true } }],
  ["not if one has a group that the other has not", { newer: { groups: ["admins"] } }],
  ["not if one is a service account", { newer: { type: "service_account" } }],
  [
    "not if administrators linked accounts of both",
    {
      links: [link(OLDER, "code:5", new Date(1)), link(NEWER, "code:6", new Date(1))],
    },
  ],
  ["not if one has an account of another person", { links: [link(OLDER, "chat:T1:U9")] }],
])("of two principals of one person: %s", (_name, { links = [], newer, older, stays }) => {
  const found = [principal(NEWER, newer), principal(OLDER, older)];
  const all = [link(OLDER, "chat:T1:U1"), link(NEWER, "chat:T2:U1"), ...links];

  const join = chooseJoin(SUBJECTS, found, all);

  expect(join?.into.id).toBe(stays);
  expect(join?.from.id).toBe(stays && (stays === OLDER ? NEWER : OLDER));
});

test("the server's own account is joined to no other", () => {
  const found = [principal(OLDER, { administrator: true }), principal(NEWER, { administrator: true })];
  const links = [link(OLDER, "chat:T1:U1"), link(NEWER, "chat:T2:U1"), link(NEWER, "errand:administrator")];

  expect(chooseJoin(SUBJECTS, found, links)?.into.id).toBe(NEWER);
});

test("three principals become one with the first message, and a join that fails does not stop the message", async () => {
  const { clock, joins, storage } = new CoreHarness();
  const [subject = "", ...aliases] = SUBJECTS;
  const all = [];
  for (const one of SUBJECTS) {
    await clock.advance(1);
    all.push(await storage.people.ensure(FIRST_TEAM, one, "Ada"));
  }
  const [first, , last] = all;
  const principalJoins = { join: () => Promise.reject(new Error("down")), moveRest: async () => 0 };
  const failing = new PrincipalJoins({
    storage: { people: storage.people, principalJoins },
    box: { open: String, seal: String },
    digest: String,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });

  expect(last && (await failing.joinedOf(last, { subject, aliases }))).toEqual(last);
  expect((last && (await joins.joinedOf(last, { subject, aliases })))?.id).toBe(first?.id);
  const links = await storage.identities.list(FIRST_TEAM);
  expect(new Set(links.map(({ principalId }) => principalId)).has(first?.id as PrincipalId)).toBe(true);
  expect(links.filter(({ principalId }) => principalId === first?.id)).toHaveLength(3);
});
