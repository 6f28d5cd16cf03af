import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createGithubAdapter } from "../../../src/adapters/github/index.ts";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import { systemClock } from "../../../src/app/system.ts";
import { FIRST_TEAM } from "../../../src/core/model/people/team.ts";
import type { SignInProvider } from "../../../src/core/ports/sign-in-provider.ts";
import { Browser, type Page } from "../../support/browser.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../support/emulated-github.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { asRecord } from "../../support/json.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { EMPTY_VIEWS } from "../../support/person-views.ts";
import { call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const API = "/api/v1/agent";

let slack: EmulatedSlack;
let github: EmulatedGithub;
let harness: ApiHarness;
let browser: Browser;
/** Members of the user of Slack's next answers that differ from those of the account. */
let profile: object | undefined;

beforeAll(async () => {
  [slack, github] = [await startEmulatedSlack(), await startEmulatedGithub()];
  harness = await startHarness({
    limits: { failedSignIns: 1_000 },
    signInProviders: [ofSlack(), ofGithub()],
  });
  await harness.storage.installations.ensure("github", String(github.app.installationId));
});
afterAll(async () => {
  await harness.close();
  await slack.stop();
  await github.stop();
});
beforeEach(() => {
  browser = newBrowser();
  profile = undefined;
  slack.openid.changes = {};
  slack.faults.clear();
  github.faults.clear();
  github.setPermission("wendy", "write");
});

function ofSlack(): SignInProvider {
  const { clientId, clientSecret } = slack.app;
  const { apiUrl, botToken, signingSecret } = slack;
  const config = { apiUrl, botToken, signingSecret, oauth: { clientId, clientSecret } };
  const { signIn } = createSlackAdapter(config, {
    clock: systemClock,
    readBlob: async () => new Uint8Array(),
    accept: async () => true,
    answerCommand: async () => "",
    searchChoices: async () => [],
    views: EMPTY_VIEWS,
    log: SILENT_LOG,
    fetch: async (input, init) => {
      const response = await loopbackOnlyFetch(input, init as RequestInit);
      if (!String(input).endsWith("users.info") || profile === undefined) {
        return response;
      }
      const answer = asRecord(await response.json());
      return Response.json({ ...answer, user: { ...asRecord(answer.user), ...profile } });
    },
  });
  return required(signIn);
}

function ofGithub(): SignInProvider {
  const { clientId, clientSecret, id: appId, privateKey, webhookSecret } = github.app;
  const config = { appId, privateKey, webhookSecrets: [webhookSecret], apiUrl: github.apiUrl };
  const deps = {
    ...{ accept: async () => true, readTail: async () => "" },
    ...{ log: SILENT_LOG, fetch: loopbackOnlyFetch },
  };
  return required(createGithubAdapter({ ...config, oauth: { clientId, clientSecret } }, deps).signIn);
}

function required(provider: SignInProvider | undefined): SignInProvider {
  if (provider === undefined) {
    throw new Error("The sign-in is off.");
  }
  return provider;
}

function newBrowser(): Browser {
  return new Browser((url) =>
    url.origin === PUBLIC_URL ? new URL(url.href.replace(PUBLIC_URL, harness.url)) : url,
  );
}

function signIn(way: "slack" | "github"): Promise<Page> {
  return browser.open(`${PUBLIC_URL}/signin/${way}?next=%2Fdevice`);
}

async function whoami() {
  const headers = { cookie: browser.cookiesFor(PUBLIC_URL) };
  return call(harness, `${API}/whoami`, { key: null, headers });
}

async function countPeople(): Promise<number> {
  return (await harness.storage.people.list(FIRST_TEAM)).length;
}

/** A person who proved an account that may not sign in. */
async function expectStranger(way: "slack" | "github", subject: string): Promise<void> {
  const before = await countPeople();

  const page = await signIn(way);

  expect([page.status, page.text.includes("Ask olga@acme.test."), page.text.includes(subject)]).toEqual([
    403,
    true,
    true,
  ]);
  expect((await whoami()).status).toBe(401);
  expect(await countPeople()).toBe(before);
}

test("the sign-in page has a button for each configured way, in their order", async () => {
  const page = await call(harness, "/signin?next=/device", { key: null });

  const buttons = [...page.text.matchAll(/href="(\/signin\/\w+\?[^"]*)"[^>]*>[\s\S]*?Continue with (\w+)/g)];
  expect(buttons.map(([, address, name]) => [address, name])).toEqual([
    ["/signin/slack?next=%2Fdevice", "Slack"],
    ["/signin/github?next=%2Fdevice", "GitHub"],
  ]);
});

describe("signing in with Slack", () => {
  test("an e-mail address that Slack has not verified is not stored, and a verified one is later", async () => {
    slack.openid.codes.next = slack.alice;
    slack.openid.changes = { email_verified: false };
    await signIn("slack");
    const before = (await whoami()).body;
    slack.openid.changes = {};
    await signIn("slack");

    expect(before).toMatchObject({ sign_in: { method: "slack" } });
    expect(before.principal.email ?? null).toBeNull();
    expect((await whoami()).body.principal).toMatchObject({ email: "alice@acme.example" });
  });

  test("a member of the connected workspace signs in as the author of the own messages", async () => {
    slack.openid.codes.next = slack.alice;
    const subject = `slack:${slack.teamId}:${slack.alice.id}`;
    const author = await harness.storage.people.ensure(FIRST_TEAM, subject, "alice");

    const arrived = await signIn("slack");

    expect(arrived.url.pathname).toBe("/device");
    expect((await whoami()).body).toMatchObject({
      principal: { uid: author.id, display_name: "alice", email: "alice@acme.example" },
      scopes: ["runs:write", "settings:write"],
      sign_in: { method: "slack" },
    });
  });

  test("a person of an organization signs in as the author of messages in another workspace of it", async () => {
    slack.openid.codes.next = slack.bob;
    const elsewhere = `slack:T0ELSEWHERE:${slack.bob.id}`;
    const author = await harness.storage.people.ensure(FIRST_TEAM, elsewhere, "bob");
    profile = {
      enterprise_user: { id: slack.bob.id, enterprise_id: "E0", teams: [slack.teamId, "T0ELSEWHERE"] },
    };

    await signIn("slack");

    expect((await whoami()).body).toMatchObject({ principal: { uid: author.id } });
    const links = await harness.storage.identities.list(FIRST_TEAM);
    const own = links.filter(({ principalId }) => principalId === author.id).map(({ subject }) => subject);
    expect(new Set(own)).toEqual(
      new Set([elsewhere, `slack:E0:${slack.bob.id}`, `slack:${slack.teamId}:${slack.bob.id}`]),
    );
    for (const { id, subject } of links.filter(({ subject }) => own.includes(subject))) {
      expect(await harness.storage.identities.unlink(FIRST_TEAM, id), subject).toBe(true);
    }
  });

  test.each([
    ["a guest", { is_restricted: true }],
    ["a guest of one channel", { is_ultra_restricted: true }],
    ["a member of another organization", { is_stranger: true }],
    ["a bot", { is_bot: true }],
    ["deactivated", { deleted: true }],
  ])("a person who is %s becomes no member and reads whom to ask", async (_what, changes) => {
    slack.openid.codes.next = slack.bob;
    profile = changes;

    await expectStranger("slack", `slack:${slack.teamId}:${slack.bob.id}`);
  });

  test("a member of another workspace becomes no member", async () => {
    slack.openid.codes.next = slack.carol;

    await expectStranger("slack", `slack:${slack.otherWorkspace.teamId}:${slack.carol.id}`);
  });

  test("a guest whom an administrator linked signs in", async () => {
    const principal = await harness.storage.people.ensure(FIRST_TEAM, "chat:bob", "Bob");
    const subject = `slack:${slack.teamId}:${slack.bob.id}`;
    const link = { subject, principal_uid: principal.id };
    await call(harness, `${API}/identity-links`, { body: link });
    slack.openid.codes.next = slack.bob;
    profile = { is_restricted: true };

    await signIn("slack");

    expect((await whoami()).body.principal.uid).toBe(principal.id);
  });

  test.each([
    ["nonce", { nonce: "of another browser" }],
    ["audience", { aud: "another app" }],
    ["end", { exp: 1 }],
    ["workspace", { "https://slack.com/team_id": undefined }],
  ])("a token with a wrong %s signs nobody in", async (_what, changes) => {
    slack.openid.codes.next = slack.alice;
    slack.openid.changes = changes;

    expect((await signIn("slack")).status).toBe(401);
    expect((await whoami()).status).toBe(401);
  });

  test("Slack is asked for an account of the connected workspace", async () => {
    const isSlack = ({ pathname }: URL) => pathname === "/openid/connect/authorize";
    const { url } = await browser.open(`${PUBLIC_URL}/signin/slack`, isSlack);

    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      scope: "openid profile email",
      team: slack.teamId,
      redirect_uri: `${PUBLIC_URL}/signin/slack/callback`,
    });
  });

  test("without an answer of Slack nobody signs in", async () => {
    slack.openid.codes.next = slack.alice;
    slack.faults.next({ method: "users.info", kind: "500" });

    expect((await signIn("slack")).status).toBe(401);
  });

  test("members of a workspace whose installation is disabled do not sign in", async () => {
    const enable = async (enabled: boolean) => {
      const { id } = await harness.storage.installations.ensure("slack", slack.teamId);
      await call(harness, `${API}/installations/${id}`, { method: "PATCH", body: { enabled } });
    };
    slack.openid.codes.next = slack.alice;
    await enable(false);

    const { status } = await signIn("slack");

    await enable(true);
    expect(status).toBe(403);
  });
});

describe("signing in with GitHub", () => {
  test.each(["olivia", "wendy"])("%s, who may write to a repository of the App, signs in", async (login) => {
    github.oauth.codes.next = login;
    const { id } = login === "olivia" ? github.owner : github.writer;

    const arrived = await signIn("github");

    const { body } = await whoami();
    expect(arrived.url.pathname).toBe("/device");
    expect(body).toMatchObject({ principal: { display_name: login }, sign_in: { method: "github" } });
    expect(await harness.storage.identities.find(FIRST_TEAM, `github:${id}`)).toMatchObject({
      principalId: body.principal.uid,
    });
  });

  test.each(["rob", "sam"])(
    "%s, who may not write, becomes no member and reads whom to ask",
    async (login) => {
      github.oauth.codes.next = login;

      await expectStranger("github", `github:${(login === "rob" ? github.reader : github.stranger).id}`);
    },
  );

  test("an account that lost its permission does not sign in again", async () => {
    github.oauth.codes.next = "wendy";
    await signIn("github");
    github.setPermission("wendy", "read");
    browser = newBrowser();

    expect((await signIn("github")).status).toBe(403);
  });

  test("an account that an administrator linked signs in without a permission", async () => {
    const principal = await harness.storage.people.ensure(FIRST_TEAM, "chat:rob", "Rob");
    const link = { subject: `github:${github.reader.id}`, principal_uid: principal.id };
    await call(harness, `${API}/identity-links`, { body: link });
    github.oauth.codes.next = "rob";

    await signIn("github");

    expect((await whoami()).body.principal.uid).toBe(principal.id);
  });
});

describe.each(["slack", "github"] as const)("a callback of %s", (way) => {
  /** Goes there and stops before the callback, whose address it returns. */
  async function callback(): Promise<URL> {
    slack.openid.codes.next = slack.alice;
    github.oauth.codes.next = "wendy";
    const isBack = ({ origin }: URL) => origin === PUBLIC_URL;
    const [path] = [`/signin/${way}/callback`];
    const { url } = await browser.open(
      `${PUBLIC_URL}/signin/${way}`,
      (at) => isBack(at) && at.pathname === path,
    );
    return url;
  }

  test("a callback with another state signs nobody in, and its code is not used", async () => {
    const url = await callback();
    url.searchParams.set("state", "forged");

    expect((await browser.open(url.href)).status).toBe(401);
    expect((await whoami()).status).toBe(401);
  });

  test("a callback in another browser signs nobody in", async () => {
    const url = await callback();
    browser = newBrowser();

    expect((await browser.open(url.href)).status).toBe(400);
  });

  test("the code of another attempt signs nobody in", async () => {
    const others = (await callback()).searchParams.get("code") ?? "";
    browser = newBrowser();
    const url = await callback();
    url.searchParams.set("code", others);

    expect((await browser.open(url.href)).status).toBe(401);
  });

  test("a code that the platform refuses is reported with the platform's error and without a secret", async () => {
    const [provider, app, error] =
      way === "slack"
        ? [ofSlack(), slack.app, "invalid_code"]
        : [ofGithub(), github.app, "bad_verification_code"];
    const redirectUri = `${PUBLIC_URL}/signin/${way}/callback`;
    const attempt = { redirectUri, state: "s", nonce: "n", verifier: "v" };

    const failure = await provider
      .prove(new URL(`${redirectUri}?code=unknown&state=s`), attempt)
      .catch(inspect);

    expect(failure).toContain("did not exchange the code of this sign-in.");
    expect(failure).toContain(error);
    expect(failure).not.toContain(app.clientSecret);
  });
});
