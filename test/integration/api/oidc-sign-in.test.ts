import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import { oidcProvider } from "../../../src/outgoing/sign-in/oidc.ts";
import { Browser, type Page } from "../../support/browser.ts";
import { OIDC_CLIENT, type OidcIssuer, startOidcIssuer } from "../../support/oidc-issuer.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const API = "/api/v1/agent";
const CALLBACK = "/signin/oidc/callback";
const RUN = "/runs/0195b2a4-5c1f-7d90-a4c3-2e6f8b1d0a7c";

let issuer: OidcIssuer;
let otherIssuer: OidcIssuer;
let harness: ApiHarness;
let browser: Browser;

beforeAll(async () => {
  issuer = await startOidcIssuer(`${PUBLIC_URL}${CALLBACK}`);
  otherIssuer = await startOidcIssuer(`${PUBLIC_URL}${CALLBACK}`);
  harness = await startHarness({
    limits: { failedSignIns: 1_000 },
    signInProviders: [
      oidcProvider({
        ...OIDC_CLIENT,
        issuer: issuer.url,
        name: "acme SSO",
        scopes: "openid email profile",
        domains: ["acme.test"],
        trustsEmail: false,
        groupsClaim: "groups",
        groups: [
          { group: "leads", team: FIRST_TEAM, role: "administrator" },
          { group: "engineers", team: FIRST_TEAM, role: "member" },
          { group: "platform", team: "Platform", role: "administrator" },
          { group: "gone", team: "A team that does not exist", role: "member" },
        ],
      }),
    ],
  });
});
afterAll(async () => {
  await harness.close();
  await issuer.stop();
  await otherIssuer.stop();
});
beforeEach(() => {
  browser = newBrowser();
});

function newBrowser(): Browser {
  return new Browser((url) =>
    url.origin === PUBLIC_URL ? new URL(url.href.replace(PUBLIC_URL, harness.url)) : url,
  );
}

function account(id: string, claims: Readonly<Record<string, unknown>>): void {
  issuer.accounts.set(id, claims);
  issuer.next = id;
}

function signIn(id: string, claims: Readonly<Record<string, unknown>>, next = "/"): Promise<Page> {
  account(id, claims);
  return browser.open(`${PUBLIC_URL}/signin/oidc?next=${encodeURIComponent(next)}`);
}

/** Goes to the issuer and stops before the callback, whose address it returns. */
async function toCallback(id: string, claims: Readonly<Record<string, unknown>>): Promise<URL> {
  account(id, claims);
  const { url } = await browser.open(`${PUBLIC_URL}/signin/oidc`, ({ pathname }) => pathname === CALLBACK);
  return url;
}

async function whoami() {
  const headers = { cookie: browser.cookiesFor(PUBLIC_URL) };
  return call(harness, `${API}/whoami`, { key: null, headers });
}

/** What an issuer says that names a place to ask for the groups, and not the groups. */
const LEFT_OUT = {
  _claim_names: { groups: "source" },
  _claim_sources: { source: { endpoint: "https://graph.example/groups" } },
};
const ANN = { email: "ann@acme.test", email_verified: true, name: "Ann" };

describe("signing in with OpenID Connect", () => {
  test("a verified address of a listed domain signs in as a member and comes back", async () => {
    const page = await call(harness, `/signin?next=${RUN}`, { key: null });
    const arrived = await signIn("ann", ANN, RUN);
    const { body } = await whoami();

    expect(page.text).toContain("Continue with acme SSO");
    expect(arrived.url.pathname).toBe(RUN);
    expect(body).toMatchObject({
      principal: { display_name: "Ann", email: "ann@acme.test" },
      scopes: ["runs:write", "settings:write"],
      sign_in: { method: "oidc" },
    });
  });

  test("the same account is the same principal at its next sign-in", async () => {
    await signIn("again", ANN);
    const first = (await whoami()).body.principal.uid;
    browser = newBrowser();
    await signIn("again", ANN);

    expect((await whoami()).body.principal.uid).toBe(first);
  });

  test("groups decide the role at every sign-in", async () => {
    const scopes = [];
    for (const groups of [["engineers", "leads"], ["engineers"]]) {
      browser = newBrowser();
      await signIn("lead", { name: "Lea", groups });
      scopes.push((await whoami()).body.scopes);
    }

    expect(scopes).toEqual([["admin"], ["runs:write", "settings:write"]]);
  });

  test("a policy applies to the groups of a person", async () => {
    const match = { groups: ["contractors"] };
    const policy = { name: "No contractors", effect: "deny", match };
    const { id } = (await call(harness, `${API}/policies`, { body: policy })).body;
    const statuses = [];

    for (const groups of [["engineers", "contractors"], ["engineers"], "contractors"]) {
      browser = newBrowser();
      await signIn("cora", { ...ANN, groups });
      const headers = { cookie: browser.cookiesFor(PUBLIC_URL), origin: PUBLIC_URL };
      statuses.push(
        (await call(harness, `${API}/runs`, { body: { prompt: "say hello" }, key: null, headers })).status,
      );
    }

    await call(harness, `${API}/policies/${id}`, { method: "DELETE" });
    expect(statuses).toEqual([403, 200, 403]);
  });

  test("groups decide the team", async () => {
    const team = (await call(harness, `${API}/teams`, { body: { name: "Platform" } })).body;

    await signIn("pia", { name: "Pia", groups: ["platform"] });

    expect((await whoami()).body).toMatchObject({
      principal: { display_name: "Pia" },
      team: { uid: team.uid, name: "Platform" },
      scopes: ["admin"],
    });
  });

  test("the audit log names the provider for the new member, and the member for the sign-in", async () => {
    await signIn("audited", { name: "Audrey", groups: ["engineers"] });
    const { uid } = (await whoami()).body.principal;

    const { entries } = (await call(harness, `${API}/audit?limit=20`)).body;

    const actorOf = (action: string, id?: string) =>
      entries.find(
        (entry: { action: string; target: { id: string } }) =>
          entry.action === action && (id === undefined || entry.target.id === id),
      )?.actor;
    expect(actorOf("principal.created", uid)).toMatchObject({ uid: "sign-in:oidc", type: "system" });
    expect(actorOf("sign_in.created")).toMatchObject({ uid, type: "user", address: "127.0.0.1" });
  });

  test.each([
    ["an address that is not verified", { email: "eve@acme.test", email_verified: false }],
    ["an address without a word about it", { email: "eve@acme.test" }],
    ["an address whose verification is a text", { email: "eve@acme.test", email_verified: "true" }],
    ["an address of another domain", { email: "eve@evil.test", email_verified: true }],
    ["an address that ends like a listed domain", { email: "eve@not-acme.test", email_verified: true }],
    ["an address that contains a listed domain", { email: "eve@acme.test@evil.test", email_verified: true }],
    ["a group that nobody listed", { groups: ["engineers2"] }],
    ["a group of a team that does not exist", { groups: ["gone"] }],
    ["groups in another form", { groups: { engineers: true } }],
    ["an address with a line break", { email: "eve@acme.test\n", email_verified: true }],
    ["an address with a character that nobody sees", { email: "eve\u200b@acme.test", email_verified: true }],
    ["an address with a space", { email: "eve x@acme.test", email_verified: true }],
    ["nothing", {}],
  ])("a person with %s becomes no member and reads whom to ask", async (_what, claims) => {
    const before = (await harness.storage.people.list(FIRST_TEAM)).length;

    const page = await signIn("eve", { name: "<b>Eve</b>", ...claims });

    expect([page.status, page.text.includes("Ask olga@acme.test."), page.text.includes("<b>")]).toEqual([
      403,
      true,
      false,
    ]);
    expect(page.text).toContain(`oidc:${issuer.url}#eve`);
    expect((await whoami()).status).toBe(401);
    expect((await harness.storage.people.list(FIRST_TEAM)).length).toBe(before);
  });

  test.each([
    ["no verification", { email: "eve@acme.test" }, "sends no email_verified"],
    [
      "a denied verification",
      { email: "eve@acme.test", email_verified: false },
      "email_verified is not true",
    ],
    ["no address", {}, "names no e-mail address"],
    ["groups that are left out", LEFT_OUT, "left the groups out"],
  ])("the log says that a person was refused because of %s", async (_what, claims, reason) => {
    await signIn("eve", claims);

    const line = harness.logged.filter((one) => one.includes("sign-in.refused")).at(-1);
    expect(line).toContain(reason);
    expect(line).not.toContain("eve@acme.test");
  });

  test("a person whose groups are left out is neither suspended nor demoted", async () => {
    await signIn("many", { ...ANN, groups: ["leads"] });
    browser = newBrowser();
    await signIn("many", { ...ANN, ...LEFT_OUT });

    expect((await whoami()).body.scopes).toEqual(["admin"]);
  });

  test("the name of a person has no characters that nobody sees", async () => {
    await signIn("hidden", { ...ANN, name: "An\u202en\u200b\r\nAdmin" });

    expect((await whoami()).body.principal.display_name).toBe("Ann Admin");
  });

  test("an account that an administrator linked signs in as its principal", async () => {
    const principal = await harness.storage.people.ensure(FIRST_TEAM, "chat:otto", "Otto");
    const link = { subject: `oidc:${issuer.url}#otto`, principal_uid: principal.id };
    expect((await call(harness, `${API}/identity-links`, { body: link })).status).toBe(201);

    await signIn("otto", {});

    expect((await whoami()).body.principal.uid).toBe(principal.id);
  });

  test("the same subject of another issuer is another account", async () => {
    const principal = await harness.storage.people.ensure(FIRST_TEAM, "chat:olaf", "Olaf");
    const link = { subject: `oidc:${otherIssuer.url}#olaf`, principal_uid: principal.id };
    await call(harness, `${API}/identity-links`, { body: link });

    expect((await signIn("olaf", {})).status).toBe(403);
  });

  test("an account that was only seen does not sign in", async () => {
    await harness.storage.people.ensure(FIRST_TEAM, `oidc:${issuer.url}#seen`, "Seen");

    expect((await signIn("seen", {})).status).toBe(403);
  });

  test("a disabled principal does not sign in", async () => {
    await signIn("dora", ANN);
    const { uid } = (await whoami()).body.principal;
    await call(harness, `${API}/principals/${uid}`, { method: "PATCH", body: { disabled: true } });
    browser = newBrowser();

    expect((await signIn("dora", ANN)).status).toBe(403);
  });
});

describe("a forged callback", () => {
  test("a callback with another state signs nobody in", async () => {
    const url = await toCallback("ann", ANN);
    url.searchParams.set("state", "forged");

    expect((await browser.open(url.href)).status).toBe(401);
    expect((await whoami()).status).toBe(401);
  });

  test("a callback signs nobody in whose browser did not begin the sign-in", async () => {
    const url = await toCallback("ann", ANN);
    browser = newBrowser();

    expect((await browser.open(url.href)).status).toBe(400);
    expect((await whoami()).status).toBe(401);
  });

  test("a code works once", async () => {
    const url = await toCallback("ann", ANN);
    const cookie = browser.cookiesFor(PUBLIC_URL);
    const replay = () => call(harness, `${CALLBACK}${url.search}`, { key: null, headers: { cookie } });

    const [first, second] = [await replay(), await replay()];

    expect([first.status, second.status]).toEqual([303, 401]);
  });

  test("the log has the reason of a refused callback, and neither its code nor the address of the person", async () => {
    const url = await toCallback("ann", ANN);
    const code = url.searchParams.get("code") ?? "";
    await browser.open(url.href);
    account("ann", ANN);
    const again = await toCallback("ann", ANN);
    again.searchParams.set("code", code);

    await browser.open(again.href);

    const lines = harness.logged.filter((line) => line.includes("sign-in.unproven"));
    expect(lines.at(-1)).toMatch(/"reason":"The issuer did not confirm this sign-in.: .+"/);
    expect(lines.join()).not.toContain(code);
    expect(lines.join()).not.toContain("ann@acme.test");
  });

  test("a callback of another issuer signs nobody in", async () => {
    const url = await toCallback("ann", ANN);
    url.searchParams.set("iss", otherIssuer.url);

    expect((await browser.open(url.href)).status).toBe(401);
  });

  test("a refusal of the issuer and a made-up code sign nobody in", async () => {
    const refused = await toCallback("ann", ANN);
    const state = refused.searchParams.get("state") ?? "";
    refused.search = new URLSearchParams({ error: "access_denied", state, iss: issuer.url }).toString();
    const refusal = await browser.open(refused.href);
    const made = await toCallback("ann", ANN);
    made.searchParams.set("code", "made-up");

    const madeUp = await browser.open(made.href);
    expect([refusal.status, madeUp.status]).toEqual([401, 401]);
    expect(refusal.text).toContain("The sign-in was cancelled, or acme SSO refused it.");
    expect(madeUp.text).toContain(
      "The issuer did not confirm this sign-in. Try again, or tell an administrator",
    );
  });

  test("a member who signed in without a key shares a run, and nobody needs to sign in to see it", async () => {
    await signIn("sharer", ANN);
    const headers = { cookie: browser.cookiesFor(PUBLIC_URL), origin: PUBLIC_URL };
    const post = (path: string, body: object) =>
      call(harness, `${API}${path}`, { method: "POST", body, key: null, headers });
    const { run_id: runId } = (await post("/runs", { prompt: "share me" })).body;

    const link = await post(`/runs/${runId}/share-links`, {});

    const guest = await newBrowser().open(link.body.url);
    expect([link.status, guest.status]).toEqual([201, 200]);
    expect(guest.url.href).toMatch(new RegExp(`^${PUBLIC_URL}/sessions/[^?]+$`));
  });

  test("a person reads that the issuer's user info fails", async () => {
    issuer.brokenUserInfo = { status: 403 };

    const page = await signIn("ann", ANN).finally(() => {
      issuer.brokenUserInfo = undefined;
    });

    expect(page.status).toBe(401);
    expect(page.text).toContain("its user info could not be read");
  });

  test("the page to return to is never on another site", async () => {
    const arrived = await signIn("ann", ANN, "https://evil.example/");

    expect(arrived.url.href).toBe(`${PUBLIC_URL}/`);
  });
});
