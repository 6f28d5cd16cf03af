import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyHasher, newToken } from "../../../src/api/auth/api-keys.ts";
import { Signer } from "../../../src/api/http/signer.ts";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { SignInService } from "../../../src/core/team/keys/sign-in-service.ts";
import { waitFor } from "../../support/wait-for.ts";
import { type Answer, call, createRun } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, SECRET, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const API = "/api/v1/agent";
const OWN = { origin: PUBLIC_URL, "sec-fetch-site": "same-origin" };

async function signIn(key: string, on = harness): Promise<string> {
  const answer = await call(on, "/signin", {
    body: { key },
    key: null,
    headers: { "user-agent": "A browser" },
  });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

type Request = Parameters<typeof call>[2];

/** Sends a request as a page of the server does. */
function visit(cookie: string, path: string, options: Request = {}): Promise<Answer> {
  return call(harness, path, { ...options, key: null, headers: { cookie, ...OWN, ...options.headers } });
}

async function signInsOf(cookie: string): Promise<readonly Record<string, unknown>[]> {
  return (await visit(cookie, `${API}/sign-ins`)).body.sign_ins;
}

async function idOf(cookie: string): Promise<string> {
  return (await visit(cookie, `${API}/whoami`)).body.sign_in.id;
}

describe("a sign-in", () => {
  test("a sign-in is listed with its browser and address, and its token is not stored", async () => {
    const key = await harness.addUser("lea");
    const cookie = await signIn(key);

    const [mine] = await signInsOf(cookie);
    const token = cookie.split("=")[1]?.split(".")[0] ?? "";

    expect(mine).toMatchObject({
      method: "api_key",
      user_agent: "A browser",
      address: "127.0.0.1",
      current: true,
    });
    expect(token.length).toBeGreaterThan(40);
    const known = await harness.storage.signIns.listOpen({ teamId: FIRST_TEAM }, new Date(), 9);
    expect(JSON.stringify(known)).not.toContain(token);
  });

  test("members list their own sign-ins, and administrators those of the team", async () => {
    const [ann, ben] = [
      await signIn(await harness.addUser("ann")),
      await signIn(await harness.addUser("ben")),
    ];
    const admin = await signIn(harness.key);

    const [ofAnn, ofAdmin] = [await signInsOf(ann), await signInsOf(admin)];

    expect(ofAnn.map(({ id }) => id)).toEqual([await idOf(ann)]);
    expect(ofAdmin.map(({ id }) => id)).toEqual(
      expect.arrayContaining([await idOf(ann), await idOf(ben), await idOf(admin)]),
    );
    expect(ofAdmin.filter(({ current }) => current)).toHaveLength(1);
  });

  test("the oldest sign-ins of a principal end when it has more than 100", async () => {
    const key = await harness.addUser("often");
    const first = await signIn(key);
    for (let count = 0; count < 100; count += 1) {
      harness.clock.aheadMs += 1;
      await signIn(key);
    }

    const [read, list] = [
      await visit(first, `${API}/whoami`),
      await call(harness, `${API}/sign-ins`, { key }),
    ];

    expect([read.status, list.body.sign_ins.length]).toEqual([401, 100]);
  });

  test("a sign-in without a key allows what the role of its principal allows", async () => {
    const { principal } = await whoami(await harness.addUser("otto", { scopes: ["runs:read"] }));
    const cookie = await signInWithoutKey(principal.uid);

    const who = (await visit(cookie, `${API}/whoami`)).body;
    const run = await visit(cookie, `${API}/runs`, { body: { prompt: "do it" } });
    const forbidden = await visit(cookie, `${API}/policies`);

    expect(who).toMatchObject({ scopes: ["runs:write", "settings:write"], sign_in: { method: "oidc" } });
    expect(who).not.toHaveProperty("key");
    expect([run.status, forbidden.status]).toEqual([200, 403]);
  });

  test("the last use of a sign-in is stored every few minutes, not with each request", async () => {
    const key = await harness.addUser("seen");
    const cookie = await signIn(key);
    const [first] = await signInsOf(cookie);

    harness.clock.aheadMs += 60_000;
    await visit(cookie, `${API}/whoami`);
    const [soon] = await signInsOf(cookie);
    harness.clock.aheadMs += 5 * 60_000;
    await visit(cookie, `${API}/whoami`);

    expect(soon?.last_seen_at).toBe(first?.last_seen_at);
    await waitFor(async () => (await signInsOf(cookie))[0]?.last_seen_at !== first?.last_seen_at, {
      what: "a later last use",
    });
  });

  test("expired sign-ins end and are deleted", async () => {
    const key = await harness.addUser("late");
    const cookie = await signIn(key);
    harness.clock.aheadMs += 12 * 3_600_000 + 1_000;

    const [read, list] = [
      await visit(cookie, `${API}/whoami`),
      await call(harness, `${API}/sign-ins`, { key }),
    ];
    const pruned = await harness.storage.signIns.prune();

    expect([read.status, list.body.sign_ins, pruned > 0]).toEqual([401, [], true]);
    expect(await harness.storage.signIns.prune()).toBe(0);
  });
});

describe("a write by cookie", () => {
  test("a page of the server creates, steers and cancels runs", async () => {
    const cookie = await signIn(await harness.addUser("page"));

    const run = await visit(cookie, `${API}/runs`, { body: { prompt: "do it" } });
    const path = `${API}/runs/${run.body.run_id}`;
    const followUp = await visit(cookie, `${path}/followups`, { body: { message: "more" } });
    const title = await visit(cookie, path, { method: "PATCH", body: { title: "New" } });
    const cancel = await visit(cookie, `${path}/cancel`, { method: "POST" });
    const item = await visit(cookie, path);

    expect([run.status, followUp.status, title.status, cancel.status]).toEqual([200, 200, 200, 200]);
    expect(item.body).toMatchObject({ state: "CANCELLED", source: "WEB_APP", title: "New" });
  });

  test.each<[string, Record<string, string | undefined>]>([
    ["no Origin", { origin: undefined }],
    ["the Origin null", { origin: "null" }],
    ["the Origin of another server", { origin: "https://evil.example" }],
    ["the Origin of another port", { origin: "http://127.0.0.1:8788" }],
    ["the Origin of another scheme", { origin: "https://127.0.0.1:8787" }],
    ["the Origin as a part of another name", { origin: "http://127.0.0.1:8787.evil.example" }],
    ["two origins", { origin: `${PUBLIC_URL}, https://evil.example` }],
    ["a request of another site", { "sec-fetch-site": "cross-site" }],
    ["a request of another server of the same domain", { "sec-fetch-site": "same-site" }],
    ["a request without an initiator", { "sec-fetch-site": "none" }],
  ])("a write by cookie with %s is refused", async (_what, headers) => {
    const cookie = await signIn(harness.key);
    const kept = Object.entries({ ...OWN, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    const request = { body: { prompt: "x" }, key: null, headers: { cookie, ...Object.fromEntries(kept) } };

    const answer = await call(harness, `${API}/runs`, request);

    expect([answer.status, answer.body.code]).toEqual([403, "not_authorized"]);
  });

  test("a write by cookie is repeated once under its idempotency key, secrets included", async () => {
    const cookie = await signIn(harness.key);
    const request = { body: { name: "made by a page" }, headers: { "idempotency-key": "page-1" } };

    const [first, again] = [
      await visit(cookie, `${API}/keys`, request),
      await visit(cookie, `${API}/keys`, request),
    ];
    const other = await visit(await signIn(harness.key), `${API}/keys`, request);

    expect([first.status, again.body]).toEqual([201, first.body]);
    expect([again.headers.get("idempotent-replay"), other.status]).toEqual(["true", 403]);
  });
});

describe("the end of a sign-in", () => {
  test("signing out ends the sign-in, so that a copy of its cookie is useless", async () => {
    const cookie = await signIn(await harness.addUser("out"));

    const foreign = await visit(cookie, "/signout", {
      method: "POST",
      headers: { origin: "https://evil.example" },
    });
    const before = await visit(cookie, `${API}/whoami`);
    const out = await visit(cookie, "/signout", { method: "POST" });
    const after = await visit(cookie, `${API}/whoami`);

    expect([foreign.status, before.status, out.status, after.status]).toEqual([403, 200, 200, 401]);
  });

  test("a principal ends own sign-ins, and nobody else's unless it administrates the team", async () => {
    const [annKey, benKey] = [await harness.addUser("ann"), await harness.addUser("ben")];
    const [ann, other, ben] = [await signIn(annKey), await signIn(annKey), await signIn(benKey)];
    const { principal } = await whoami(annKey);
    const end = (cookie: string, path: string) => visit(cookie, `${API}/${path}`, { method: "DELETE" });

    const byBen = await end(ben, `sign-ins/${await idOf(ann)}`);
    const allByBen = await end(ben, `principals/${principal.uid}/sign-ins`);
    const own = await end(ann, `sign-ins/${await idOf(other)}`);
    const again = await end(
      ann,
      `sign-ins/${(await call(harness, `${API}/whoami`, { key: annKey })).body.team.uid}`,
    );
    const states = [await visit(other, `${API}/whoami`), await visit(ann, `${API}/whoami`)];
    const all = await end(await signIn(harness.key), `principals/${principal.uid}/sign-ins`);
    const after = await visit(ann, `${API}/whoami`);

    expect([byBen.status, allByBen.status, own.status, again.status, all.status]).toEqual([
      404, 403, 204, 404, 204,
    ]);
    expect([...states.map(({ status }) => status), after.status]).toEqual([401, 200, 401]);
  });

  test.each<[string, (key: string) => Promise<unknown>]>([
    ["its key is revoked", (key) => harness.revoke(key)],
    ["its principal is disabled", async (key) => disable((await whoami(key)).principal.uid)],
    ["the sign-in is ended", async (key) => endAll((await whoami(key)).principal.uid)],
  ])("nothing is written with a sign-in in another process once %s", async (what, end) => {
    const there = await startHarness({ sharedWith: harness });
    const key = await harness.addUser(what, { scopes: ["runs:write", "settings:write"] });
    const cookie = await signIn(key);
    const runId = await createRun(harness, {}, { key });
    const send = (path: string, body: object) =>
      call(there, `${API}/${path}`, { body, key: null, headers: { cookie, ...OWN } });
    const before = await send(`runs/${runId}/followups`, { message: "before" });

    await end(key);
    const answers = [
      await send("runs", { prompt: "after" }),
      await send(`runs/${runId}/followups`, { message: "after" }),
      await send("keys", { name: "after" }),
      await send(`runs/${runId}/share-links`, {}),
    ];
    await there.close();

    expect([before.status, answers.map(({ status }) => status)]).toEqual([200, [401, 401, 401, 401]]);
  });

  test("enabling a principal again does not revive its sign-ins", async () => {
    const key = await harness.addUser("back");
    const cookie = await signIn(key);
    const { uid } = (await whoami(key)).principal;

    await disable(uid);
    await call(harness, `${API}/principals/${uid}`, { method: "PATCH", body: { disabled: false } });

    expect([(await visit(cookie, `${API}/whoami`)).status, (await whoami(key)).principal.uid]).toEqual([
      401,
      uid,
    ]);
  });
});

async function whoami(key: string): Promise<{ principal: { uid: string }; team: { uid: string } }> {
  return (await call(harness, `${API}/whoami`, { key })).body;
}

async function disable(uid: string): Promise<void> {
  await call(harness, `${API}/principals/${uid}`, { method: "DELETE" });
}

async function endAll(uid: string): Promise<void> {
  await call(harness, `${API}/principals/${uid}/sign-ins`, { method: "DELETE" });
}

/** Signs in as a later way does that needs no key, and returns the cookie. */
async function signInWithoutKey(uid: string): Promise<string> {
  const { storage, clock } = harness;
  const [principal] = await storage.people.getMany([uid as PrincipalId]);
  if (principal === undefined) {
    throw new Error("There is no such principal.");
  }
  const token = newToken();
  const tokenHash = createKeyHasher(SECRET)(token);
  await new SignInService({ storage, clock }).create(principal, { method: "oidc", tokenHash });
  const payload = `${token}.${Math.floor(clock.now().getTime() / 1_000) + 60}`;
  return `errand_session=${payload}.${new Signer(SECRET, "cookie").sign(payload)}`;
}
