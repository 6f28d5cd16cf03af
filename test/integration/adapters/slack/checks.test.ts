import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { slackChecks } from "../../../../src/adapters/slack/checks.ts";
import { createSlackAdapter, type SlackAdapter } from "../../../../src/adapters/slack/index.ts";
import { tokenChecks } from "../../../../src/adapters/slack/token-checks.ts";
import { WebhookArrivals } from "../../../../src/adapters/webhook-route.ts";
import type { AdapterFacts, DeadNotices } from "../../../../src/core/ports/adapter-facts.ts";
import type { Finding } from "../../../../src/core/ports/check.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../../support/emulated-slack.ts";
import { type RecordedLine, recordingLog } from "../../../support/logs.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { EMPTY_VIEWS } from "../../../support/person-views.ts";
import { sendSlackJson } from "../../../support/slack/slack-sender.ts";

let slack: EmulatedSlack;
let adapter: SlackAdapter;
let server: FastifyInstance;
let address: string;
let dead: DeadNotices[];
let lastEventAt: Date | undefined;
let aheadMs: number;
let logged: RecordedLine[];
let stored: number;

const FACTS: AdapterFacts = {
  now: () => new Date(Date.now() + aheadMs),
  publicUrl: () => "https://errand.example.com",
  lastEventAt: async () => lastEventAt,
  deadNotices: async () => dead,
};

beforeEach(async () => {
  [dead, lastEventAt, aheadMs] = [[], undefined, 0];
  [logged, stored] = [[], 0];
  slack = await startEmulatedSlack();
  adapter = adapterWith(slack.botToken);
  server = Fastify();
  await server.register(adapter.routes ?? (async () => undefined));
  address = `${await server.listen({ port: 0, host: "127.0.0.1" })}/webhooks/slack`;
});
afterEach(async () => {
  await server.close();
  await slack.stop();
});

function adapterWith(botToken: string, apiUrl = slack.apiUrl): SlackAdapter {
  return createSlackAdapter(
    { signingSecret: slack.signingSecret, botToken, apiUrl },
    {
      accept: async () => {
        stored += 1;
        return true;
      },
      answerCommand: async () => "",
      searchChoices: async () => [],
      views: EMPTY_VIEWS,
      clock: new ManualClock(),
      readBlob: async () => new Uint8Array(),
      log: recordingLog(logged),
      fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
    },
  );
}

async function findings(of: SlackAdapter = adapter): Promise<Readonly<Record<string, Finding>>> {
  const results = await Promise.all(of.checks(FACTS).map(async (check) => [check.name, await check.run()]));
  const found = Object.fromEntries(results);
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`${slack.botToken}|${slack.signingSecret}`));
  return found;
}

test("an app with all that it needs passes every check, with one call to Slack", async () => {
  const { appMention } = await slack.mention(slack.alice, { channel: "work", text: "hi" });
  await slack.sendEvent(address, appMention);
  const before = slack.calls("auth.test").length;

  const found = await findings();

  expect(Object.entries(found).map(([name, { status }]) => [name, status])).toEqual([
    ["slack_token", "ok"],
    ["slack_scopes", "ok"],
    ["slack_clock", "ok"],
    ["slack_events", "ok"],
    ["slack_rate_limit", "ok"],
    ["slack_channels", "ok"],
  ]);
  expect(slack.calls("auth.test").length - before).toBe(1);
});

test("the address of Slack may lack its final slash", async () => {
  const { slack_token } = await findings(adapterWith(slack.botToken, slack.apiUrl.replace(/\/$/, "")));

  expect(slack_token?.status).toBe("ok");
});

test("a token that Slack refuses is named as the cause", async () => {
  const found = await findings(adapterWith("xoxb-unknown"));

  expect(found.slack_token).toEqual({
    status: "fail",
    message: "Slack refuses the token: invalid_auth.",
    remedy: "Set SLACK_BOT_TOKEN to the token of an installed app.",
  });
  expect(found.slack_scopes?.status).toBe("warn");
});

test("missing scopes are listed with their use", async () => {
  slack.workspace.scopes = slack.workspace.scopes.filter((scope) => scope !== "files:read");

  const { slack_scopes: finding } = await findings();

  expect(finding).toMatchObject({
    status: "fail",
    message: "The token lacks scopes: files:read (downloading the files of a request).",
    remedy: expect.stringContaining("reinstall the app"),
  });
});

test("a clock that is a minute off is a problem, because Slack's signatures would be too old", async () => {
  aheadMs = 45_000;
  expect((await findings()).slack_clock).toMatchObject({
    status: "warn",
    message: expect.stringMatching(/by 4[4-6] s/),
  });

  aheadMs = -600_000;
  expect((await findings()).slack_clock).toMatchObject({
    status: "fail",
    remedy: expect.stringContaining("Synchronize"),
  });
});

test("before the first event, the check says which address to set", async () => {
  expect((await findings()).slack_events).toMatchObject({
    status: "warn",
    remedy: expect.stringContaining("https://errand.example.com/webhooks/slack"),
  });

  lastEventAt = new Date("2026-03-01T12:00:00Z");
  expect((await findings()).slack_events).toMatchObject({
    status: "ok",
    message: expect.stringContaining("2026-03-01T12:00:00.000Z"),
  });
});

test("Slack's check of the address counts as a request with a valid signature", async () => {
  await slack.sendUrlVerification(address, "abc");

  expect((await findings()).slack_events?.status).toBe("ok");
});

test("requests with a wrong signature point to the signing secret, until a valid one comes", async () => {
  await slack.sendUrlVerification(address, "abc", { signingSecret: "another secret" });
  await slack.sendUrlVerification(address, "abc", { signingSecret: "another secret" });
  const wrong = (await findings()).slack_events;
  await slack.sendUrlVerification(address, "abc");

  expect(wrong).toMatchObject({
    status: "warn",
    message: expect.stringContaining("2 requests had a wrong signature"),
    remedy: expect.stringContaining("SLACK_SIGNING_SECRET"),
  });
  expect((await findings()).slack_events?.status).toBe("ok");
});

test("Slack's check of the certificate counts neither as valid nor as forged, because it has no signature", async () => {
  const answer = await server.inject({
    method: "POST",
    url: "/webhooks/slack",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "ssl_check=1&token=abc",
  });

  expect(answer.statusCode).toBe(200);
  expect((await findings()).slack_events?.message).toBe("No event of Slack has come yet.");
});

test("events that Slack drops are a warning for a day, and are logged", async () => {
  const { signingSecret, teamId } = slack;
  const minute = Math.floor(Date.now() / 60_000) * 60;
  const limited = { type: "app_rate_limited", team_id: teamId, minute_rate_limited: minute };
  await sendSlackJson(address, limited, { signingSecret });

  expect((await findings()).slack_rate_limit).toMatchObject({
    status: "warn",
    message: expect.stringMatching(/^Slack said at 20\S+Z that it drops events/),
    remedy: expect.stringContaining("repeat requests that had no answer"),
  });
  expect(logged).toEqual([{ level: "warn", message: "slack.events.dropped" }]);
  expect(stored).toBe(0);
  aheadMs = 25 * 60 * 60_000;
  expect((await findings()).slack_rate_limit).toMatchObject({ status: "ok" });
});

test("channels that are closed to the bot are listed with the reason", async () => {
  const about = { adapter: "slack", count: 2 };
  dead = [
    { ...about, threadKey: "T1/C7/1.2", error: "Slack refused chat.postMessage: not_in_channel." },
    { ...about, threadKey: "T1/C7/1.9", error: "Slack refused chat.update: not_in_channel." },
    { ...about, threadKey: "T1/C8/1.2", error: "Slack refused chat.postMessage: is_archived." },
    { ...about, threadKey: "T1/C9/1.2", error: "Slack refused chat.postMessage: invalid_blocks." },
  ];

  const { slack_channels: finding } = await findings();

  expect(finding).toMatchObject({
    status: "warn",
    message: "The bot could not post to C7 (not_in_channel), C8 (is_archived).",
    remedy: expect.stringContaining("Invite the bot"),
  });
});

test("a Slack that cannot be reached is said to be the cause", async () => {
  const found = await findings(adapterWith(slack.botToken, "http://127.0.0.1:1/api/"));

  for (const name of ["slack_token", "slack_scopes", "slack_clock"]) {
    expect(found[name]).toMatchObject({ status: "fail", message: "Slack gave no answer to auth.test." });
  }
});

test.each([
  [undefined, /^Set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET, restart/],
  [{ clientId: "1.2", clientSecret: "c" }, /^Install the app there on .*\/setup\/slack\/install/],
])("workspaces that write without being connected are named, with what to do", async (oauth, remedy) => {
  const lastReceivedAt = new Date("2026-03-01T12:00:00.000Z");
  let ids = ["T1", "T2", "T3", "T4", "T5", "T6", "T7"];
  const installations = {
    listUnconnected: async () => ids.map((externalId) => ({ adapter: "slack", externalId, lastReceivedAt })),
  };
  const config = { apiUrl: slack.apiUrl, ...(oauth && { oauth }) };
  const [check] = slackChecks(config, {
    ...{ arrivals: new WebhookArrivals(), facts: FACTS, ingest: { droppedAt: undefined }, installations },
    installs: undefined,
    fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
  }).filter(({ name }) => name === "slack_workspaces");

  expect(await check?.run()).toEqual({
    status: "warn",
    message:
      "The workspaces T1, T2, T3, T4, T5 and 2 more wrote to Errand and are not connected. The last message came at 2026-03-01T12:00:00.000Z.",
    remedy: expect.stringMatching(remedy),
  });
  ids = ["T1"];
  expect((await check?.run())?.message).toMatch(/^The workspace T1 wrote to Errand and is not connected\. /);
  ids = [];
  expect(await check?.run()).toMatchObject({ status: "ok" });
});

describe("the tokens of connected workspaces", () => {
  /** The checks beside `SLACK_BOT_TOKEN` of the main workspace, or without it. */
  async function findingsWith(botToken?: string): Promise<Readonly<Record<string, Finding>>> {
    const { otherWorkspace } = slack;
    const config = { apiUrl: slack.apiUrl, ...(botToken !== undefined && { botToken }) };
    const checks = tokenChecks(config, {
      facts: FACTS,
      fetch: (input, init) => loopbackOnlyFetch(input, init as RequestInit),
      installs: {
        listConnected: async () => [
          { externalId: otherWorkspace.teamId, name: "Other" },
          { externalId: "E0GRID" },
        ],
        tokenOf: async ({ teamId }) =>
          teamId === otherWorkspace.teamId ? otherWorkspace.botToken : slack.workspace.botToken,
      },
    });
    const found = await Promise.all(checks.map(async (check) => [check.name, await check.run()]));
    expect(JSON.stringify(found)).not.toMatch(new RegExp(`${slack.botToken}|${otherWorkspace.botToken}`));
    return Object.fromEntries(found);
  }

  test("all are checked, with a call for each", async () => {
    const before = slack.calls("auth.test").length;

    const found = await findingsWith(slack.botToken);

    expect(found.slack_token).toEqual({ status: "ok", message: "It is right in all 3 workspaces." });
    expect(found.slack_scopes).toEqual({ status: "ok", message: "It is right in all 3 workspaces." });
    expect(found.slack_clock?.status).toBe("ok");
    expect(slack.calls("auth.test")).toHaveLength(before + 3);
  });

  test.each([
    ["chat:write", "fail", "Other: The token lacks scopes: chat:write (the card, answers and questions)."],
    [
      "channels:read",
      "warn",
      "Other: The token lacks optional scopes: channels:read (names of public channels in requests).",
    ],
  ])("the workspace that lacks %s is named, with what to do there", async (lacking, status, message) => {
    slack.otherWorkspace.grant(slack.otherWorkspace.scopes.filter((scope) => scope !== lacking));

    for (const botToken of [slack.botToken, undefined]) {
      expect((await findingsWith(botToken)).slack_scopes).toEqual({
        status,
        message,
        remedy:
          "Add them under OAuth & Permissions, install the app there again on https://errand.example.com/setup/slack/install.",
      });
    }
  });

  test("a refused token is named with its workspace, and the others stay right", async () => {
    slack.faults.next({ method: "auth.test", kind: "ok-false", error: "account_inactive" });

    expect((await findingsWith()).slack_token).toMatchObject({
      status: "fail",
      message: "Other: Slack refuses the token: account_inactive.",
      remedy: "Install the app there again on https://errand.example.com/setup/slack/install.",
    });
  });

  test("before any workspace is connected, nothing is wrong", async () => {
    const installs = { listConnected: async () => [], tokenOf: async () => undefined };
    const checks = tokenChecks({ apiUrl: slack.apiUrl }, { facts: FACTS, fetch: globalThis.fetch, installs });

    expect((await Promise.all(checks.map((check) => check.run()))).map(({ status }) => status)).toEqual([
      "ok",
      "ok",
      "ok",
    ]);
    expect(
      tokenChecks({ apiUrl: slack.apiUrl }, { facts: FACTS, fetch: globalThis.fetch, installs: undefined }),
    ).toEqual([]);
  });
});
