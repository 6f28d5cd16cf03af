import { afterAll, beforeAll, expect, test } from "vitest";
import { createKeyHasher } from "../../../src/api/auth/api-keys.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const KEYS = "/api/v1/agent/keys";
const WHOAMI = "/api/v1/agent/whoami";
const [OLD, NEW] = ["the secret key so far", "the secret key from now on"];
const HEADERS = { "idempotency-key": "before the change" };

/** The same installation before its secret key is changed, and in each state after that. */
let before: ApiHarness;
let knowing: ApiHarness;
let forgetful: ApiHarness;
beforeAll(async () => {
  before = await startHarness({ secretKeys: [OLD] });
  knowing = await startHarness({ sharedWith: before, secretKeys: [NEW, OLD] });
  forgetful = await startHarness({ sharedWith: before, secretKeys: [NEW] });
});
afterAll(async () => {
  await forgetful.close();
  await knowing.close();
  await before.close();
});

function makeKey(harness: ApiHarness): Promise<Answer> {
  return call(harness, KEYS, { body: { name: "x", scopes: ["runs:read"] }, headers: HEADERS });
}

async function statusOf(harness: ApiHarness, key: string): Promise<number> {
  return (await call(harness, WHOAMI, { key })).status;
}

test("a key from before the rotation still works and is stored under the new secret at its first use", async () => {
  const key = await before.addUser("ada");
  const [oldHash, newHash] = [OLD, NEW].map((secret) => createKeyHasher(secret)(key));

  const unknown = await statusOf(forgetful, key);
  const used = await Promise.all([statusOf(knowing, key), statusOf(knowing, key), statusOf(knowing, key)]);
  const stored = await Promise.all(
    [oldHash, newHash].map((hash = "") => before.storage.keys.findByHash(hash)),
  );

  expect([unknown, ...used]).toEqual([401, 200, 200, 200]);
  expect(stored.map((holder) => holder?.key.name)).toEqual([undefined, "ada"]);
  expect(await statusOf(forgetful, key)).toBe(200);
});

test("values sealed under the old secret open, and new values need the new secret", async () => {
  const first = await makeKey(before);
  const again = await makeKey(knowing);

  expect(again.headers.get("idempotent-replay")).toBe("true");
  expect(again.body).toEqual(first.body);
});

test("a repeat whose stored response cannot be opened any more is a conflict that is not retried", async () => {
  const path = "/api/v1/agent/webhooks";
  const body = { url: "https://example.com/hook" };
  const headers = { "idempotency-key": "sealed" };
  const first = await call(before, path, { body, headers });

  const again = await call(forgetful, path, { body, headers });

  expect(first.status).toBe(201);
  expect([again.status, again.body.code, again.headers.get("x-should-retry")]).toEqual([
    409,
    "conflict",
    "false",
  ]);
});

test("a session of the pages ends with the rotation, and signing in again starts another", async () => {
  const key = await before.addUser("mira");
  const signIn = async (harness: ApiHarness) =>
    (await call(harness, "/signin", { body: { key }, key: null })).headers.get("set-cookie")?.split(";")[0] ??
    "";
  const visit = async (harness: ApiHarness, cookie: string) =>
    (await call(harness, WHOAMI, { key: null, headers: { cookie } })).status;

  const cookie = await signIn(before);
  const [here, there] = [await visit(before, cookie), await visit(knowing, cookie)];
  const fresh = await visit(knowing, await signIn(knowing));

  expect([here, there, fresh]).toEqual([200, 401, 200]);
});

test("a share link from before the rotation still opens, with a new cookie", async () => {
  const runId = await createRun(before);
  const { url } = (await call(before, `/api/v1/agent/runs/${runId}/share-links`, { body: {} })).body;
  const path = url.slice(url.indexOf("/sessions"));
  const enter = (harness: ApiHarness) => call(harness, path, { key: null });

  const unknown = (await enter(forgetful)).status;
  const cookie = (await enter(before)).headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const run = `/api/v1/agent/runs/${runId}`;
  const read = async (harness: ApiHarness, sessionCookie: string) =>
    (await call(harness, run, { key: null, headers: { cookie: sessionCookie } })).status;
  const statuses = [await read(before, cookie), await read(knowing, cookie)];
  const entered = await enter(knowing);
  const fresh = entered.headers.getSetCookie()[0]?.split(";")[0] ?? "";

  expect(statuses).toEqual([200, 401]);
  expect([entered.status, await read(knowing, fresh)]).toEqual([303, 200]);
  // The first use stored the link under the new key, so it survives the removal of the old one.
  expect([unknown, (await enter(forgetful)).status]).toEqual([404, 303]);
});

test("the old secret does not revive a revoked key", async () => {
  const key = await before.addUser("gone");
  await before.revoke(key);

  expect(await statusOf(knowing, key)).toBe(401);
  expect(await statusOf(knowing, `${key}x`)).toBe(401);
});

test("processes can be rotated one by one if each knows the other's secret", async () => {
  const key = await before.addUser("both");
  const prepared = await startHarness({ sharedWith: before, secretKeys: [OLD, NEW] });

  const statuses: number[] = [];
  for (const harness of [prepared, knowing, prepared, knowing]) {
    statuses.push(await statusOf(harness, key));
    for (const each of [prepared, knowing]) {
      each.clock.aheadMs += 5_000;
    }
  }
  await prepared.close();

  expect(statuses).toEqual([200, 200, 200, 200]);
});
