import { verifySlackRequest } from "@slack/bolt";
import { WebClient } from "@slack/web-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPlugin } from "../../support/emulate-service.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { asRecord } from "../../support/json.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { type RecordingEndpoint, startRecordingEndpoint } from "../../support/recording-endpoint.ts";

let slack: EmulatedSlack;
let endpoint: RecordingEndpoint;

beforeAll(async () => {
  slack = await startEmulatedSlack();
  endpoint = await startRecordingEndpoint();
});

afterAll(async () => {
  await endpoint.stop();
  await slack.stop();
});

function clientOf(token: string): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    fetch: loopbackOnlyFetch,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
}

function bot(): WebClient {
  return clientOf(slack.botToken);
}

function section(text: string) {
  return { type: "section", text: { type: "mrkdwn", text } };
}

async function received(): Promise<{ headers: Headers; body: string }> {
  const request = endpoint.requests.at(-1);
  if (!request) {
    throw new Error("Nothing was received");
  }
  return request;
}

test("emulate's bundle still exports the plugin that the double wraps", async () => {
  const plugin = await loadPlugin("slackPlugin");

  expect(plugin.register).toBeTypeOf("function");
});

describe("tokens and workspaces", () => {
  test("a bot token names its own workspace and bot", async () => {
    const main = await bot().auth.test();
    const other = await clientOf(slack.otherWorkspace.botToken).auth.test();

    expect(main).toMatchObject({ team_id: slack.teamId, user_id: slack.botUserId });
    expect(other).toMatchObject({ team_id: slack.otherWorkspace.teamId, team: "other" });
  });

  test("an unknown token is refused", async () => {
    await expect(clientOf("xoxb-stolen").auth.test()).rejects.toThrow("invalid_auth");
  });

  test("a workspace does not see the channels of another", async () => {
    const stranger = clientOf(slack.otherWorkspace.botToken);

    const posting = stranger.chat.postMessage({ channel: slack.channel.id, text: "hello" });

    await expect(posting).rejects.toThrow("channel_not_found");
  });

  test("the bot cannot post where it is not a member", async () => {
    const posting = bot().chat.postMessage({ channel: slack.closedChannel.id, text: "hello" });

    await expect(posting).rejects.toThrow("not_in_channel");
  });
});

describe("messages", () => {
  test("a person's message and the bot's card stand in one thread", async () => {
    const posted = await slack.postAs(slack.alice, { channel: "work", text: "please fix it" });

    const card = await bot().chat.postMessage({
      channel: slack.channel.id,
      thread_ts: posted.ts,
      text: "Working",
      blocks: [{ ...section("Working"), block_id: "run-1" }, section("more")],
    });
    await bot().chat.update({ channel: slack.channel.id, ts: String(card.ts), text: "Done" });
    await bot().reactions.add({ channel: slack.channel.id, timestamp: posted.ts, name: "eyes" });

    expect(slack.threadMessages(slack.channel.id, posted.ts)).toEqual([
      expect.objectContaining({
        ts: posted.ts,
        userId: slack.alice.id,
        botId: undefined,
        reactions: [{ name: "eyes", users: [slack.botUserId] }],
      }),
      expect.objectContaining({ userId: slack.botUserId, text: "Done", blocks: [], edited: true }),
    ]);
  });

  test("metadata, block ids and client message id come back from replies and history", async () => {
    const parent = await slack.postAs(slack.bob, { channel: "work", text: "hi" });
    const metadata = { event_type: "errand_notice", event_payload: { notice: "n-1" } };
    const channel = slack.channel.id;
    const blocks = [{ ...section("card"), block_id: "notice-n-1" }, section("second")];
    const card = { channel, text: "card", blocks, metadata, client_msg_id: "m-1" };

    await bot().chat.postMessage({ ...card, thread_ts: parent.ts });
    await bot().chat.postMessage(card);

    const replies = await bot().conversations.replies({ channel, ts: parent.ts, include_all_metadata: true });
    const history = await bot().conversations.history({ channel, include_all_metadata: true, limit: 1 });
    for (const message of [replies.messages?.at(-1), history.messages?.at(0)]) {
      expect(message).toMatchObject({ metadata, client_msg_id: "m-1", bot_id: slack.workspace.botId });
      expect(message?.blocks?.map((block) => block.block_id)).toEqual(["notice-n-1", expect.any(String)]);
    }
  });

  test("metadata is left out unless asked for", async () => {
    const metadata = { event_type: "errand_notice", event_payload: {} };
    const channel = slack.channel.id;
    const { ts } = await bot().chat.postMessage({ channel, text: "card", metadata });

    const replies = await bot().conversations.replies({ channel, ts: String(ts) });

    expect(replies.messages).toHaveLength(1);
    expect(replies.messages?.[0]?.metadata).toBeUndefined();
  });

  test("replies are paged by limit and cursor", async () => {
    const parent = await slack.postAs(slack.alice, { channel: "work", text: "one" });
    const reply = await slack.postAs(slack.bob, { channel: "work", text: "two", threadTs: parent.ts });
    const request = { channel: slack.channel.id, ts: parent.ts, limit: 1 };

    const first = await bot().conversations.replies(request);
    const second = await bot().conversations.replies({
      ...request,
      cursor: String(first.response_metadata?.next_cursor),
    });
    const later = await bot().conversations.replies({
      ...request,
      limit: 2,
      oldest: reply.ts,
      inclusive: true,
    });

    expect(first.messages?.map((message) => message.ts)).toEqual([parent.ts]);
    expect(first.has_more).toBe(true);
    expect(second.messages?.map((message) => message.ts)).toEqual([reply.ts]);
    expect(later.messages?.map((message) => message.ts)).toEqual([parent.ts, reply.ts]);
    expect(later.has_more).toBe(false);
  });

  test.each([
    ["cursor", "invalid_cursor"],
    ["latest", "invalid_ts_latest"],
    ["oldest", "invalid_ts_oldest"],
  ])("a %s that is none is refused", async (name, error) => {
    const parent = await slack.postAs(slack.alice, { channel: "work", text: "one" });
    const request = { channel: slack.channel.id, ts: parent.ts, [name]: "yesterday" };

    await expect(bot().conversations.replies(request)).rejects.toThrow(error);
  });

  test("a reply to a deleted parent becomes a message of the channel", async () => {
    const parent = await slack.postAs(slack.alice, { channel: "work", text: "never mind" });
    await slack.deleteAs(parent);
    const channel = slack.channel.id;

    const posted = await bot().chat.postMessage({ channel, text: "Working", thread_ts: parent.ts });

    expect(posted.message?.thread_ts).toBeUndefined();
    await expect(bot().conversations.replies({ channel, ts: parent.ts })).rejects.toThrow("thread_not_found");
  });

  test("an ephemeral message and a direct message reach only their recipient", async () => {
    const channel = slack.channel.id;
    await bot().chat.postEphemeral({ channel, user: slack.alice.id, text: "only you" });
    const direct = await slack.openDirectMessage(slack.bob);
    await bot().chat.postMessage({ channel: slack.bob.id, text: "hello Bob" });

    expect(slack.ephemeralMessages(channel, slack.alice)).toMatchObject([{ text: "only you" }]);
    expect(slack.ephemeralMessages(channel, slack.bob)).toEqual([]);
    expect(slack.channelMessages(direct.id)).toMatchObject([{ text: "hello Bob" }]);
  });

  test("an ephemeral message in a thread is seen only if the thread has a reply", async () => {
    const parent = await slack.postAs(slack.alice, { channel: "work", text: "one" });
    const { id: channel } = slack.channel;
    const shown = () =>
      slack.ephemeralMessages(channel, slack.alice).filter(({ threadTs }) => threadTs === parent.ts);
    const post = () =>
      bot().chat.postEphemeral({ channel, user: slack.alice.id, text: "only you", thread_ts: parent.ts });

    await post();
    await slack.postAs(slack.bob, { channel: "work", text: "two", threadTs: parent.ts });
    const before = shown();
    await post();

    expect([before.length, shown().length]).toEqual([0, 1]);
  });

  test.each([
    ["51 blocks", { blocks: Array.from({ length: 51 }, () => section("x")) }, "invalid_blocks"],
    ["a section of 3,001 characters", { blocks: [section("x".repeat(3_001))] }, "invalid_blocks"],
    ["an empty section", { blocks: [section("")] }, "invalid_blocks"],
    [
      "a block id of 256 characters",
      { blocks: [{ ...section("x"), block_id: "x".repeat(256) }] },
      "invalid_blocks",
    ],
    [
      "two blocks of one id",
      { blocks: [1, 2].map(() => ({ ...section("x"), block_id: "a" })) },
      "invalid_blocks",
    ],
    ["an unknown block type", { blocks: [{ type: "nonsense" }] }, "invalid_blocks"],
    ["a text of 40,001 characters", { text: "x".repeat(40_001) }, "msg_too_long"],
    [
      "14,000 characters in blocks",
      { blocks: Array.from({ length: 5 }, () => section("x".repeat(2_800))) },
      "msg_blocks_too_long",
    ],
  ])("the emulated Slack refuses %s", async (_what, content, error) => {
    const posting = bot().chat.postMessage({ channel: slack.channel.id, text: "card", ...content });

    await expect(posting).rejects.toThrow(error);
  });

  test("a method that emulate lacks is refused as Slack refuses unknown ones", async () => {
    await expect(bot().apiCall("chat.startStream", {})).rejects.toThrow("unknown_method");
  });
});

describe("faults and the journal", () => {
  test("a rate limit, a server error and a refusal strike the next call each", async () => {
    const channel = slack.channel.id;
    const method = "chat.postMessage";
    slack.faults.next({ method, kind: "429", retryAfterSeconds: 7 });
    slack.faults.next({ method, kind: "500" });
    slack.faults.next({ method, kind: "ok-false", error: "is_archived" });

    const post = () => bot().chat.postMessage({ channel, text: "faulty" });

    await expect(post()).rejects.toMatchObject({ code: "slack_webapi_rate_limited_error", retryAfter: 7 });
    await expect(post()).rejects.toMatchObject({ code: "slack_webapi_http_error", statusCode: 500 });
    await expect(post()).rejects.toThrow("is_archived");
    await expect(post()).resolves.toMatchObject({ ok: true });
    expect(slack.channelMessages(channel).filter(({ text }) => text === "faulty")).toHaveLength(1);
    const outcomes = slack
      .calls(method)
      .slice(-4)
      .map((call) => call.outcome);
    expect(outcomes).toEqual(["429", "500", "ok-false", "ok"]);
  });

  test("a dropped answer leaves the message behind", async () => {
    slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });

    const posting = bot().chat.postMessage({ channel: slack.channel.id, text: "lost answer" });

    await expect(posting).rejects.toMatchObject({ code: "slack_webapi_request_error" });
    const lostMessages = slack.channelMessages(slack.channel.id).filter(({ text }) => text === "lost answer");
    expect(lostMessages).toHaveLength(1);
  });

  test("a lasting fault ends when it is lifted", async () => {
    const lift = slack.faults.until({ method: "auth.test", kind: "ok-false", error: "token_revoked" });
    await expect(bot().auth.test()).rejects.toThrow("token_revoked");
    await expect(bot().auth.test()).rejects.toThrow("token_revoked");

    lift();

    await expect(bot().auth.test()).resolves.toMatchObject({ ok: true });
  });
});

describe("requests from Slack", () => {
  async function verified(secret = slack.signingSecret): Promise<string> {
    const { headers, body } = await received();
    verifySlackRequest({
      signingSecret: secret,
      body,
      headers: {
        "x-slack-signature": headers.get("x-slack-signature") ?? "",
        "x-slack-request-timestamp": Number(headers.get("x-slack-request-timestamp")),
      },
    });
    return body;
  }

  test("one mention causes two signed events of one message", async () => {
    const mention = await slack.mention(slack.alice, { channel: "work", text: "fix the build" });

    await slack.sendEvent(endpoint.url, mention.appMention);
    const first = asRecord(JSON.parse(await verified()));
    await slack.sendEvent(endpoint.url, mention.message, { retryNum: 1 });
    const second = asRecord(JSON.parse(await verified()));

    const place = { channel: slack.channel.id, ts: mention.posted.ts, user: slack.alice.id };
    const text = `<@${slack.botUserId}> fix the build`;
    const envelope = { type: "event_callback", team_id: slack.teamId, api_app_id: slack.app.appId };
    expect(first).toMatchObject({ ...envelope, event: { ...place, type: "app_mention", text } });
    expect(second).toMatchObject({
      ...envelope,
      event: { ...place, type: "message", channel_type: "channel" },
    });
    expect(first.event_id).not.toBe(second.event_id);
    expect((await received()).headers.get("x-slack-retry-num")).toBe("1");
    expect(slack.threadMessages(slack.channel.id, mention.posted.ts)).toMatchObject([{ text }]);
  });

  test("an event of the second workspace carries its team", async () => {
    const mention = await slack.mention(slack.carol, { channel: "work", text: "hello" });

    await slack.sendEvent(endpoint.url, mention.appMention, { eventId: "Ev1" });

    const teamId = slack.otherWorkspace.teamId;
    expect(JSON.parse(await verified())).toMatchObject({ team_id: teamId, event_id: "Ev1" });
  });

  test("an event for a message of the bot itself has the bot's ids", async () => {
    const channel = slack.channel.id;
    const { ts } = await bot().chat.postMessage({ channel, text: "card" });

    const event = slack.ownMessageEvent(channel, String(ts));

    const marks = { user: slack.botUserId, bot_id: slack.workspace.botId, app_id: slack.app.appId };
    expect(event).toMatchObject({ type: "message", text: "card", ts, channel, ...marks });
  });

  test("the event of an edit has the old and the new text", async () => {
    const posted = await slack.postAs(slack.alice, { channel: "work", text: "before" });

    const { event } = await slack.editAs(posted, "after");

    expect(event).toMatchObject({
      subtype: "message_changed",
      message: { ts: posted.ts, text: "after", edited: { user: slack.alice.id } },
      previous_message: { text: "before" },
    });
    expect(slack.threadMessages(slack.channel.id, posted.ts)).toMatchObject([
      { text: "after", edited: true },
    ]);
  });

  test("a wrong secret and an old timestamp fail verification", async () => {
    await slack.sendUrlVerification(endpoint.url, "c", { signingSecret: "wrong" });
    await expect(verified()).rejects.toThrow("signature");

    await slack.sendUrlVerification(endpoint.url, "c", { timestamp: Math.floor(Date.now() / 1_000) - 360 });
    await expect(verified()).rejects.toThrow("stale");
  });

  test("a pressed button arrives with its message and a response url that records", async () => {
    const channel = slack.channel.id;
    const { ts } = await bot().chat.postMessage({ channel, text: "card" });
    const message = { channel, ts: String(ts) };

    await slack.sendButton(endpoint.url, { actionId: "stop", value: "run-1", user: slack.bob, message });

    const form = new URLSearchParams(await verified());
    const payload = asRecord(JSON.parse(form.get("payload") ?? ""));
    expect(payload).toMatchObject({
      type: "block_actions",
      user: { id: slack.bob.id, team_id: slack.teamId },
      container: { channel_id: channel, message_ts: ts },
      message: { ts, text: "card" },
      actions: [{ action_id: "stop", value: "run-1", type: "button" }],
    });
    const answer = { method: "POST", body: JSON.stringify({ text: "stopped" }) };
    await loopbackOnlyFetch(String(payload.response_url), answer);
    expect(slack.responses()).toContainEqual({ url: payload.response_url, body: { text: "stopped" } });
  });

  test("a slash command is a signed form", async () => {
    const command = { command: "/errand", text: "help", user: slack.alice, channel: "work" };

    await slack.sendSlashCommand(endpoint.url, command);

    const form = Object.fromEntries(new URLSearchParams(await verified()));
    expect(form).toMatchObject({
      command: "/errand",
      text: "help",
      team_id: slack.teamId,
      user_id: slack.alice.id,
    });
  });
});
