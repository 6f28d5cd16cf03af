import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKeyHasher } from "../../../src/api/auth/api-keys.ts";
import type { PrincipalId } from "../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, SECRET, startHarness } from "./api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness({ limits: { failedSignIns: 50 } });
});
afterAll(() => harness.close());

const API = "/api/v1/agent";
const OWN = { origin: PUBLIC_URL, "sec-fetch-site": "same-origin" };

interface Codes {
  readonly device_code: string;
  readonly user_code: string;
}

async function signIn(key: string): Promise<string> {
  const answer = await call(harness, "/signin", { body: { key }, key: null });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** A sign-in that does not depend on a key. */
async function signInByLink(uid: string): Promise<string> {
  const [token, createdAt] = [randomUUID(), harness.clock.now()];
  const hash = createKeyHasher(SECRET)(token);
  const expiresAt = new Date(createdAt.getTime() + 60_000);
  const link = {
    id: randomUUID(),
    teamId: FIRST_TEAM,
    principalId: uid as PrincipalId,
    createdAt,
    expiresAt,
  };
  await harness.storage.signInLinks.add(link, hash);
  const answer = await call(harness, "/signin/link", { body: { token }, key: null });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

async function createCodes(clientName = "errand on lab-1"): Promise<Codes> {
  const answer = await call(harness, `${API}/device-codes`, { body: { client_name: clientName }, key: null });
  expect(answer.status).toBe(200);
  return answer.body;
}

function askForKey({ device_code }: Pick<Codes, "device_code">): Promise<Answer> {
  return call(harness, `${API}/device-codes/token`, { body: { device_code }, key: null });
}

function submit(cookie: string, path: string, form: Record<string, string>, headers = OWN): Promise<Answer> {
  return call(harness, path, {
    method: "POST",
    body: new URLSearchParams(form).toString(),
    key: null,
    headers: { cookie, ...headers, "content-type": "application/x-www-form-urlencoded" },
  });
}

function decide(cookie: string, { user_code }: Codes, decision = "allow"): Promise<Answer> {
  return submit(cookie, "/device/decision", { user_code, decision });
}

/** Lets the interval between two requests for the key pass. */
function waitForInterval(): void {
  harness.clock.aheadMs += 60_000;
}

describe("a device code", () => {
  test("the codes come with the page, their lifetime and the interval", async () => {
    const answer = await call(harness, `${API}/device-codes`, { method: "POST", key: null });

    expect(answer.body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${PUBLIC_URL}/device`,
      expires_in: 600,
      interval: 5,
    });
  });

  test("the program gets a key of 90 days once the person has allowed it", async () => {
    const cookie = await signIn(await harness.addUser("lea", { scopes: ["runs:write", "settings:write"] }));
    const codes = await createCodes();
    const before = await askForKey(codes);

    const page = await submit(cookie, "/device", {
      user_code: codes.user_code.toLowerCase().replace("-", " "),
    });
    const allowed = await decide(cookie, codes);
    waitForInterval();
    const { body, status } = await askForKey(codes);
    const who = await call(harness, `${API}/whoami`, { key: body.key });
    const listed = await call(harness, `${API}/keys`, { key: body.key });

    expect([before.status, before.body.reason, before.headers.get("x-should-retry")]).toEqual([
      400,
      "authorization_pending",
      "false",
    ]);
    expect(page.text).toContain("errand on lab-1");
    expect(page.text).toContain(codes.user_code);
    expect(page.text).toContain("127.0.0.1");
    expect([allowed.status, status]).toEqual([200, 200]);
    expect(who.body).toMatchObject({
      principal: { display_name: "lea" },
      scopes: ["runs:write", "settings:write"],
    });
    const days = Math.round((Date.parse(body.expires_at) - Date.parse(body.created_at)) / 86_400_000);
    expect([days, body.name]).toEqual([90, "errand on lab-1"]);
    expect(listed.body.keys.map(({ id }: { id: string }) => id)).toContain(body.id);
  });

  test("the key is handed out once, even to concurrent requests", async () => {
    const codes = await createCodes();
    await decide(await signIn(await harness.addUser("once")), codes);

    const answers = await Promise.all(Array.from({ length: 8 }, () => askForKey(codes)));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ body }) => body.reason))).toEqual(new Set(["expired_token"]));
  });

  test("a program that asks too often is told to slow down", async () => {
    const codes = await createCodes();

    const reasons = [(await askForKey(codes)).body.reason, (await askForKey(codes)).body.reason];
    waitForInterval();
    reasons.push((await askForKey(codes)).body.reason);

    expect(reasons).toEqual(["authorization_pending", "slow_down", "authorization_pending"]);
  });

  test("a person who does not allow the program ends its code", async () => {
    const cookie = await signIn(await harness.addUser("no"));
    const codes = await createCodes();

    await decide(cookie, codes, "deny");
    const later = await decide(cookie, codes);

    expect([(await askForKey(codes)).body.reason, later.status]).toEqual(["access_denied", 404]);
  });

  test("expired and unknown codes give no key and no page", async () => {
    const cookie = await signIn(await harness.addUser("late"));
    const codes = await createCodes();
    harness.clock.aheadMs += 600_000;

    const [late, unknown] = [await askForKey(codes), await askForKey({ device_code: "made-up" })];
    const page = await submit(cookie, "/device", { user_code: codes.user_code });

    expect([late.body.reason, unknown.body.reason, page.status]).toEqual([
      "expired_token",
      "expired_token",
      404,
    ]);
  });

  test("a key of less scopes gives the program no more, and administrators give no administration", async () => {
    const [reader, admin] = [await createCodes(), await createCodes()];
    await decide(await signIn(await harness.addUser("reader", { scopes: ["runs:read"] })), reader);
    await decide(await signIn(harness.key), admin);

    const [ofReader, ofAdmin] = [await askForKey(reader), await askForKey(admin)];

    expect(ofReader.body.scopes).toEqual(["runs:read"]);
    expect(ofAdmin.body.scopes).toEqual(["runs:write", "settings:write"]);
  });

  test("no key is given after the key or the principal that allowed it has ended", async () => {
    const [key, codes] = [await harness.addUser("gone"), await createCodes()];
    await decide(await signIn(key), codes);

    await harness.revoke(key);

    expect((await askForKey(codes)).body.reason).toBe("access_denied");
  });

  test("no key is given after all keys of the person were revoked, and a later approval gives one", async () => {
    const { principal } = (await call(harness, `${API}/whoami`, { key: await harness.addUser("robbed") }))
      .body;
    const cookie = await signInByLink(principal.uid);
    const [stolen, later] = [await createCodes(), await createCodes()];
    await decide(cookie, stolen);

    const revoked = await call(harness, `${API}/principals/${principal.uid}/keys`, { method: "DELETE" });
    await decide(cookie, later);

    expect(revoked.status).toBe(200);
    expect((await askForKey(stolen)).body.reason).toBe("access_denied");
    expect((await askForKey(later)).status).toBe(200);
  });

  test("a client name cannot inject markup into the page", async () => {
    const codes = await createCodes("<script>alert(1)</script>");

    const page = await submit(await signIn(await harness.addUser("markup")), "/device", {
      user_code: codes.user_code,
    });

    expect(page.status).toBe(200);
    expect(page.text).not.toContain("<script>");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });

  test.each([
    ["hidden\u202e\u200bname\u0007", "hiddenname"],
    ["\u2800\u200b", "a program without a name"],
  ])("the page shows the name of a program without what nobody sees", async (name, shown) => {
    const codes = await createCodes(name);

    const page = await submit(await signIn(await harness.addUser("seer")), "/device", {
      user_code: codes.user_code,
    });

    expect(page.text).toContain(shown);
    expect(["\u202e", "\u200b", "\u0007", "\u2800"].filter((one) => page.text.includes(one))).toEqual([]);
  });

  test("an approved code of a person who was suspended meanwhile gives no key", async () => {
    const codes = await createCodes("of a leaver");
    const key = await harness.addUser("leaver");
    await decide(await signIn(key), codes);
    const { uid } = (await call(harness, `${API}/whoami`, { key })).body.principal;
    const [leaver] = await harness.storage.people.getMany([uid]);
    await harness.storage.people.put({
      ...(leaver ?? expect.fail()),
      disabled: true,
      suspendedAt: new Date(),
    });

    expect((await askForKey(codes)).body.reason).toBe("access_denied");
  });

  test("the decision names its author in the audit log, and so does the key", async () => {
    const codes = await createCodes("audited program");
    await decide(await signIn(await harness.addUser("author")), codes);
    const { body: key } = await askForKey(codes);

    const entries = (await call(harness, `${API}/audit?limit=20`)).body.entries;

    const decision = entries.find(({ action }: { action: string }) => action === "device_code.updated");
    const created = entries.find(({ target }: { target: { id: string } }) => target.id === key.id);
    expect(entries.filter(({ action }: { action: string }) => action === "sign_in.created")).not.toEqual([]);
    expect(created).toMatchObject({ action: "key.created", actor: { uid: key.principal_uid, type: "user" } });
    expect(JSON.stringify(entries)).not.toContain(codes.device_code);
    expect(decision?.target.type).toBe("device_code");
  });
});

describe("the pages of device codes", () => {
  test("a visitor who is not signed in is asked to sign in and comes back", async () => {
    const page = await call(harness, "/device", { key: null });
    const entered = await submit("", "/device/decision", { user_code: "BCDF-GHJK", decision: "allow" });

    expect([page.status, page.headers.get("location")]).toEqual([303, "/signin?next=%2Fdevice"]);
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/signin?next=%2Fdevice"]);
  });

  test("another site cannot enter or allow a code", async () => {
    const cookie = await signIn(await harness.addUser("victim"));
    const codes = await createCodes();
    const other = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

    const entered = await submit(cookie, "/device", { user_code: codes.user_code }, other);
    const allowed = await submit(cookie, "/device/decision", { ...codes, decision: "allow" }, other);

    expect([entered.status, allowed.status]).toEqual([403, 403]);
    expect((await askForKey(codes)).body.reason).toBe("authorization_pending");
  });

  test("guessing codes is limited per principal", async () => {
    const own = await startHarness({ sharedWith: harness, limits: { failedSignIns: 3 } });
    const signedIn = await call(own, "/signin", { body: { key: await harness.addUser("guess") }, key: null });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const guess = () =>
      call(own, "/device", { body: { user_code: "BCDF-GHJK" }, key: null, headers: { cookie, ...OWN } });

    const statuses = [];
    for (let count = 0; count < 4; count += 1) {
      statuses.push((await guess()).status);
    }
    await own.close();

    expect(statuses).toEqual([404, 404, 404, 429]);
  });
});

test("a network gets 30 device codes at a time, also of concurrent requests, and more when they expire", async () => {
  const ask = async () => (await call(harness, `${API}/device-codes`, { body: {}, key: null })).status;
  harness.clock.aheadMs += 11 * 60_000;

  // Under load, some of so many requests get no connection to the database in time, and get a 503.
  const statuses = await Promise.all(Array.from({ length: 120 }, ask));
  while (statuses.at(-1) !== 429) {
    statuses.push(await ask());
  }
  harness.clock.aheadMs += 11 * 60_000;

  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  expect(await ask()).toBe(200);
});
