import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { waitFor } from "../support/wait-for.ts";
import { GithubIssue } from "./github-issue.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

const WITHOUT_APP = {
  GITHUB_APP_ID: "",
  GITHUB_APP_PRIVATE_KEY: "",
  GITHUB_WEBHOOK_SECRET: "",
  GITHUB_API_URL: "",
};

let fixture: Fixture;
let cookie: string;

beforeAll(async () => {
  fixture = await Fixture.open({ ...WITHOUT_APP, ERRAND_WEBHOOK_ALLOW: "127.0.0.0/8" });
  const body = JSON.stringify({ key: fixture.service.apiKey });
  const headers = { "content-type": "application/json" };
  const signedIn = await fetch(`${fixture.service.url}/signin`, { method: "POST", headers, body });
  cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
}, TEST_LIMIT_MS);
afterAll(async () => {
  await fixture.close();
});

function starts(): number {
  return fixture.service.output().split('"app.started"').length - 1;
}

async function mention(words: string): Promise<void> {
  const issue = await GithubIssue.open(fixture);
  await issue.comment(`@errand say ${words}`);
  expect(JSON.stringify(await issue.untilAnswers(1))).toContain(words);
}

test("an App that the pages created answers mentions at once, and after a restart", async () => {
  const { github, service } = fixture;
  const address = `${service.url}/setup/github/create?server=${encodeURIComponent(github.apiUrl)}`;
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const value = (pattern: RegExp) =>
    (pattern.exec(page)?.[1] ?? expect.fail(page)).replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const agreed = await fetch(value(/action="([^"]+)"/), {
    method: "POST",
    body: new URLSearchParams({ manifest: value(/name="manifest" value="([^"]+)"/) }),
    redirect: "manual",
  });
  const back = agreed.headers.get("location") ?? expect.fail(`${agreed.status}`);
  const done = await fetch(back, { headers: { cookie }, redirect: "manual" });

  expect(done.headers.get("location")).toBe(`${github.apiUrl}/apps/errand/installations/new`);
  await waitFor(() => starts() === 2, { what: "the restart", timeoutMs: WAIT_LIMIT_MS });
  await mention("hello");

  await service.end("SIGTERM");
  expect(service.output()).not.toMatch(new RegExp(`BEGIN|${github.app.webhookSecret}`));
  await fixture.start();
  await mention("good-morning");
  await fixture.checkInvariants();
});
