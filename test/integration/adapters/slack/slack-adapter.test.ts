import { inspect } from "node:util";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSlackAdapter, type SlackAdapter } from "../../../../src/adapters/slack/index.ts";
import { AppError } from "../../../../src/core/errors.ts";
import { newId, type RunId } from "../../../../src/core/ids.ts";
import type {
  Authorization,
  Delivery,
  InboundMessage,
  InboxEvent,
  Translation,
} from "../../../../src/core/ports/thread-adapter.ts";
import type { Notice, RunCard } from "../../../../src/core/threads/notice.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../../support/emulated-slack.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";

type Fetch = NonNullable<Parameters<typeof createSlackAdapter>[1]["fetch"]>;

const runId = newId<RunId>(new Date());

let slack: EmulatedSlack;
let server: FastifyInstance;
let slackAdapter: SlackAdapter;
let inbox: InboxEvent[];
let lines: string[];
let url: string;
let fetchSlack: Fetch;

beforeEach(async () => {
  slack = await startEmulatedSlack();
  inbox = [];
  lines = [];
  fetchSlack = (input, init) => loopbackOnlyFetch(input, init as RequestInit);
  const write = (...line: unknown[]) => lines.push(inspect(line, { depth: 20 }));
  const log = { info: write, warn: write, error: write };
  const config = { signingSecret: slack.signingSecret, botToken: slack.botToken, apiUrl: slack.apiUrl };
  slackAdapter = createSlackAdapter(config, {
    accept: store,
    log,
    fetch: (input, init) => fetchSlack(input, init),
  });
  server = Fastify();
  server.register(slackAdapter.routes);
  url = `${await server.listen({ port: 0, host: "127.0.0.1" })}/webhooks/slack`;
});

afterEach(async () => {
  expect(lines.join()).not.toContain(slack.botToken);
  await server.close();
  await slack.stop();
});

async function store(event: Omit<InboxEvent, "id" | "receivedAt">): Promise<boolean> {
  inbox.push({ ...event, id: String(inbox.length), receivedAt: new Date() });
  return true;
}

function translateLast(): Promise<Translation> {
  const event = inbox.at(-1);
  if (!event) throw new Error("Nothing was stored");
  return slackAdapter.adapter.translate(event);
}

function messageOf(translation: Translation): InboundMessage {
  if (translation.kind !== "message") throw new Error(`Ignored: ${translation.reason}`);
  return translation.message;
}

async function mentioned(text = "fix it"): Promise<InboundMessage> {
  const mention = await slack.mention(slack.alice, { channel: "work", text });
  await slack.sendEvent(url, mention.appMention);
  return messageOf(await translateLast());
}

async function failureOf(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error("It did not fail as it should", { cause: error });
  expect(`${error.message} ${error.options.remedy} ${String(error.cause)}`).not.toContain(slack.botToken);
  return error;
}

function aCard(changes: Partial<RunCard> = {}): Notice {
  const card: RunCard = {
    runId,
    title: "Fix it",
    state: "INPROGRESS",
    turn: 1,
    sessionLink: "https://errand.example/sessions/1",
  };
  return { kind: "card", card: { ...card, ...changes } };
}

function aReply(text = "Done."): Notice {
  return { kind: "message", purpose: "reply", text };
}

function aDelivery(
  { installation, key }: InboundMessage,
  notice: Notice,
  changes: Partial<Delivery> = {},
): Delivery {
  return { id: "d1", thread: { id: "t1", installation, key }, notice, maybeShown: false, ...changes };
}

function deliver(delivery: Delivery): Promise<string> {
  return slackAdapter.adapter.deliver(delivery);
}

function repliesTo({ messageRef }: InboundMessage) {
  return slack.threadMessages(slack.channel.id, messageRef).filter((message) => message.ts !== messageRef);
}

describe("translate", () => {
  test("both events of one mention mean the same", async () => {
    const mention = await slack.mention(slack.alice, { channel: "work", text: "fix it" });
    await slack.sendEvent(url, mention.message);
    const byMessage = messageOf(await translateLast());
    await slack.sendEvent(url, mention.appMention);
    const byMention = messageOf(await translateLast());

    expect(byMention.meaning).toBe(byMessage.meaning);
    expect(inbox[0]?.lane).toBe(inbox[1]?.lane);
    expect(byMention).toMatchObject({
      adapter: "slack",
      installation: slack.teamId,
      key: `${slack.teamId}/${slack.channel.id}/${mention.posted.ts}`,
      addressed: "mention",
      text: "fix it",
      author: { subject: `slack:${slack.teamId}:${slack.alice.id}` },
    });
  });

  test("a reply, a direct message and an edit that adds the mention", async () => {
    const root = await slack.postAs(slack.alice, { channel: "work", text: "hello" });
    const reply = await slack.postAs(slack.bob, { channel: "work", text: "and this", threadTs: root.ts });
    await slack.sendEvent(url, slack.messageEvent(reply));
    expect(messageOf(await translateLast())).toMatchObject({ addressed: "reply", text: "and this" });

    const direct = await slack.openDirectMessage(slack.bob);
    const said = await slack.postAs(slack.bob, { channel: direct.id, text: "hi" });
    await slack.sendEvent(url, slack.messageEvent(said));
    expect(messageOf(await translateLast())).toMatchObject({ addressed: "direct", text: "hi" });

    const { event } = await slack.editAs(root, `<@${slack.botUserId}> hello`);
    await slack.sendEvent(url, event);
    expect(messageOf(await translateLast())).toMatchObject({ addressed: "mention", text: "hello" });
  });

  test("what the bot itself posts is ignored (43)", async () => {
    const message = await mentioned();
    await deliver(aDelivery(message, aReply("@errand do it again")));
    const own = repliesTo(message)[0];
    const event = {
      type: "message",
      channel: slack.channel.id,
      ts: own?.ts,
      user: own?.userId,
      bot_id: own?.botId,
    };

    await slack.sendEvent(url, { ...event, type: "message", text: `<@${slack.botUserId}> again` });

    expect(await translateLast()).toEqual({ kind: "ignored", reason: "A message of the bot itself." });
  });

  test("events nobody listens for are ignored with a reason", async () => {
    await slack.sendEvent(url, { type: "member_joined_channel", user: "U1", channel: "C1" });

    expect(await translateLast()).toMatchObject({
      kind: "ignored",
      reason: expect.stringContaining("member_joined"),
    });
  });

  test("a button of our own card", async () => {
    const message = await mentioned();
    const receipt = await deliver(aDelivery(message, aCard()));
    const { channel, ts } = JSON.parse(receipt);

    await slack.sendButton(url, {
      actionId: "errand_cancel",
      value: runId,
      user: slack.bob,
      message: { channel, ts },
    });

    expect(inbox.at(-1)?.lane).toBe(inbox[0]?.lane);
    expect(messageOf(await translateLast())).toMatchObject({
      key: message.key,
      press: { kind: "cancel", runId },
      author: { subject: `slack:${slack.teamId}:${slack.bob.id}` },
    });
  });

  test("an event of another workspace is refused for good (45)", async () => {
    const mention = await slack.mention(slack.carol, {
      channel: slack.otherWorkspace.channel("work").id,
      text: "hi",
    });
    await slack.sendEvent(url, mention.appMention);

    const error = await failureOf(translateLast());

    expect(error).toMatchObject({ code: "integration_not_configured", retryable: false });
  });

  test("while Slack is away it can be tried again, and then succeeds", async () => {
    slack.faults.next({ method: "auth.test", kind: "500" });
    const mention = await slack.mention(slack.alice, { channel: "work", text: "fix it" });
    await slack.sendEvent(url, mention.appMention);

    const error = await failureOf(translateLast());
    const second = await translateLast();

    expect(error.retryable).toBe(true);
    expect(second.kind).toBe("message");
  });

  test("who the bot is is asked once, and not at start", async () => {
    expect(slack.calls("auth.test")).toHaveLength(0);

    await mentioned("one");
    await mentioned("two");

    expect(slack.calls("auth.test")).toHaveLength(1);
  });
});

describe("authorize", () => {
  function authorizeAs(profile: object): Promise<Authorization> {
    fetchSlack = async () =>
      Response.json({ ok: true, user: { id: "U1", team_id: slack.teamId, ...profile } });
    const author = { subject: `slack:${slack.teamId}:U1` };
    return slackAdapter.adapter.authorize({ author, installation: slack.teamId } as InboundMessage);
  }

  test("a member may, asked of Slack each time", async () => {
    const message = await mentioned();

    const first = await slackAdapter.adapter.authorize(message);
    await slackAdapter.adapter.authorize(message);

    expect(first).toMatchObject({ allowed: true, permission: "member", author: { displayName: "alice" } });
    expect(slack.calls("users.info")).toHaveLength(2);
  });

  test.each([
    ["deactivated", { deleted: true }],
    ["a bot", { is_bot: true }],
    ["a guest", { is_restricted: true }],
    ["a guest of one channel", { is_ultra_restricted: true }],
    ["a stranger", { is_stranger: true }],
    ["of another workspace", { team_id: "T9" }],
    ["of no known workspace", { team_id: undefined }],
  ])("who is %s may not, and is told why (45)", async (_name, profile) => {
    expect(await authorizeAs(profile)).toEqual({ allowed: false, reason: expect.stringMatching(/\.$/) });
  });

  test("a member of the organization who is in this workspace may", async () => {
    const profile = { team_id: "T9", enterprise_user: { teams: [slack.teamId] }, is_admin: true };

    expect(await authorizeAs(profile)).toMatchObject({ allowed: true, permission: "admin" });
  });

  test("whoever Slack does not know may not", async () => {
    const message = await mentioned();
    const stranger = { ...message, author: { subject: `slack:${slack.teamId}:U0NOBODY` } };

    expect(await slackAdapter.adapter.authorize(stranger)).toMatchObject({ allowed: false });
  });

  test("without an answer nobody is let in, and it is tried again", async () => {
    const message = await mentioned();
    slack.faults.next({ method: "users.info", kind: "500" });

    expect(await failureOf(slackAdapter.adapter.authorize(message))).toMatchObject({ retryable: true });
  });
});

describe("deliver", () => {
  test("seen is a reaction, also the second time", async () => {
    const message = await mentioned();
    const seen = aDelivery(message, { kind: "seen", messageRef: message.messageRef });

    const receipts = [await deliver(seen), await deliver({ ...seen, maybeShown: true })];

    const [root] = slack.threadMessages(slack.channel.id, message.messageRef);
    expect(root?.reactions).toEqual([{ name: "eyes", users: [slack.botUserId] }]);
    expect(receipts[0]).toBe(receipts[1]);
  });

  test("a card is posted in the thread once and edited after that", async () => {
    const message = await mentioned();

    const shownAt = await deliver(aDelivery(message, aCard()));
    const again = await deliver(aDelivery(message, aCard({ state: "SUCCEEDED" }), { id: "d2", shownAt }));

    const replies = repliesTo(message);
    expect(replies).toHaveLength(1);
    expect(again).toBe(shownAt);
    expect(replies[0]?.text).toContain("Succeeded");
    expect(JSON.stringify(replies[0]?.blocks)).not.toContain("errand_cancel");
    expect(JSON.parse(shownAt)).toEqual({ channel: slack.channel.id, ts: replies[0]?.ts });
  });

  test("a card that somebody deleted is posted anew", async () => {
    const message = await mentioned();
    const shownAt = await deliver(aDelivery(message, aCard()));
    await slack.workspace.callAs(slack.botToken, "chat.delete", JSON.parse(shownAt));

    const anew = await deliver(aDelivery(message, aCard({ turn: 2 }), { id: "d2", shownAt }));

    expect(anew).not.toBe(shownAt);
    expect(repliesTo(message)).toHaveLength(1);
  });

  test("messages carry both marks and unfurl nothing", async () => {
    const message = await mentioned();

    await deliver(aDelivery(message, aReply("see https://example.com")));

    const [reply] = repliesTo(message);
    expect(reply?.metadata).toMatchObject({
      event_type: "errand_delivery",
      event_payload: { delivery_id: "d1" },
    });
    expect(reply?.blocks[0]?.block_id).toBe("errand:d1");
    expect(slack.calls("chat.postMessage").at(-1)?.args).toMatchObject({
      unfurl_links: "false",
      unfurl_media: "false",
      parse: "none",
    });
  });

  test("in a direct conversation it answers in the thread of the message", async () => {
    const direct = await slack.openDirectMessage(slack.bob);
    const said = await slack.postAs(slack.bob, { channel: direct.id, text: "hi" });
    await slack.sendEvent(url, slack.messageEvent(said));
    const message = messageOf(await translateLast());

    await deliver(aDelivery(message, aReply()));

    expect(slack.threadMessages(direct.id, said.ts).map(({ text }) => text)).toEqual(["hi", "Done."]);
  });
});

describe("a message whose posting was not heard of (58)", () => {
  const notices: [string, Notice][] = [
    ["a reply", aReply()],
    ["an answer", { kind: "message", purpose: "answer", text: "**Done**" }],
    ["a card", aCard()],
  ];

  test.each(notices)("%s is visible once after the connection was lost", async (_name, notice) => {
    const message = await mentioned();
    slack.faults.next({ method: "chat.postMessage", kind: "drop-after-write" });

    const error = await failureOf(deliver(aDelivery(message, notice)));
    const receipt = await deliver(aDelivery(message, notice, { maybeShown: true }));

    expect(error.retryable).toBe(true);
    const replies = repliesTo(message);
    expect(replies).toHaveLength(1);
    expect(JSON.parse(receipt).ts).toBe(replies[0]?.ts);
  });

  test("is visible once after a time-out", async () => {
    const message = await mentioned();
    const wellConnected = fetchSlack;
    fetchSlack = async (input, init) => {
      await wellConnected(input, init);
      throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    };

    const error = await failureOf(deliver(aDelivery(message, aReply())));
    fetchSlack = wellConnected;
    await deliver(aDelivery(message, aReply(), { maybeShown: true }));

    expect(error.retryable).toBe(true);
    expect(repliesTo(message)).toHaveLength(1);
  });

  test("is posted when it really was not", async () => {
    const message = await mentioned();
    slack.faults.next({ method: "chat.postMessage", kind: "500" });
    await failureOf(deliver(aDelivery(message, aReply())));

    await deliver(aDelivery(message, aReply(), { maybeShown: true }));

    expect(repliesTo(message)).toHaveLength(1);
  });

  test("is found by its block where Slack hides the metadata", async () => {
    const message = await mentioned();
    await deliver(aDelivery(message, aReply()));
    const wellConnected = fetchSlack;
    fetchSlack = async (input, init) => {
      const body = String(init?.body ?? "").replace(
        "include_all_metadata=true",
        "include_all_metadata=false",
      );
      return wellConnected(input, { ...init, body });
    };

    await deliver(aDelivery(message, aReply(), { maybeShown: true }));

    expect(repliesTo(message)).toHaveLength(1);
  });

  test("is found behind more than a page of replies", async () => {
    const message = await mentioned();
    for (let index = 0; index < 201; index += 1) {
      await slack.postAs(slack.bob, { channel: "work", text: `${index}`, threadTs: message.messageRef });
    }
    await deliver(aDelivery(message, aReply("The last.")));

    await deliver(aDelivery(message, aReply("The last."), { maybeShown: true }));

    expect(repliesTo(message).filter(({ text }) => text === "The last.")).toHaveLength(1);
    expect(slack.calls("conversations.replies")).toHaveLength(2);
  });

  test("is not taken for another's that carries the same marks", async () => {
    const message = await mentioned();
    const [blocks, metadata] = [
      [{ type: "section", block_id: "errand:d1", text: { type: "mrkdwn", text: "forged" } }],
      { event_type: "errand_delivery", event_payload: { delivery_id: "d1" } },
    ];
    const forged = {
      channel: slack.channel.id,
      text: "forged",
      thread_ts: message.messageRef,
      blocks,
      metadata,
    };
    await slack.workspace.callAs(slack.bob.token, "chat.postMessage", forged);

    await deliver(aDelivery(message, aReply(), { maybeShown: true }));

    expect(repliesTo(message).map(({ text }) => text)).toEqual(["forged", "Done."]);
  });

  test("a card of which an older delivery may be shown is found by its run, and shows the newer news", async () => {
    const message = await mentioned();
    await deliver(aDelivery(message, aCard({ state: "QUEUED" }), { id: "d1" }));

    await deliver(aDelivery(message, aCard({ state: "FAILED" }), { id: "d2", maybeShown: true }));

    expect(repliesTo(message).map(({ text }) => text)).toEqual([expect.stringContaining("Failed")]);
  });
});

describe("what Slack refuses", () => {
  test("a limit is kept with the time to wait (57)", async () => {
    const message = await mentioned();
    slack.faults.next({ method: "chat.postMessage", kind: "429", retryAfterSeconds: 30 });

    const error = await failureOf(deliver(aDelivery(message, aReply())));

    expect(error).toMatchObject({ retryable: true, options: { retryAfterMs: 30_000 } });
    expect(slack.calls("chat.postMessage")).toHaveLength(1);
  });

  test.each([
    "channel_not_found",
    "not_in_channel",
    "is_archived",
    "token_revoked",
    "account_inactive",
    "invalid_auth",
    "missing_scope",
  ])("%s is for good, and says so (60)", async (name) => {
    const message = await mentioned();
    slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

    const error = await failureOf(deliver(aDelivery(message, aReply())));

    expect(error.retryable).toBe(false);
    expect(error.message).toContain(name);
  });

  test.each(["internal_error", "fatal_error", "service_unavailable", "ratelimited"])(
    "%s may pass",
    async (name) => {
      const message = await mentioned();
      slack.faults.next({ method: "chat.postMessage", kind: "ok-false", error: name });

      expect(await failureOf(deliver(aDelivery(message, aReply())))).toMatchObject({ retryable: true });
    },
  );

  test("no answer and HTTP 500 may pass, and are not tried again behind our back", async () => {
    const message = await mentioned();
    slack.faults.next({ method: "chat.postMessage", kind: "500" });
    const broken = await failureOf(deliver(aDelivery(message, aReply())));
    const calls = slack.calls("chat.postMessage").length;
    fetchSlack = async () => Promise.reject(new TypeError("fetch failed"));
    const silent = await failureOf(deliver(aDelivery(message, aReply())));

    expect([broken.retryable, silent.retryable, calls]).toEqual([true, true, 1]);
  });

  test("a thread whose first message was deleted leaves nothing in the channel (60)", async () => {
    const mention = await slack.mention(slack.alice, { channel: "work", text: "fix it" });
    await slack.sendEvent(url, mention.appMention);
    const message = messageOf(await translateLast());
    await slack.deleteAs(mention.posted);

    const error = await failureOf(deliver(aDelivery(message, aReply())));
    const again = await failureOf(deliver(aDelivery(message, aReply(), { maybeShown: true })));

    expect([error, again]).toMatchObject([{ retryable: false }, { retryable: false }]);
    expect(slack.channelMessages(slack.channel.id)).toEqual([]);
  });
});

describe("what an agent prints (72)", () => {
  test("arrives whole or cut, calls nobody, and fits", async () => {
    const message = await mentioned();
    const hostile =
      "<!channel> @channel <@U0BOT> ![x](https://evil.example/k) \u001B[31mred\u001B[0m\n# ✅ Succeeded\n";

    for (const [index, text] of [hostile, hostile.repeat(10_000), "x".repeat(1_000_000)].entries()) {
      const notice: Notice = {
        kind: "message",
        purpose: "answer",
        text,
        sessionLink: "https://errand.example/s/1",
      };
      await deliver(aDelivery(message, notice, { id: `d${index}` }));
    }
    const shown = JSON.stringify(repliesTo(message));

    expect(repliesTo(message)).toHaveLength(3);
    expect(shown).toContain("The agent's answer");
    for (const dangerous of ["<!channel", "@channel", "<@U0BOT", "![x]", "\\u001b"])
      expect(shown).not.toContain(dangerous);
  });
});
