import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../../../../src/core/model/people/principal.ts";
import { renewalOwner, type SignIn } from "../../../../../src/core/model/people/sign-in.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type {
  ProvenAccount,
  Renewal,
  SignInProvider,
} from "../../../../../src/core/ports/sign-in-provider.ts";
import { SignInRenewals } from "../../../../../src/core/team/people/sign-in-renewal.ts";
import { createSecretBox } from "../../../../../src/secrets/secret-box.ts";
import { deriveKey } from "../../../../../src/secrets/secret-files.ts";
import { type RecordedLine, recordingLog } from "../../../../support/logs.ts";
import { PeopleHarness } from "./people-harness.ts";

const MINUTE_MS = 60_000;
const BOX = createSecretBox([deriveKey("a secret of this test", "sealing")]);
const SUBJECT = "oidc:issuer#ann";

let harness: PeopleHarness;
let ann: Principal;
let lines: RecordedLine[];
let asked: string[];
let answer: (renewal: string) => Renewal;
let renewals: SignInRenewals;

beforeEach(async () => {
  harness = new PeopleHarness();
  [lines, asked] = [[], []];
  ann = await harness.storage.people.ensure(FIRST_TEAM, SUBJECT, "Ann");
  answer = (renewal) => ({ outcome: "proven", account: accountOf(`${renewal}+`) });
  renewals = newRenewals();
});

function newRenewals(): SignInRenewals {
  const renew = async (renewal: string): Promise<Renewal> => {
    asked.push(renewal);
    return answer(renewal);
  };
  const provider: SignInProvider = {
    ...{ method: "oidc", name: "SSO", icon: "" },
    authorizationUrl: async () => new URL("http://127.0.0.1/"),
    prove: async () => accountOf("r"),
    again: { answers: async () => true, renew },
  };
  const { clock, storage } = harness;
  return new SignInRenewals({
    storage,
    clock,
    providers: [provider],
    secrets: BOX,
    log: recordingLog(lines),
  });
}

function accountOf(renewal: string, changes: Partial<ProvenAccount> = {}): ProvenAccount {
  const memberships = [{ team: FIRST_TEAM }];
  return { subject: SUBJECT, groups: [], memberships, decidesAlone: true, renewal, ...changes };
}

async function signIn(id: string, changes: Partial<SignIn> = {}): Promise<void> {
  const now = harness.clock.now();
  const expiresAt = new Date(now.getTime() + 12 * 60 * MINUTE_MS);
  const times = { createdAt: now, lastSeenAt: now, expiresAt };
  const row = { id, teamId: FIRST_TEAM, principalId: ann.id, method: "oidc" as const, ...times, ...changes };
  await harness.storage.signIns.add(row, {
    tokenHash: `hash of ${id}`,
    sealedRenewal: BOX.seal(`r-${id}`, renewalOwner(id)),
  });
}

async function openIds(): Promise<readonly string[]> {
  const whose = { teamId: FIRST_TEAM, principalId: ann.id };
  const open = await harness.storage.signIns.listOpen(whose, harness.clock.now(), 100);
  return open.map(({ id }) => id).toSorted();
}

async function isSuspended(): Promise<boolean> {
  return (await harness.storage.people.getMany([ann.id]))[0]?.suspendedAt !== undefined;
}

const later = (minutes: number) => harness.clock.jump(minutes * MINUTE_MS);

describe("the renewal of sign-ins", () => {
  test("a sign-in is renewed when its proof is 20 minutes old, each time with what the last answer gave", async () => {
    await signIn("a");
    for (const minutes of [19, 1, 5, 20]) {
      later(minutes);
      await renewals.round();
    }

    expect(asked).toEqual(["r-a", "r-a+"]);
    expect(await openIds()).toEqual(["a"]);
  });

  test("several processes at once ask once for each sign-in", async () => {
    for (const id of ["a", "b", "c", "d", "e", "f", "g"]) {
      await signIn(id);
    }
    later(20);

    await Promise.all([renewals, newRenewals(), newRenewals()].map((each) => each.round()));

    expect(asked.toSorted()).toEqual(["r-a", "r-b", "r-c", "r-d", "r-e", "r-f", "r-g"]);
  });

  test("groups and roles follow the renewal", async () => {
    await signIn("a");
    await harness.storage.people.put({ ...ann, administrator: true, roleFromGroup: true, groups: ["leads"] });
    answer = () => ({
      outcome: "proven",
      account: accountOf("r", { groups: ["engineers"], isAdministratorWith: () => false }),
    });
    later(20);

    await renewals.round();

    expect((await harness.storage.people.getMany([ann.id]))[0]).toMatchObject({
      administrator: false,
      groups: ["engineers"],
    });
    expect(lines).toContainEqual(expect.objectContaining({ message: "team.without_administrator" }));
  });

  test("a person whom nothing admits any more is suspended with all sign-ins", async () => {
    await signIn("a");
    await signIn("b", { method: "link" });
    answer = () => ({ outcome: "proven", account: accountOf("r", { memberships: [] }) });
    later(20);

    await renewals.round();

    expect([await openIds(), await isSuspended()]).toEqual([[], true]);
  });

  test("a refusal soon after a proof suspends the person, with all sign-ins and keys", async () => {
    await signIn("a");
    await signIn("b", { method: "link" });
    answer = () => ({ outcome: "refused", reason: "The issuer answered invalid_grant." });
    later(20);

    await renewals.round();

    expect([await openIds(), await isSuspended()]).toEqual([[], true]);
  });

  test.each<[string, () => Promise<void>]>([
    ["long after the last proof, because it may have lapsed", async () => later(61)],
    [
      "after an answer was lost, which may have used it up",
      async () => {
        later(20);
        answer = (renewal) => ({ outcome: "unanswered", reason: "time-out", renewal });
        await renewals.round();
        later(5);
      },
    ],
  ])("a refusal %s ends only this sign-in", async (_when, wait) => {
    await signIn("a");
    await signIn("b", { method: "link" });
    await wait();
    answer = () => ({ outcome: "refused", reason: "The issuer answered invalid_grant." });

    await renewals.round();

    expect([await openIds(), await isSuspended()]).toEqual([["b"], false]);
  });

  test("a refusal of one browser does not count when another was proven later", async () => {
    await signIn("a");
    later(10);
    await signIn("b");
    later(10);
    answer = () => ({ outcome: "refused", reason: "The issuer answered invalid_grant." });

    await renewals.round();

    expect([await openIds(), await isSuspended()]).toEqual([["b"], false]);
  });

  test("a system that does not answer changes nothing, is logged once, and is asked again later", async () => {
    await signIn("a");
    later(20);
    answer = (renewal) => ({ outcome: "unanswered", reason: "down", renewal: `${renewal}+` });
    for (const minutes of [0, 1, 5, 5]) {
      later(minutes);
      await renewals.round();
    }

    expect(asked).toEqual(["r-a", "r-a+", "r-a++"]);
    expect([await openIds(), await isSuspended()]).toEqual([["a"], false]);
    expect(lines.filter(({ message }) => message === "sign-in.provider.unavailable")).toHaveLength(1);
  });

  test.each<[string, () => Promise<void>]>([
    ["the system is not clear without the browser", async () => signIn("a")],
    [
      "the stored renewal cannot be opened",
      async () => {
        await signIn("a");
        const sealedRenewal = BOX.seal("r-a", "another owner");
        await harness.storage.signIns.renewed("a", { provenAt: harness.clock.now(), sealedRenewal });
      },
    ],
  ])("if %s, the browser must prove again who the person is", async (_why, prepare) => {
    await prepare();
    answer = () => ({ outcome: "unclear", reason: "no claims" });
    later(20);

    await renewals.round();
    later(20);
    await renewals.round();

    const [known] = await harness.storage.signIns.listOpen({ teamId: FIRST_TEAM }, harness.clock.now(), 1);
    expect(asked.length).toBeLessThan(2);
    expect(known).toMatchObject({ id: "a" });
    expect(known).not.toHaveProperty("isRenewable");
  });

  test("no log line contains what the system is asked with", async () => {
    const outcomes: readonly Renewal[] = [
      { outcome: "refused", reason: "no" },
      { outcome: "unclear", reason: "no" },
      { outcome: "unanswered", reason: "no", renewal: "r-next" },
      { outcome: "proven", account: accountOf("r-next", { memberships: [] }) },
    ];
    for (const [index, outcome] of outcomes.entries()) {
      await signIn(`s${index}`);
      later(20);
      answer = () => outcome;
      await renewals.round();
    }

    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(lines)).not.toMatch(/r-s|r-next/);
  });
});
