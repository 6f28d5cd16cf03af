import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GithubAppCreator } from "../../../src/adapters/github/app-creator.ts";
import { APP_EVENTS, APP_PERMISSIONS } from "../../../src/adapters/github/app-settings.ts";
import { systemClock } from "../../../src/app/system.ts";
import { parseAllowList } from "../../../src/outgoing/allow-list.ts";
import { Destinations } from "../../../src/outgoing/destinations.ts";
import { createGuardedFetch } from "../../../src/outgoing/guarded-fetch.ts";
import { PrismaAppInstallations } from "../../../src/storage/app-installations.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../support/emulated-github.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, PUBLIC_URL, startHarness } from "./api-harness.ts";

const CREATE = "/setup/github/create";

let github: EmulatedGithub;
let harness: ApiHarness;
let operator: string;
let env: Record<string, string>;
let allowed: string;

beforeEach(async () => {
  [github, env, allowed] = [await startEmulatedGithub(), {}, "127.0.0.0/8"];
  harness = await startHarness({
    appCreators: (stores) => {
      const guardedFetch = (url: string, init: RequestInit) =>
        createGuardedFetch({ destinations: new Destinations(parseAllowList(allowed)), connectMs: 2_000 })(
          url,
          {
            headers: Object.fromEntries(new Headers(init.headers)),
            method: init.method ?? "GET",
            signal: AbortSignal.timeout(5_000),
          },
        );
      return [
        new GithubAppCreator({
          installations: new PrismaAppInstallations({ ...stores, clock: systemClock }),
          publicUrl: () => PUBLIC_URL,
          env,
          apiUrl: "https://api.github.com",
          guardedFetch: guardedFetch as typeof fetch,
          log: SILENT_LOG,
        }),
      ];
    },
  });
  operator = await signIn(harness.key);
});
afterEach(async () => {
  await harness.close();
  await github.stop();
});

async function signIn(key: string): Promise<string> {
  const answer = await call(harness, "/signin", { body: { key }, key: null });
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

function visit(path: string, cookie = operator): Promise<Answer> {
  return call(harness, path, { key: null, headers: { cookie } });
}

function begin(choices: Record<string, string> = {}): Promise<Answer> {
  return visit(`${CREATE}?${new URLSearchParams({ server: github.apiUrl, ...choices })}`);
}

/** Posts the form of our page as a browser does. Returns the path to which GitHub sends the browser back. */
async function agree(page: Answer): Promise<string> {
  const [, action = ""] = /action="([^"]+)"/.exec(page.text) ?? [];
  const [, manifest = ""] = /name="manifest" value="([^"]+)"/.exec(page.text) ?? [];
  const answer = await loopbackOnlyFetch(plain(action), {
    method: "POST",
    body: new URLSearchParams({ manifest: plain(manifest) }),
    redirect: "manual",
  });
  return (answer.headers.get("location") ?? expect.fail(await answer.text())).slice(PUBLIC_URL.length);
}

function plain(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

/** What the page says. */
function said({ status, text }: Answer): readonly [number, string] {
  return [status, /<\/h1>\s*<p>([^<]*)<\/p>/.exec(text)?.[1] ?? text];
}

test("an operator creates the App of an organization on an Enterprise Server, and its keys are stored", async () => {
  const page = await begin({ organization: "acme" });
  const answer = await visit(await agree(page));

  expect(page.headers.get("content-security-policy")).toContain(`form-action 'self' ${github.apiUrl};`);
  expect(github.manifests.organization).toBe("acme");
  expect([answer.status, answer.headers.get("location")]).toEqual([
    303,
    `${github.apiUrl}/apps/errand/installations/new`,
  ]);
  const { app } = github;
  expect(await harness.adapterSettings.read("github")).toEqual({
    GITHUB_APP_ID: String(app.id),
    GITHUB_APP_PRIVATE_KEY: app.privateKey,
    GITHUB_WEBHOOK_SECRET: app.webhookSecret,
    GITHUB_CLIENT_ID: app.clientId,
    GITHUB_CLIENT_SECRET: app.clientSecret,
    GITHUB_API_URL: `${github.apiUrl}/api/v3`,
  });
  const audit = await call(harness, "/api/v1/agent/audit?target_type=adapter_setting");
  expect(audit.body.entries).toHaveLength(6);
  expect(`${JSON.stringify(audit.body)}${harness.logged.join("")}`).not.toMatch(
    new RegExp(`BEGIN|${app.webhookSecret}|${app.clientSecret}`),
  );
});

test("the manifest has the permissions, the events and the addresses of the guide", async () => {
  const page = await begin();
  const manifest = JSON.parse(plain(/name="manifest" value="([^"]+)"/.exec(page.text)?.[1] ?? ""));

  expect(manifest).toEqual({
    url: PUBLIC_URL,
    hook_attributes: { url: `${PUBLIC_URL}/webhooks/github`, active: true },
    redirect_url: `${PUBLIC_URL}${CREATE}/callback`,
    callback_urls: [`${PUBLIC_URL}/signin/github/callback`],
    public: false,
    default_permissions: Object.fromEntries(
      Object.entries(APP_PERMISSIONS).map(([name, { access }]) => [name, access]),
    ),
    default_events: APP_EVENTS,
  });
});

describe("every failure is a page in words, and stores nothing", () => {
  afterEach(async () => {
    expect(await harness.adapterSettings.list()).toEqual([]);
  });

  test.each([
    ["no cookie", async () => "", 303],
    [
      "a person who is no operator",
      async () => signIn(await harness.addUser("Mira", { scopes: ["admin"] })),
      403,
    ],
  ])("%s", async (_who, cookie, status) => {
    const [first, second] = [
      await visit(CREATE, await cookie()),
      await visit(`${CREATE}/callback?code=x&state=y`, await cookie()),
    ];

    expect([first.status, second.status]).toEqual([status, status]);
  });

  test.each([
    ["ftp://ghe.example", "must be like https://github.example.com"],
    ["https://user:pw@ghe.example", "must be like https://github.example.com"],
    ["https://ghe.example/api/v3?x", "must be like https://github.example.com"],
    ["not a host", "must be like https://github.example.com"],
    ["https://github.com", `GitHub cannot reach ${PUBLIC_URL}`],
  ])("the server %s", async (server, words) => {
    expect(said(await begin({ server }))).toEqual([400, expect.stringContaining(words)]);
  });

  test("an organization that is no name", async () => {
    expect(said(await begin({ organization: "../acme" }))).toEqual([
      400,
      expect.stringContaining("The organization must be the name"),
    ]);
  });

  test("an App that exists already", async () => {
    const back = await agree(await begin());
    Object.assign(env, { GITHUB_APP_ID: "7" });

    for (const path of [CREATE, back]) {
      expect(said(await visit(path))).toEqual([
        400,
        expect.stringMatching(/has an App already.*Nothing was changed/),
      ]);
    }
    expect(github.calls("POST", /conversions/)).toEqual([]);
  });

  test("a state that is unknown, of another operator, or changed", async () => {
    const back = await agree(await begin());
    const other = await aSecondOperator();
    const changed = back.replace(/state=([^.]+)\.[^&]+/, "state=$1.aHR0cDovLzEyNy4wLjAuMTox");

    const answers = [
      await visit(`${CREATE}/callback?code=x&state=y`),
      await visit(changed),
      await visit(back, other),
    ];

    for (const answer of answers) {
      expect(said(answer)).toEqual([400, expect.stringContaining("This attempt is not known")]);
    }
    expect(github.calls("POST", /conversions/)).toEqual([]);
  });

  test("a code that GitHub does not know, or not as a code", async () => {
    for (const code of ["expired", "not%20a%20code"]) {
      const back = (await agree(await begin())).replace(/code=[^&]+/, `code=${code}`);
      expect(said(await visit(back))).toEqual([
        400,
        expect.stringContaining("GitHub did not give the keys of the new App"),
      ]);
    }
  });

  test.each([
    [
      { permissions: { contents: "admin", secrets: "read" } },
      "contents: admin, the permission secrets: read",
    ],
    [{ events: ["push", "member"] }, "the event member"],
    [{ webhook_secret: null }, "gave the new App no webhook secret"],
    [{ pem: 7 }, "does not answer as a GitHub server"],
  ])("an App with %j", async (changes, words) => {
    github.manifests.changes = changes;

    expect(said(await visit(await agree(await begin())))).toEqual([400, expect.stringContaining(words)]);
  });

  test("a server that does not answer, or whose address the operator of the server has not allowed", async () => {
    const back = await agree(await begin());
    allowed = "";
    const refused = await visit(back);
    allowed = "127.0.0.0/8";
    github.faults.next({ method: "POST", path: /conversions/, kind: "502" });
    const down = await visit(await agree(await begin()));

    for (const answer of [refused, down]) {
      expect(said(answer)).toEqual([400, expect.stringContaining("does not answer as a GitHub server")]);
    }
    expect(github.calls("POST", /conversions/)).toHaveLength(1);
  });
});

test("a state is good once", async () => {
  const back = await agree(await begin());

  expect((await visit(back)).status).toBe(303);
  expect(said(await visit(back))).toEqual([400, expect.stringContaining("was completed before")]);
});

async function aSecondOperator(): Promise<string> {
  const person = { type: "user", display_name: "Olga", administrator: true };
  const { uid } = (await call(harness, "/api/v1/agent/principals", { body: person })).body;
  const request = { name: "first", scopes: ["admin"], principal_uid: uid };
  return signIn((await call(harness, "/api/v1/agent/keys", { body: request })).body.key);
}
