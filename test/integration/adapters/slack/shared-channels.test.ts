import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoredEvents } from "../../../../src/adapters/slack/stored-events.ts";
import { Workspaces } from "../../../../src/adapters/slack/workspaces.ts";
import type { InboundMessage, Translation } from "../../../../src/core/ports/thread-adapter.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../../support/emulated-slack.ts";
import { loopbackOnlyFetch } from "../../../support/loopback-only.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { anInboxEvent } from "../../../support/run-builders.ts";
import {
  buttonPayload,
  eventEnvelope,
  type PostedMessage,
  type SlackEvent,
} from "../../../support/slack/slack-events.ts";
import type { SlackUser, SlackWorkspace } from "../../../support/slack/slack-workspace.ts";

let slack: EmulatedSlack;
let installed: Set<SlackWorkspace>;
let events: StoredEvents;
/** `main` shares its channel `work` with `other`. */
let main: SlackWorkspace;
let other: SlackWorkspace;

beforeEach(async () => {
  slack = await startEmulatedSlack();
  [main, other] = [slack.workspace, slack.otherWorkspace];
  installed = new Set([main, other]);
  const config = { apiUrl: slack.apiUrl };
  const tokens = {
    tokenOf: async ({ teamId }: { readonly teamId: string }) =>
      [...installed].find((workspace) => workspace.teamId === teamId)?.botToken,
    isAny: async () => true,
    remove: async () => undefined,
  };
  const fetch = (input: string | URL | Request, init?: RequestInit) => loopbackOnlyFetch(input, init);
  const deps = { clock: new ManualClock(), fetch };
  events = new StoredEvents(config, { ...deps, workspaces: new Workspaces(config, { ...deps, tokens }) });
});
afterEach(() => slack.stop());

function deliver(event: SlackEvent, through: SlackWorkspace): Promise<Translation> {
  const body = JSON.stringify(eventEnvelope(through, slack.app, event, { sharedBy: main }));
  return events.translate({ ...anInboxEvent(), name: event.type, body });
}

async function messageOf(event: SlackEvent, through: SlackWorkspace): Promise<InboundMessage> {
  const translation = await deliver(event, through);
  return translation.kind === "message" ? translation.message : expect.fail(JSON.stringify(translation));
}

/** A message of Alice of `main` or of Carol of `other`. */
async function post(user: SlackUser, text: string): Promise<PostedMessage> {
  const channel = main.channel("work");
  return slack.postAs(user, { channel: channel.id, text });
}

const eventsOf = (posted: PostedMessage): readonly SlackEvent[] => {
  const message = slack.messageEvent(posted);
  const { channel_type: _type, ...fields } = message;
  return [{ ...fields, type: "app_mention" }, message];
};

describe("a channel that two workspaces with the app share", () => {
  beforeEach(() => other.joinChannel(main.channel("work")));

  test.each([
    ["alice", "main", "main"],
    ["alice", "main", "other"],
    ["carol", "other", "main"],
    ["carol", "other", "other"],
  ])("a mention by %s is that of her workspace %s, also with the bot of %s", async (name, home, bot) => {
    const user = name === "alice" ? slack.alice : slack.carol;
    const taker = home === "main" ? main : other;
    const mentioned = bot === "main" ? main : other;
    const posted = await post(user, `<@${mentioned.botUserId}> fix it`);

    const messages = [];
    for (const through of [main, other, main]) {
      for (const event of eventsOf(posted)) {
        const translation = await deliver(event, through);
        // Only `app_mention` says that an id is that of the app, if Slack does not name its workspace.
        if (translation.kind === "message" || event.type === "app_mention") {
          messages.push(translation.kind === "message" ? translation.message : expect.fail());
        }
      }
    }
    expect(messages.length).toBeGreaterThanOrEqual(bot === home || home === "other" ? 6 : 4);

    const [first, ...more] = messages;
    expect(first).toMatchObject({
      installation: taker.teamId,
      key: `${taker.teamId}/${posted.channel.id}/${posted.ts}`,
      dedupeKey: `slack:${posted.channel.id}/${posted.ts}:posted:${posted.ts}`,
      author: { subject: `slack:${taker.teamId}:${user.id}` },
      addressed: "mention",
      text: "fix it",
    });
    const { provenance: _provenance, ...what } = first ?? expect.fail();
    for (const message of more) {
      expect(message).toMatchObject(what);
    }
  });

  test.each([
    ["the workspace of the author is not connected", "main", "carol", "main"],
    ["the workspace of the channel is not connected", "other", "alice", "other"],
  ])("%s: the other one takes its mention", async (_name, only, name, takes) => {
    installed = new Set([only === "main" ? main : other]);
    const user = name === "alice" ? slack.alice : slack.carol;
    const taker = takes === "main" ? main : other;
    const posted = await post(user, `<@${taker.botUserId}> fix it`);

    for (const event of eventsOf(posted)) {
      expect(await messageOf(event, taker)).toMatchObject({ installation: taker.teamId, text: "fix it" });
    }
  });

  test("without a connected workspace, the one that Slack names is to be connected", async () => {
    installed.clear();
    const posted = await post(slack.carol, `<@${other.botUserId}> fix it`);

    expect(await deliver(slack.messageEvent(posted), other)).toMatchObject({
      kind: "unconnected",
      installation: other.teamId,
    });
  });

  test("an edit, a deletion and a reaction are about the same message through either workspace", async () => {
    const posted = await post(slack.carol, `<@${other.botUserId}> fix it`);
    const request = await messageOf(slack.messageEvent(posted), main);
    const { event: edit } = await slack.editAs(posted, `<@${main.botUserId}> fix that`);
    const item = { type: "message", channel: posted.channel.id, ts: posted.ts };
    const reaction = { type: "reaction_added", user: slack.carol.id, reaction: "x", item };
    const { messageId } = request.revision ?? {};
    main.profiles.set(slack.carol.id, {});
    const deletion = await slack.deleteAs(posted);

    for (const through of [main, other]) {
      expect(await messageOf(edit, through)).toMatchObject({
        installation: other.teamId,
        text: "fix that",
        revision: { messageId, isEdit: true },
      });
      expect(await deliver(deletion, through)).toMatchObject({
        kind: "deletion",
        deletion: { installation: other.teamId, messageId },
      });
    }
    expect(await deliver(reaction, other)).toMatchObject({
      kind: "stop",
      stop: { installation: other.teamId, messageId, subject: request.author.subject },
    });
  });

  test("what either bot posts is the bot's own, and its mention of the other starts nothing", async () => {
    const event = { ...slack.messageEvent(await post(slack.carol, `<@${main.botUserId}> hello`)) };

    for (const bot of [main, other]) {
      const own = { ...event, user: bot.botUserId, bot_id: bot.botId, team: bot.teamId };
      expect(await deliver(own, main)).toMatchObject({
        kind: "ignored",
        reason: "A message of the bot itself.",
      });
    }
  });

  test("a button belongs to the workspace whose bot posted it", async () => {
    const args = { channel: main.channel("work").id, text: "card" };
    const { ts } = await main.callAs(main.botToken, "chat.postMessage", args);
    const message = { channel: args.channel, ts: String(ts) };
    const press = { actionId: "errand_cancel", value: randomUUID(), user: slack.carol, message };
    const payload = buttonPayload(main, slack.app, press, "https://example.com");
    const pressed = { ...payload, team: { id: other.teamId, domain: "other" } };
    const stored = { ...anInboxEvent(), name: "block_actions", body: JSON.stringify(pressed) };

    expect(await events.translate(stored)).toMatchObject({
      kind: "message",
      message: { installation: main.teamId, key: `${main.teamId}/${args.channel}/${String(ts)}` },
    });
  });
});

describe("a shared channel in which only one bot is", () => {
  beforeEach(() => other.joinChannel(main.channel("work"), false));

  test("a mention by a person of the other workspace is that of the bot that can answer", async () => {
    const posted = await post(slack.carol, `<@${main.botUserId}> fix it`);

    expect(await messageOf(slack.messageEvent(posted), main)).toMatchObject({
      installation: main.teamId,
      author: { subject: `slack:${main.teamId}:${slack.carol.id}` },
    });
  });

  test("without the scope that tells it, the workspace of the author takes the mention", async () => {
    other.grant(other.scopes.filter((scope) => scope !== "channels:read"));
    const posted = await post(slack.carol, `<@${main.botUserId}> fix it`);

    expect(await messageOf(slack.messageEvent(posted), main)).toMatchObject({ installation: other.teamId });
  });
});

test("the organization of another workspace in the channel is not that of the receiver", async () => {
  const asked: unknown[] = [];
  const spied = new StoredEvents(
    { apiUrl: slack.apiUrl },
    {
      clock: new ManualClock(),
      workspaces: {
        find: async (address) => {
          asked.push(address);
          return undefined;
        },
        remove: async () => undefined,
      },
    },
  );
  other.joinChannel(main.channel("work"));
  const posted = await post(slack.carol, "hello");
  const envelope = eventEnvelope(other, slack.app, slack.messageEvent(posted), { sharedBy: main });
  const body = JSON.stringify({ ...envelope, enterprise_id: "E0MAIN" });

  await spied.translate({ ...anInboxEvent(), name: "message", body });

  expect(asked).toContainEqual({ teamId: main.teamId, enterpriseId: "E0MAIN" });
  expect(asked).not.toContainEqual(expect.objectContaining({ teamId: other.teamId, enterpriseId: "E0MAIN" }));
});
