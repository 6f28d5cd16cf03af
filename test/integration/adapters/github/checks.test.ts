import Fastify from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AdapterFacts } from "../../../../src/core/ports/adapter-facts.ts";
import type { Finding } from "../../../../src/core/ports/check.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../../../support/emulated-github.ts";
import { aListedDelivery } from "../../../support/github/github-app-settings.ts";
import { adapterOn } from "./github-fixture.ts";

const HOOK_URL = "https://errand.example.com/webhooks/github";

let github: EmulatedGithub;
let lastEventAt: Date | undefined;
let aheadMs: number;

const FACTS: AdapterFacts = {
  now: () => new Date(Date.now() + aheadMs),
  publicUrl: () => "https://errand.example.com",
  lastEventAt: async () => lastEventAt,
  deadNotices: async () => [],
};

beforeEach(async () => {
  [lastEventAt, aheadMs] = [new Date("2026-03-01T12:00:00Z"), 0];
  github = await startEmulatedGithub();
  github.settings.hook = { ...github.settings.hook, url: HOOK_URL };
  github.settings.deliveries = [aListedDelivery(200)];
});
afterEach(() => github.stop());

async function findings(adapter = adapterOn(github)): Promise<Readonly<Record<string, Finding>>> {
  const results = await Promise.all(
    adapter.checks(FACTS).map(async (check) => [check.name, await check.run()]),
  );
  const found = Object.fromEntries(results);
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`PRIVATE KEY|${github.app.webhookSecret}|ghs_`));
  return found;
}

test("an App with all that it needs passes every check", async () => {
  const found = await findings();

  expect(Object.entries(found).map(([name, { status }]) => [name, status])).toEqual([
    ["github_app", "ok"],
    ["github_installations", "ok"],
    ["github_webhook", "ok"],
    ["github_deliveries", "ok"],
    ["github_rate_limit", "ok"],
    ["github_clock", "ok"],
    ["github_events", "ok"],
  ]);
  expect(found.github_rate_limit?.message).toBe("Calls left: acme: 4999 of 5000.");
});

test("missing permissions and events of the App are listed with their use", async () => {
  github.settings.app = {
    permissions: { checks: "read", contents: "write", issues: "read", metadata: "read" },
    events: ["issues", "issue_comment", "pull_request", "pull_request_review_comment", "repository"],
  };

  const { github_app: finding } = await findings();

  expect(finding?.status).toBe("fail");
  expect(finding?.message).toMatch(/issues: write \(comments and .*pull_requests: write \(/);
  expect(finding?.message).toMatch(
    /the event pull_request_review, the event check_suite, the event status, the event push\.$/,
  );
  expect(finding?.remedy).toContain("Permissions & events");
});

test("an account that suspended the App, or has not accepted its permissions, is named", async () => {
  github.settings.installation = { suspended_at: "2026-03-01T12:00:00Z" };
  const suspended = (await findings()).github_installations;
  github.settings.installation = { suspended_at: null, permissions: { issues: "write", metadata: "read" } };
  const behind = (await findings()).github_installations;

  expect(suspended).toMatchObject({
    status: "warn",
    message: expect.stringContaining("acme has suspended it"),
  });
  expect(behind).toMatchObject({
    status: "warn",
    message: expect.stringMatching(/acme has not accepted pull_requests: write/),
    remedy: expect.stringContaining("accepts its permissions"),
  });
});

test("another webhook address and a wrong content type are found, without the credentials in the address", async () => {
  github.settings.hook = { url: "https://user:pass@old.example.com/hook?token=t0p", content_type: "json" };
  const elsewhere = (await findings()).github_webhook;
  github.settings.hook = { url: HOOK_URL, content_type: "form" };
  const form = (await findings()).github_webhook;

  expect(elsewhere).toMatchObject({
    status: "warn",
    message: "The App sends its events to https://old.example.com/hook.",
    remedy: expect.stringContaining(HOOK_URL),
  });
  expect(form).toMatchObject({ status: "fail", remedy: expect.stringContaining("application/json") });
});

test("failed deliveries are counted, and are a failure if the newest one failed", async () => {
  const [good, bad] = [aListedDelivery(200), aListedDelivery(503)];
  github.settings.deliveries = [good, bad, good];
  const earlier = (await findings()).github_deliveries;
  github.settings.deliveries = [bad, good, good];
  const now = (await findings()).github_deliveries;

  expect(earlier).toMatchObject({ status: "warn", message: expect.stringMatching(/^1 of the last 3 .*503/) });
  expect(now).toMatchObject({ status: "fail", remedy: expect.stringContaining("takes failed deliveries") });
});

test("a rate limit with few calls left is reported with the time of its renewal", async () => {
  github.settings.remainingCalls = 17;

  const { github_rate_limit: finding } = await findings();

  expect(finding).toMatchObject({
    status: "warn",
    message: "Few calls are left: acme: 17 of 5000.",
    remedy: expect.stringMatching(/until 20\d\d-/),
  });
});

test("a clock that is two minutes off is a problem, because GitHub refuses tokens of another time", async () => {
  aheadMs = 120_000;

  expect((await findings()).github_clock).toMatchObject({
    status: "fail",
    message: expect.stringMatching(/differs from that of GitHub by 1(19|20|21) s/),
  });
});

test("deliveries with a wrong signature point to the webhook secret", async () => {
  const adapter = adapterOn(github);
  const server = Fastify();
  await server.register(adapter.routes);
  const address = `${await server.listen({ port: 0, host: "127.0.0.1" })}/webhooks/github`;

  await fetch(address, { method: "POST", body: "{}", headers: { "x-hub-signature-256": "sha256=00" } });
  const { github_events: finding } = await findings(adapter);
  await server.close();

  expect(finding).toMatchObject({ status: "warn", remedy: expect.stringContaining("GITHUB_WEBHOOK_SECRET") });
});

test("an App whose key GitHub refuses fails with GitHub's words", async () => {
  const other = await startEmulatedGithub();
  const adapter = adapterOn({ ...github, app: { ...github.app, privateKey: other.app.privateKey } } as never);
  await other.stop();

  const found = await findings(adapter);

  expect(found.github_app).toMatchObject({ status: "fail", message: expect.stringContaining("401") });
});
