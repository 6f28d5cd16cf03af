import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { waitFor } from "../../support/wait-for.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";
import { PeopleCaller } from "./people-caller.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const { aKey, aPrincipal, ask, remove } = new PeopleCaller(() => harness);

describe("whoami", () => {
  test("whoami returns the caller, the key and its permissions", async () => {
    const key = await harness.addUser("mira", { scopes: ["runs:read"] });

    const [operator, member] = [await ask("/whoami"), await ask("/whoami", { key })];

    expect(operator.body).toMatchObject({
      principal: { display_name: "Administrator", team_uid: FIRST_TEAM, administrator: true },
      team: { uid: FIRST_TEAM, name: expect.any(String) },
      key: { name: "The installation's own key", scopes: expect.arrayContaining(["admin"]) },
      is_administrator: true,
      is_operator: true,
    });
    expect(member.body).toMatchObject({
      principal: { display_name: "mira" },
      key: { scopes: ["runs:read"], hint: expect.stringMatching(/^errand_.{5}…$/) },
      is_administrator: false,
      is_operator: false,
    });
    expect(operator.text).not.toContain(harness.key);
  });

  test("whoami accepts the cookie of the pages and returns the same and the sign-in", async () => {
    const signedIn = await call(harness, "/signin", { body: { key: harness.key }, key: null });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";

    const answer = await ask("/whoami", { key: null, headers: { cookie } });

    const { sign_in, ...others } = answer.body;
    expect(others).toEqual((await ask("/whoami")).body);
    expect(sign_in).toMatchObject({ method: "api_key", current: true });
  });

  test("whoami returns the permissions of the key, not those of its principal", async () => {
    const { key } = await aKey({ scopes: ["settings:write"] });

    expect((await ask("/whoami", { key })).body).toMatchObject({
      principal: { administrator: true },
      is_administrator: false,
      is_operator: false,
    });
  });
});

describe("a key", () => {
  test("a new key is shown once, grants its scopes, and is listed without its secret", async () => {
    const made = await ask("/keys", { body: { name: "ci", expires_in_days: 1 } });
    const { key, ...shown } = made.body;

    const [list, one] = [await ask("/keys"), await ask(`/keys/${shown.id}`)];

    expect([made.status, key]).toEqual([201, expect.stringMatching(/^errand_[\w-]{43}$/)]);
    expect(shown).toMatchObject({ name: "ci", scopes: ["runs:write"], hint: `${key.slice(0, 12)}…` });
    const hours = (Date.parse(shown.expires_at) - Date.parse(shown.created_at)) / 3_600_000;
    expect(hours).toBeCloseTo(24);
    expect([(await ask("/whoami", { key })).status, (await ask("/keys", { key })).status]).toEqual([
      200, 403,
    ]);
    expect(one.body).toMatchObject(shown);
    expect(list.body.keys).toContainEqual(one.body);
    for (const { text } of [list, one]) {
      expect(text).not.toContain(key.slice(12));
    }
  });

  test("one Idempotency-Key creates one key, and its secret is stored sealed for the repeat", async () => {
    const headers = { "idempotency-key": "the key of a key" };
    const body = { name: "once" };

    const [first, again] = [await ask("/keys", { body, headers }), await ask("/keys", { body, headers })];

    expect(again.body).toEqual(first.body);
    expect([again.status, again.headers.get("idempotent-replay")]).toEqual([201, "true"]);
    const matches = (await ask("/keys")).body.keys.filter(({ name }: { name: string }) => name === "once");
    expect(matches).toHaveLength(1);
  });

  test.each([
    ["made", "/keys", { name: "strong", scopes: ["admin"] }],
    ["rotated", "/keys/:id/rotate", { overlap_seconds: 60 }],
  ])(
    "a key that is %s with an Idempotency-Key is shown again only to the key that requested it",
    async (how, path, body) => {
      const [strong, weak, equal, old] = [
        await aKey({ scopes: ["admin"] }),
        await aKey({ scopes: ["settings:write"] }),
        await aKey({ scopes: ["admin"] }),
        await aKey({ scopes: ["admin"] }),
      ];
      const headers = { "idempotency-key": `${how} by a strong key` };
      const issue = ({ key }: { key: string }) => ask(path.replace(":id", old.id), { body, headers, key });

      const first = await issue(strong);
      const before = (await ask("/keys")).body.keys.length;
      const others = [await issue(weak), await issue(equal)];
      const again = await issue(strong);

      expect([first.status, again.status]).toEqual([201, 201]);
      expect(others.map(({ status, body: { key } }) => [status, key])).toEqual([
        [403, undefined],
        [403, undefined],
      ]);
      expect((await ask("/keys")).body.keys).toHaveLength(before);
      expect([again.body, again.headers.get("idempotent-replay")]).toEqual([first.body, "true"]);
    },
  );

  test("the same Idempotency-Key of another principal creates another key", async () => {
    const other = await harness.addUser("other", { scopes: ["settings:write", "runs:write"] });
    const headers = { "idempotency-key": "shared by chance" };
    const body = { name: "mine" };

    const [mine, others] = [
      await ask("/keys", { body, headers }),
      await ask("/keys", { body, headers, key: other }),
    ];

    expect([mine.status, others.status]).toEqual([201, 201]);
    expect(others.body.id).not.toBe(mine.body.id);
    expect(others.body.principal_uid).not.toBe(mine.body.principal_uid);
    expect(others.headers.get("idempotent-replay")).toBeNull();
  });

  test("a revoked key is refused immediately", async () => {
    const { id, key } = await aKey();
    const before = await ask("/whoami", { key });

    const revoked = await remove(`/keys/${id}`);
    const after = await ask("/whoami", { key });

    expect([before.status, revoked.status, revoked.body, after.status]).toEqual([
      200,
      200,
      { success: true },
      401,
    ]);
    expect((await ask(`/keys/${id}`)).body).toHaveProperty("revoked_at");
  });

  test("a rotated key ends at once or after an overlap", async () => {
    const [old, gentle] = [await aKey(), await aKey()];

    const fresh = await ask(`/keys/${old.id}/rotate`, { method: "POST" });
    const overlapping = await ask(`/keys/${gentle.id}/rotate`, { body: { overlap_seconds: 60 } });
    const opens = async (key: string) => (await ask("/whoami", { key })).status;

    expect([fresh.status, overlapping.status]).toEqual([201, 201]);
    expect([await opens(old.key), await opens(fresh.body.key)]).toEqual([401, 200]);
    expect([await opens(gentle.key), await opens(overlapping.body.key)]).toEqual([200, 200]);
    harness.clock.aheadMs += 60_000;
    expect([await opens(gentle.key), await opens(overlapping.body.key)]).toEqual([401, 200]);
  });

  test("a key shows when it was last used, to the minute", async () => {
    const used = await aKey();
    const isNew = await lastUseOf(used.id);

    const first = await useUntilTold(used);
    harness.clock.aheadMs += 30_000;
    await ask("/whoami", { key: used.key });
    await useUntilTold(await aKey());
    const withinTheMinute = await lastUseOf(used.id);
    harness.clock.aheadMs += 30_000;
    const next = await useUntilTold(used, first);

    expect([isNew, withinTheMinute]).toEqual([undefined, first]);
    expect(Date.parse(next) - Date.parse(first)).toBeGreaterThanOrEqual(60_000);
  });

  test.each([
    [{}, "name"],
    [{ name: "x", scopes: [] }, "scopes"],
    [{ name: "x", scopes: ["root"] }, "scopes.0"],
    [{ name: "x", expires_in_days: 0 }, "expires_in_days"],
    [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ name: "x", expires_at: "2050-01-01T00:00:00Z", expires_in_days: 3 }, "expires_in_days"],
  ])("a key with %j is not created", async (body, path) => {
    const answer = await ask("/keys", { body });

    expect([answer.status, answer.body.issues[0].path]).toEqual([400, path]);
  });

  test.each([-1, 604_801, "60"])("a key is not rotated with an overlap of %j", async (overlap_seconds) => {
    const { id } = await aKey();

    expect((await ask(`/keys/${id}/rotate`, { body: { overlap_seconds } })).status).toBe(400);
  });

  test("a key without the scope admin sees its own keys and creates no stronger one", async () => {
    const key = await harness.addUser("modest", { scopes: ["settings:write", "runs:read"] });
    const own = await aKey({}, { key });

    const list = await ask("/keys", { key });
    const stronger = await ask("/keys", { body: { name: "x", scopes: ["runs:write"] }, key });
    const whoseElse = (await ask("/whoami")).body.principal.uid;
    const others = await ask("/keys", { body: { name: "x", principal_uid: whoseElse }, key });

    expect(list.body.keys.map(({ id }: { id: string }) => id)).toContain(own.id);
    expect(new Set(list.body.keys.map((one: { principal_uid: string }) => one.principal_uid)).size).toBe(1);
    expect([stronger.status, others.status]).toEqual([403, 403]);
  });

  test("the installation's own key cannot be revoked or rotated over the API", async () => {
    const { id } = (await ask("/whoami")).body.key;

    const answers = [await remove(`/keys/${id}`), await ask(`/keys/${id}/rotate`, { method: "POST" })];

    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(answers[0]?.body.remedy).toContain("ERRAND_ADMIN_KEY");
    expect((await ask("/whoami")).status).toBe(200);
  });

  test("the list of keys can be filtered by principal", async () => {
    const uid = await aPrincipal();
    const { id } = await aKey({ principal_uid: uid });

    const { body } = await ask(`/keys?principal=${uid}`);

    expect(body.keys.map((key: { id: string }) => key.id)).toEqual([id]);
    expect((await ask("/keys?principal=nobody")).body).toMatchObject({ keys: [] });
  });
});

async function lastUseOf(id: string): Promise<string | undefined> {
  return (await ask(`/keys/${id}`)).body.last_used_at;
}

/** Uses the key, and returns the time of its last use as soon as it differs from `former`. */
async function useUntilTold(used: { id: string; key: string }, former?: string): Promise<string> {
  await ask("/whoami", { key: used.key });
  const readLastUse = async () => {
    const lastUse = await lastUseOf(used.id);
    return lastUse !== former && lastUse;
  };
  return waitFor(readLastUse, { what: "the use to be told" });
}
