import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLogger, plainLog } from "../../../src/app/logger.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { SignInProvider } from "../../../src/core/ports/sign-in-provider.ts";
import { SignInRenewals } from "../../../src/core/team/people/sign-in-renewal.ts";
import { oidcProvider } from "../../../src/outgoing/sign-in/oidc.ts";
import { Browser, type Page } from "../../support/browser.ts";
import { OIDC_CLIENT, type OidcIssuer, startOidcIssuer } from "../../support/oidc-issuer.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const API = "/api/v1/agent";
const CALLBACK = "/signin/oidc/callback";
const MINUTE_MS = 60_000;
const ANN = { email: "ann@acme.test", email_verified: true, name: "Ann" };

/** A provider that accepts each code as often as it comes. */
const ALWAYS_YES: SignInProvider = {
  ...{ method: "slack", name: "Yes", icon: "" },
  authorizationUrl: async ({ state }) => new URL(`http://127.0.0.1/?code=same&state=${state}`),
  prove: async () => ({ subject: "yes:ann", memberships: [{ team: FIRST_TEAM }] }),
};

let issuer: OidcIssuer;
let provider: SignInProvider;
let harness: ApiHarness;
let other: ApiHarness;
let browser: Browser;
let logged: string[];
let count = 0;

beforeAll(async () => {
  issuer = await startOidcIssuer(`${PUBLIC_URL}${CALLBACK}`);
  provider = oidcProvider({
    ...OIDC_CLIENT,
    issuer: issuer.url,
    name: "acme SSO",
    scopes: "openid email profile",
    domains: ["acme.test"],
    trustsEmail: false,
    groupsClaim: "groups",
    groups: [{ group: "leads", team: FIRST_TEAM, role: "administrator" }],
  });
  harness = await startHarness({ signInProviders: [provider, ALWAYS_YES] });
  other = await startHarness({ signInProviders: [provider, ALWAYS_YES], sharedWith: harness });
});
afterAll(async () => {
  await other.close();
  await harness.close();
  await issuer.stop();
});
beforeEach(() => {
  logged = [];
  harness.clock.aheadMs = 0;
  Object.assign(issuer, { isDown: false, givesRefreshTokens: false });
  browser = newBrowser();
});

function newBrowser(): Browser {
  return new Browser((url) =>
    url.origin === PUBLIC_URL ? new URL(url.href.replace(PUBLIC_URL, harness.url)) : url,
  );
}

/** Signs a new person in and returns the uid. */
async function signIn(claims: Readonly<Record<string, unknown>> = ANN): Promise<{ id: string; uid: string }> {
  count += 1;
  const id = `person-${count}`;
  issuer.accounts.set(id, claims);
  issuer.next = id;
  await browser.open(`${PUBLIC_URL}/signin/oidc`);
  return { id, uid: (await whoami()).body.principal.uid };
}

async function whoami() {
  return call(harness, `${API}/whoami`, { key: null, headers: cookie() });
}

function cookie() {
  return { cookie: browser.cookiesFor(PUBLIC_URL), origin: PUBLIC_URL };
}

function open(path: string): Promise<Page> {
  return browser.open(`${PUBLIC_URL}${path}`);
}

/** A round of renewals of a further process. */
async function renew(): Promise<void> {
  const { clock, secrets, storage } = harness;
  const log = plainLog(
    createLogger(
      "debug",
      (text) => text,
      (line) => logged.push(line),
    ),
  );
  await new SignInRenewals({ storage, clock, secrets, providers: [provider], log }).round();
}

async function keyOf(): Promise<string> {
  const { body } = await call(harness, `${API}/keys`, {
    ...{ method: "POST", body: { name: "mine", scopes: ["runs:write"] }, key: null, headers: cookie() },
  });
  return body.key;
}

const statusOf = async (key: string) => (await call(harness, `${API}/whoami`, { key })).status;
const later = (minutes: number) => {
  harness.clock.aheadMs += minutes * MINUTE_MS;
};

describe("a sign-in with a refresh token", () => {
  beforeEach(() => {
    issuer.givesRefreshTokens = true;
  });

  test("is renewed with tokens that work once, by one of several processes", async () => {
    await signIn();
    const before = issuer.tokenRequests.length;
    for (let round = 0; round < 3; round += 1) {
      later(20);
      await Promise.all([renew(), renew()]);
    }

    expect(issuer.tokenRequests.length - before).toBe(3);
    expect((await whoami()).status).toBe(200);
    expect((await open("/")).url.href).toBe(`${PUBLIC_URL}/`);
  });

  test("loses the role of a group that the person has left, and so do the keys of the person", async () => {
    const { id } = await signIn({ ...ANN, groups: ["leads"] });
    const { body } = await call(harness, `${API}/keys`, {
      ...{ method: "POST", body: { name: "admin", scopes: ["admin"] }, key: null, headers: cookie() },
    });
    const before = (await whoami()).body.scopes;
    issuer.accounts.set(id, { ...ANN, groups: ["engineers"] });
    later(20);

    await renew();

    const now = (await call(harness, `${API}/whoami`, { key: body.key })).body;
    const listed = (await call(harness, `${API}/keys`, { key: body.key })).body.keys;
    expect([before, (await whoami()).body.scopes]).toEqual([["admin"], ["runs:write", "settings:write"]]);
    expect([now.scopes, now.key.scopes, now.is_administrator]).toEqual([
      ["runs:write", "settings:write"],
      ["runs:write", "settings:write"],
      false,
    ]);
    expect(listed.map(({ scopes }: { scopes: unknown }) => scopes)).toEqual([
      ["runs:write", "settings:write"],
    ]);
    expect((await call(harness, `${API}/policies`, { key: body.key })).status).toBe(403);
  });

  test("ends with everything that the person made when the issuer no longer knows the person", async () => {
    const { id, uid } = await signIn();
    const key = await keyOf();
    const { run_id: runId } = (
      await call(harness, `${API}/runs`, { body: { prompt: "share me" }, key: null, headers: cookie() })
    ).body;
    const link = (
      await call(harness, `${API}/runs/${runId}/share-links`, {
        ...{ method: "POST", body: {}, key: null, headers: cookie() },
      })
    ).body.url;
    const guest = async () => (await newBrowser().open(link)).status;
    const shared = await guest();
    issuer.accounts.delete(id);
    later(20);

    await renew();

    const statuses = [(await whoami()).status, await statusOf(key), await guest()];
    issuer.accounts.set(id, ANN);
    issuer.next = id;
    browser = newBrowser();
    await open("/signin/oidc");
    const back = (await whoami()).body;
    expect([shared, ...statuses]).toEqual([200, 401, 401, 404]);
    expect([back.principal.uid, await statusOf(key), await guest()]).toEqual([uid, 200, 200]);
  });

  test("stays as it is if the issuer names no e-mail address without the browser", async () => {
    const { id } = await signIn();
    issuer.accounts.set(id, { name: "Ann" });
    later(20);

    await renew();

    expect((await whoami()).status).toBe(200);
    expect(logged.join("")).toContain("names no e-mail address without the browser");
  });

  test("is not asked about with a token of another client or issuer", async () => {
    const stored = { iss: issuer.url, sub: "ann", refreshToken: "token", clientId: OIDC_CLIENT.clientId };
    const before = issuer.tokenRequests.length;

    const answers = await Promise.all(
      [{ clientId: "former" }, { iss: "https://former.example" }].map((changes) =>
        provider.again?.renew(JSON.stringify({ ...stored, hasGroups: false, hasEmail: true, ...changes })),
      ),
    );

    expect(answers.map((answer) => answer?.outcome)).toEqual(["unclear", "unclear"]);
    expect(issuer.tokenRequests.length).toBe(before);
  });

  test("stays as it is while the issuer does not answer, and is renewed afterwards", async () => {
    await signIn();
    issuer.isDown = true;
    later(20);
    await renew();
    const during = (await whoami()).status;
    issuer.isDown = false;
    later(6);

    await renew();

    expect([during, (await whoami()).status]).toEqual([200, 200]);
    expect(logged.join()).toContain("sign-in.provider.unavailable");
  });

  test("its token is in no log line, audit entry or answer, and no sealed value is under its plain text", async () => {
    const { uid } = await signIn();
    later(20);
    await renew();
    const tokens = issuer.tokenRequests.flatMap(
      (body) => new URLSearchParams(body).get("refresh_token") ?? [],
    );
    const audit = await call(harness, `${API}/audit?limit=500`);
    const signIns = await call(harness, `${API}/sign-ins`);

    const everything = [logged, harness.logged, audit.text, signIns.text].join();
    expect(tokens.length).toBeGreaterThan(0);
    for (const token of tokens) {
      expect(everything).not.toContain(token);
    }
    expect(everything).not.toMatch(/sealed_renewal|refresh_token/);
    expect(audit.text).toContain(uid);
  });
});

describe("a sign-in without a refresh token", () => {
  test("is proven again at the next page after an hour, without a question, and replaces the former", async () => {
    await signIn();
    const first = (await whoami()).body.sign_in.id;
    later(59);
    await open("/schedules");
    const early = (await whoami()).body.sign_in.id;
    later(2);

    const page = await open("/schedules?q=x");

    const now = (await whoami()).body.sign_in.id;
    const list = (await call(harness, `${API}/sign-ins`, { key: null, headers: cookie() })).body.sign_ins;
    expect([early, now === first, page.url.href]).toEqual([first, false, `${PUBLIC_URL}/schedules?q=x`]);
    expect(list.map(({ id }: { id: string }) => id)).toEqual([now]);
  });

  test("loses the role of a group at that page", async () => {
    const { id } = await signIn({ ...ANN, groups: ["leads"] });
    issuer.accounts.set(id, ANN);
    later(61);

    await open("/");

    expect((await whoami()).body.is_administrator).toBe(false);
  });

  test("ends if the issuer would have to ask, and the person comes to the sign-in page, without a loop", async () => {
    await signIn();
    const former = cookie();
    browser.forget(issuer.url);
    later(61);

    const page = await open("/schedules");

    expect(`${page.url.pathname}${page.url.search}`).toBe("/signin?next=%2Fschedules");
    expect((await call(harness, `${API}/whoami`, { key: null, headers: former })).status).toBe(401);
  });

  test("ends if another person is signed in at the issuer, and nobody becomes that person", async () => {
    await signIn();
    browser.forget(issuer.url);
    issuer.accounts.set("another", ANN);
    issuer.next = "another";
    await browser.open(`${PUBLIC_URL}/signin/oidc`, ({ pathname }) => pathname === CALLBACK);
    later(61);

    const page = await open("/schedules");

    expect(page.url.pathname).toBe("/signin");
    expect((await whoami()).status).toBe(401);
  });

  test("suspends a person whom nothing admits any more", async () => {
    const { id } = await signIn();
    const key = await keyOf();
    issuer.accounts.set(id, { name: "Ann" });
    later(61);

    const page = await open("/");

    expect([page.status, await statusOf(key), (await whoami()).status]).toEqual([403, 401, 401]);
  });

  test("stays as it is while the issuer does not answer, and tries again after a pause", async () => {
    await signIn();
    const first = (await whoami()).body.sign_in.id;
    issuer.isDown = true;
    later(61);
    const served = await open("/schedules");
    issuer.isDown = false;
    const soon = await open("/schedules");
    const during = (await whoami()).body.sign_in.id;
    later(6);

    await open("/schedules");

    expect([served.status, served.url.pathname, soon.url.pathname]).toEqual([
      200,
      "/schedules",
      "/schedules",
    ]);
    expect([during, (await whoami()).body.sign_in.id === first]).toEqual([first, false]);
  });

  test("is not ended by a forged answer of another site", async () => {
    await signIn();
    const first = (await whoami()).body.sign_in.id;
    later(61);
    await browser.open(`${PUBLIC_URL}/schedules`, (url) => url.origin === issuer.url);

    const page = await open(`${CALLBACK}?error=login_required&state=forged`);

    expect(page.url.href).toBe(`${PUBLIC_URL}/schedules`);
    expect((await whoami()).body.sign_in.id).toBe(first);
  });

  test("a request of a script, a prefetch and a share link are not sent to the issuer", async () => {
    await signIn();
    later(61);
    const headers = [{ "sec-fetch-dest": "empty" }, { "sec-purpose": "prefetch" }];

    const statuses = [];
    for (const extra of headers) {
      const answer = await call(harness, "/schedules", { key: null, headers: { ...cookie(), ...extra } });
      statuses.push(answer.status);
    }

    expect(statuses).toEqual([200, 200]);
  });
});

describe("the callback", () => {
  async function toCallback(): Promise<string> {
    issuer.accounts.set("caller", ANN);
    issuer.next = "caller";
    const { url } = await browser.open(`${PUBLIC_URL}/signin/oidc`, ({ pathname }) => pathname === CALLBACK);
    return `${CALLBACK}${url.search}`;
  }

  test("one attempt leads to one sign-in, also in two processes at once and with a provider that says yes twice", async () => {
    const { headers, url } = await fetch(`${harness.url}/signin/slack`, { redirect: "manual" }).then(
      (response) => ({
        headers: {
          cookie: response.headers
            .getSetCookie()
            .map((line) => line.split(";")[0])
            .join("; "),
        },
        url: new URL(response.headers.get("location") ?? ""),
      }),
    );
    const callback = `/signin/slack/callback${url.search}`;

    const answers = await Promise.all(
      [harness, other, harness].map((server) => call(server, callback, { key: null, headers })),
    );

    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401, 401]);
  });

  test("failed callbacks of one address keep nobody out, with or without an attempt", async () => {
    const statuses = new Set<number>();
    for (let tries = 0; tries < 30; tries += 1) {
      statuses.add((await call(harness, `${CALLBACK}?code=made-up&state=x`, { key: null })).status);
      browser = newBrowser();
      await toCallback();
      statuses.add((await open(`${CALLBACK}?code=made-up&state=x`)).status);
    }
    browser = newBrowser();
    await signIn();

    expect([[...statuses].toSorted(), (await whoami()).status]).toEqual([[400, 401], 200]);
  });
});

describe("the last administrator of a team", () => {
  test("reads at the sign-in that a role from a group has ended, and goes on", async () => {
    const team = (await call(harness, `${API}/teams`, { body: { name: "Alone" } })).body;
    const groups = [{ group: "alone", team: team.uid, role: "administrator" as const }];
    const settings = { ...OIDC_CLIENT, issuer: issuer.url, name: "SSO", scopes: "openid email profile" };
    const rules = { domains: [], trustsEmail: false, groupsClaim: "groups", groups };
    const members = [...groups, { group: "staff", team: team.uid, role: "member" as const }];
    const alone = await startHarness({
      signInProviders: [oidcProvider({ ...settings, ...rules, groups: members })],
      sharedWith: harness,
    });
    const own = new Browser((url) =>
      url.origin === PUBLIC_URL ? new URL(url.href.replace(PUBLIC_URL, alone.url)) : url,
    );
    issuer.next = "solo";
    issuer.accounts.set("solo", { name: "Solo", groups: ["alone"] });
    await own.open(`${PUBLIC_URL}/signin/oidc`);
    issuer.accounts.set("solo", { name: "Solo", groups: ["staff"] });

    const page = await own.open(`${PUBLIC_URL}/signin/oidc?next=%2Fschedules`);

    await alone.close();
    expect([page.status, page.text.includes("Your team has no administrator")]).toEqual([200, true]);
    expect(page.text).toContain('href="/schedules"');
  });
});
