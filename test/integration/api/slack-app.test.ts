import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manifestCheck, SlackAppManager } from "../../../src/adapters/slack/app-manager.ts";
import { systemClock } from "../../../src/app/system.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { asRecord } from "../../support/json.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { type Answer, call } from "./api-caller.ts";
import { type ApiHarness, startHarness } from "./api-harness.ts";

const PATH = "/api/v1/agent/installations/guides/slack/app";

let slack: EmulatedSlack;
let harness: ApiHarness;
let env: Record<string, string>;
let publicUrl: string;
/** Everything that must not be in a log, an answer or an entry of the audit log. */
let secrets: Set<string>;

beforeEach(async () => {
  [slack, env, publicUrl] = [await startEmulatedSlack(), {}, "https://errand.example"];
  const { apiUrl, app } = slack;
  secrets = new Set([app.clientSecret, app.signingSecret]);
  const manager = new SlackAppManager({
    ...{ apiUrl, env, clock: systemClock, publicUrl: () => publicUrl },
    fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
  });
  harness = await startHarness({ appManagers: [manager] });
});
afterEach(async () => {
  const { text } = await call(harness, "/api/v1/agent/audit");
  const stored = await harness.adapterSettings.read("slack");
  const shown = text + harness.logged.join("");
  for (const secret of [...secrets, stored.SLACK_CONFIGURATION_TOKEN]) {
    expect(shown).not.toContain(secret ?? "no secret");
  }
  await harness.close();
  await slack.stop();
});

/** Applies with the tokens that Slack shows, or with the stored ones. */
async function apply(pasted = slack.manifests.tokens): Promise<Answer> {
  const { refreshToken: refresh_token, token } = pasted;
  secrets.add(token).add(refresh_token);
  const answer = await call(harness, PATH, { method: "PUT", body: { token, refresh_token } });
  for (const secret of secrets) {
    expect(answer.text).not.toContain(secret);
  }
  return answer;
}

function applyStored(): Promise<Answer> {
  return call(harness, PATH, { method: "PUT", body: {} });
}

test("an operator creates the app with a configuration token, and its credentials are stored", async () => {
  const { app, manifests } = slack;

  const answer = await apply();

  expect(answer.body).toEqual({
    app_id: app.appId,
    change: "created",
    needs_install: true,
    install_url: "http://127.0.0.1:8787/setup/slack/install",
  });
  expect(await harness.adapterSettings.read("slack")).toEqual({
    SLACK_APP_ID: app.appId,
    SLACK_APP_MANIFEST: expect.any(String),
    SLACK_CLIENT_ID: app.clientId,
    SLACK_CLIENT_SECRET: app.clientSecret,
    SLACK_CONFIGURATION_REFRESH_TOKEN: manifests.tokens.refreshToken,
    SLACK_CONFIGURATION_TOKEN: manifests.tokens.token,
    SLACK_SIGNING_SECRET: app.signingSecret,
  });
  const audit = await call(harness, "/api/v1/agent/audit?action=adapter_setting.created");
  expect(audit.body.entries).toHaveLength(7);
});

test("the doctor sees a new address, and the update keeps what people added, also after the token has expired", async () => {
  const check = manifestCheck(harness.adapterSettings, () => publicUrl);
  await apply();
  const created = slack.manifests.manifest ?? expect.fail();
  slack.manifests.manifest = { ...created, display_information: { name: "Acme Bot" } };
  expect((await check.run()).status).toBe("ok");
  publicUrl = "https://moved.example";
  slack.manifests.expire();

  const stale = await check.run();
  const updated = await applyStored();
  const again = await applyStored();

  expect([stale.status, (await check.run()).status]).toEqual(["warn", "ok"]);
  expect([updated.body.change, updated.body.needs_install, again.body.change]).toEqual([
    "updated",
    false,
    "unchanged",
  ]);
  expect(slack.manifests.manifest).toMatchObject({
    display_information: { name: "Acme Bot", description: "Runs a coding agent for you" },
    settings: { event_subscriptions: { request_url: "https://moved.example/webhooks/slack" } },
  });
  expect(slack.manifests.calls).toEqual([
    "apps.manifest.create",
    "apps.manifest.export",
    "tooling.tokens.rotate",
    "apps.manifest.export",
    "apps.manifest.update",
    "apps.manifest.export",
  ]);
  const { token, refreshToken } = slack.manifests.tokens;
  expect(await harness.adapterSettings.read("slack")).toMatchObject({
    SLACK_CONFIGURATION_TOKEN: token,
    SLACK_CONFIGURATION_REFRESH_TOKEN: refreshToken,
  });
});

describe("every refusal says what to do next", () => {
  test("tokens that Slack does not know", async () => {
    const answer = await apply({ token: "xoxe.xoxp-1-unknown", refreshToken: "xoxe-1-unknown" });

    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringContaining("does not accept the configuration token"),
    ]);
    expect(answer.body.remedy).toContain("Generate a new pair");
  });

  test("no token at all, and one without its refresh token", async () => {
    expect([
      (await applyStored()).status,
      (await call(harness, PATH, { method: "PUT", body: { token: "x" } })).status,
    ]).toEqual([400, 400]);
    expect(slack.manifests.calls).toEqual([]);
  });

  test("an expired token whose refresh token was used", async () => {
    const { token } = slack.manifests.tokens;
    slack.manifests.expire();

    const answer = await apply({ token, refreshToken: "xoxe-1-used" });

    expect(answer.body.remedy).toContain("Generate a new pair");
  });

  test("a manifest that Slack refuses", async () => {
    await apply();
    slack.manifests.manifest = {
      ...slack.manifests.manifest,
      display_information: { name: "a name that is much too long for Slack" },
    };
    publicUrl = "https://moved.example";

    const answer = await applyStored();

    expect([answer.status, answer.body.detail]).toEqual([
      400,
      expect.stringMatching(/^Slack refuses the manifest: Too big/),
    ]);
  });

  test("a limit of Slack, and its own trouble", async () => {
    slack.manifests.refusal = "ratelimited";
    const limited = await apply();
    slack.manifests.refusal = "internal_error";
    const broken = await apply();

    expect([limited.status, broken.status]).toEqual([503, 503]);
    expect([limited.body.retryable, broken.body.retryable]).toEqual([true, true]);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await apply()).body.change).toBe("created");
  });

  test("a server without an https address, and one that has an app already", async () => {
    publicUrl = "http://127.0.0.1:8787";
    const local = await apply();
    publicUrl = "https://errand.example";
    Object.assign(env, { SLACK_BOT_TOKEN: "xoxb-1" });
    const known = await apply();

    expect([local.body.detail, known.body.detail]).toEqual([
      expect.stringContaining("Slack sends events only to an https address"),
      expect.stringContaining("has a Slack app already"),
    ]);
    expect(asRecord(await harness.adapterSettings.read("slack"))).toEqual({});
    expect(slack.manifests.calls).toEqual([]);
  });
});
