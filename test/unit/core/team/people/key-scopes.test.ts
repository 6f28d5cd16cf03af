import { describe, expect, test } from "vitest";
import { SCOPES, type Scope } from "../../../../../src/core/model/people/api-key.ts";
import { holderOfSignIn } from "../../../../../src/core/model/people/sign-in-holder.ts";
import { PeopleHarness } from "./people-harness.ts";

describe("a key of a former administrator", () => {
  test.each<[readonly Scope[], readonly Scope[]]>([
    [["admin"], ["runs:write", "settings:write"]],
    [SCOPES, ["runs:read", "runs:write", "settings:read", "settings:write"]],
    [["runs:read"], ["runs:read"]],
  ])("the scopes %j are %j from then on", async (scopes, now) => {
    const harness = new PeopleHarness();
    const boss = await harness.holder(["admin"]);
    const issued = await harness.keys.create(boss, { name: "of a boss", scopes });
    await harness.principal({ administrator: true });
    const viewer = { ...boss.principal, administrator: true };
    await harness.principals.change(viewer, boss.principal.id, { administrator: false });

    const holder = await harness.find(issued.secret);
    const listed = await harness.keys.list(holder ?? boss);
    const principal = holder?.principal ?? boss.principal;
    const signIn = {
      ...{ id: "s1", teamId: principal.teamId, principalId: principal.id, method: "api_key" as const },
      ...{ keyId: issued.key.id, createdAt: harness.clock.now(), lastSeenAt: harness.clock.now() },
      expiresAt: new Date(harness.clock.now().getTime() + 60_000),
    };

    expect(holder?.scopes).toEqual(now);
    expect(listed.find(({ id }) => id === issued.key.id)?.scopes).toEqual(now);
    expect(holderOfSignIn({ signIn, principal, key: issued.key }, harness.clock.now())?.scopes).toEqual(now);
  });

  test("its owner replaces it by one that may do what the owner may do now", async () => {
    const harness = new PeopleHarness();
    const boss = await harness.holder(["admin"]);
    const issued = await harness.keys.create(boss, { name: "of a boss", scopes: ["admin"] });
    await harness.principal({ administrator: true });
    await harness.principals.change(boss.principal, boss.principal.id, { administrator: false });
    const former = await harness.find(issued.secret);

    const rotated = former && (await harness.keys.rotate(former, issued.key.id, 0));

    expect(rotated?.key.scopes).toEqual(["runs:write", "settings:write"]);
  });
});
