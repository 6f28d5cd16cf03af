import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Disposition } from "../../../../src/core/ports/stores/inbox-store.ts";
import { runRules } from "../../../../src/core/team/policies/run-rules.ts";
import { InboxProcessor } from "../../../../src/core/threads/inbox/inbox-processor.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import type { JsonRecord } from "../../../support/json.ts";
import { aPolicy } from "../../../support/rule-builders.ts";
import { anInboxEvent } from "../../../support/run-builders.ts";
import type { PostedMessage, SlackEvent } from "../../../support/slack/slack-events.ts";
import { SlackFixture } from "./slack-fixture.ts";

/** What an event is about: a thread with a run that Alice asked for, and her request. */
interface Scene {
  readonly fixture: SlackFixture;
  readonly request: PostedMessage;
}

type Row = readonly [string, (scene: Scene) => SlackEvent, Disposition | "not stored", RegExp?];

let fixture: SlackFixture;
let core: CoreHarness;
let processor: InboxProcessor;
let request: PostedMessage;
beforeEach(async () => {
  fixture = await SlackFixture.open();
  core = new CoreHarness();
  const { blobs, clock, joins, pubsub, requestDefaults, runs, storage, installationHealth } = core;
  const { policies } = runRules({ storage, pubsub, clock });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const adapters = new Map([["slack", fixture.adapter]]);
  const stores = {
    blobs,
    changesDefault: "off" as const,
    gitUrl: "https://github.com",
    pullRequests: { take: async () => undefined },
    requestDefaults,
    joins,
    storage,
  };
  processor = new InboxProcessor({ ...stores, adapters, clock, log, policies, runs, installationHealth });
  const { slack } = fixture;
  const mention = await slack.mention(slack.alice, { channel: "work", text: "fix it" });
  request = mention.posted;
  expect(await dispositionOf(mention.appMention)).toBe("run_created");
});
afterEach(async () => {
  await fixture.close();
});

/** Sends the event to the webhook, and processes what that stores. */
async function dispositionOf(event: SlackEvent): Promise<Disposition | "not stored" | undefined> {
  return (await resultOf(event)).disposition;
}

async function resultOf(event: SlackEvent, send = () => fixture.slack.sendEvent(fixture.url, event)) {
  const before = fixture.inbox.length;
  expect((await send()).status).toBe(200);
  const received = fixture.inbox[before];
  if (received === undefined) {
    return { disposition: "not stored" } as const;
  }
  const stored = { ...anInboxEvent(), ...received };
  await core.storage.inbox.put(stored);
  await processor.work(stored.orderingKey, new AbortController().signal);
  const entry = await core.storage.inboxList.find(
    { teamId: (await core.person()).teamId, withUnknownTeam: true },
    stored.id,
  );
  return { disposition: entry?.disposition, reason: entry?.reason };
}

function reply({ request: { channel, ts } }: Scene, changes: JsonRecord = {}): SlackEvent {
  const at = `${Number(ts.split(".")[0]) + 5}.000100`;
  return {
    type: "message",
    channel: channel.id,
    channel_type: "channel",
    user: fixture.slack.alice.id,
    text: "and this",
    ts: at,
    event_ts: at,
    thread_ts: ts,
    team: fixture.slack.teamId,
    ...changes,
  };
}

function changed({ request: posted }: Scene, message: JsonRecord, others: JsonRecord = {}): SlackEvent {
  const before = { type: "message", user: posted.user.id, text: posted.text, ts: posted.ts };
  return {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel: posted.channel.id,
    channel_type: "channel",
    ts: "9999999999.000100",
    event_ts: "9999999999.000100",
    message: { ...before, ...message },
    previous_message: before,
    ...others,
  };
}

const EDITED = { edited: { user: "U1", ts: "9999999999.000000" } };
const mentionOf = ({ fixture: { slack } }: Scene) => `<@${slack.botUserId}>`;

const ROWS: readonly Row[] = [
  ["a reply of the person who asked", (scene) => reply(scene), "follow_up"],
  [
    "a reply that is also sent to the channel",
    (scene) => reply(scene, { subtype: "thread_broadcast", root: {} }),
    "follow_up",
  ],
  [
    "a reply with a file that Slack does not store",
    (scene) => reply(scene, { subtype: "file_share", files: [{ name: "a", mode: "external" }] }),
    "follow_up",
  ],
  ["a /me message of the person who asked", (scene) => reply(scene, { subtype: "me_message" }), "follow_up"],
  [
    "a mention in the thread by another member",
    (scene) => reply(scene, { user: fixture.slack.bob.id, text: `${mentionOf(scene)} more` }),
    "follow_up",
  ],
  [
    "a reply of a bystander",
    (scene) => reply(scene, { user: fixture.slack.bob.id }),
    "ignored",
    /does not take part/,
  ],
  [
    "a reply that addresses another user",
    (scene) => reply(scene, { text: `<@${fixture.slack.bob.id}> look` }),
    "ignored",
    /another user/,
  ],
  ["an aside", (scene) => reply(scene, { text: "(aside) hm" }), "ignored", /aside/],
  [
    "a message in no thread without a mention",
    (scene) => reply(scene, { thread_ts: undefined }),
    "not stored",
  ],
  [
    "a reply in a thread without a run",
    (scene) => reply(scene, { thread_ts: "1.000001" }),
    "ignored",
    /thread without a run/,
  ],
  ["a join", (scene) => reply(scene, { subtype: "channel_join" }), "ignored", /Nobody spoke/],
  ["a leave", (scene) => reply(scene, { subtype: "channel_leave" }), "ignored", /Nobody spoke/],
  ["a topic", (scene) => reply(scene, { subtype: "channel_topic", topic: "x" }), "ignored", /Nobody spoke/],
  ["a pinned item", (scene) => reply(scene, { subtype: "pinned_item" }), "ignored", /Nobody spoke/],
  [
    "a message_replied note",
    (scene) => reply(scene, { subtype: "message_replied" }),
    "ignored",
    /Nobody spoke/,
  ],
  [
    "a bot_message of another app",
    (scene) => reply(scene, { subtype: "bot_message", bot_id: "B9", user: undefined }),
    "ignored",
  ],
  [
    "a reply of another app with a user",
    (scene) => reply(scene, { bot_id: "B9" }),
    "ignored",
    /another app \(B9\)/,
  ],
  [
    "a mention by another app",
    (scene) => reply(scene, { bot_id: "B9", text: `${mentionOf(scene)} hi` }),
    "refused",
  ],
  [
    "a mention by a workflow that no policy names",
    (scene) =>
      reply(scene, {
        subtype: "bot_message",
        bot_id: "B9",
        user: undefined,
        text: `${mentionOf(scene)} hi`,
      }),
    "refused",
    /Bots and workflows/,
  ],
  ["a message of Slackbot", (scene) => reply(scene, { user: "USLACKBOT" }), "ignored", /Slackbot/],
  [
    "a message of the bot itself",
    (scene) => reply(scene, { user: fixture.slack.botUserId }),
    "ignored",
    /bot itself/,
  ],
  [
    "a message of the bot itself by its other id",
    (scene) => reply(scene, { bot_id: fixture.slack.workspace.botId }),
    "ignored",
    /bot itself/,
  ],
  ["the preview of a link", (scene) => changed(scene, { attachments: [{}] }), "not stored"],
  ["an edit that leaves the text", (scene) => changed(scene, EDITED), "ignored", /leaves the text/],
  [
    "a change of the bot's own card",
    (scene) => changed(scene, { ...EDITED, user: fixture.slack.botUserId, text: "new" }),
    "ignored",
    /bot itself/,
  ],
  [
    "an edit of the request",
    (scene) => changed(scene, { ...EDITED, text: `${mentionOf(scene)} fix that` }),
    "changed",
  ],
  [
    "an edit without the message before it",
    (scene) =>
      changed(scene, { ...EDITED, text: `${mentionOf(scene)} fix that` }, { previous_message: undefined }),
    "changed",
  ],
  [
    "the app_mention that Slack repeats for an edit",
    (scene) => ({ ...reply(scene, { text: mentionOf(scene), ...EDITED }), type: "app_mention" }),
    "ignored",
    /message_changed/,
  ],
  [
    "the deletion of the request",
    ({ request: { channel, ts } }) => ({
      type: "message",
      subtype: "message_deleted",
      channel: channel.id,
      deleted_ts: ts,
      ts: "9999999999.1",
      hidden: true,
    }),
    "withdrawn",
  ],
  [
    "the tombstone of the request",
    (scene) => changed(scene, { subtype: "tombstone", user: "USLACKBOT", text: "This message was deleted." }),
    "withdrawn",
  ],
  [
    "the deletion of an unknown message",
    ({ request: { channel } }) => ({
      type: "message",
      subtype: "message_deleted",
      channel: channel.id,
      deleted_ts: "1.1",
      ts: "9999999999.1",
    }),
    "ignored",
    /deleted message that had no effect/,
  ],
  [
    "❌ by the person who asked",
    ({ request: { channel, ts } }) => ({
      type: "reaction_added",
      user: fixture.slack.alice.id,
      reaction: "x",
      item: { type: "message", channel: channel.id, ts },
      event_ts: "9.9",
    }),
    "cancelled",
  ],
  [
    "❌ by another member",
    ({ request: { channel, ts } }) => ({
      type: "reaction_added",
      user: fixture.slack.bob.id,
      reaction: "x",
      item: { type: "message", channel: channel.id, ts },
      event_ts: "9.9",
    }),
    "ignored",
  ],
  [
    "❌ on a file",
    () => ({
      type: "reaction_added",
      user: fixture.slack.alice.id,
      reaction: "x",
      item: { type: "file", file: "F1" },
      event_ts: "9.9",
    }),
    "ignored",
  ],
  [
    "a member who joined",
    () => ({ type: "member_joined_channel", user: "U2", channel: "C2" }),
    "ignored",
    /means nothing/,
  ],
  [
    "an archived channel",
    () => ({ type: "channel_archive", channel: "C2", user: "U2" }),
    "ignored",
    /means nothing/,
  ],
  [
    "an opened tab of messages",
    () => ({ type: "app_home_opened", user: "U2", channel: "D2", tab: "messages" }),
    "ignored",
    /means nothing/,
  ],
  [
    "a revoked token",
    () => ({ type: "tokens_revoked", tokens: { oauth: [], bot: ["U2"] } }),
    "ignored",
    /token was revoked/,
  ],
  [
    "a message without a time",
    () => ({ type: "message", channel: "C1", thread_ts: "1.1", user: "U2", text: "x" }),
    "ignored",
    /what every message has/,
  ],
];

describe("an event of Slack", () => {
  const rows = ROWS.map(([name, event, disposition, reason = /^/]) => ({ name, event, disposition, reason }));

  test.each(rows)("$name has its disposition", async ({ disposition, event, reason }) => {
    const result = await resultOf(event({ fixture, request }));

    expect(result.disposition).toBe(disposition);
    expect("reason" in result ? (result.reason ?? "") : "").toMatch(reason);
  });

  test.each([
    ["app_mention", "message"],
    ["message", "app_mention"],
  ] as const)("of the two events of a mention, %s before %s, one makes the run", async (first, _second) => {
    const { slack } = fixture;
    const { appMention, message } = await slack.mention(slack.alice, { channel: "work", text: "fix that" });
    const pair = first === "message" ? [message, appMention] : [appMention, message];

    const results: unknown[] = [];
    for (const event of pair) {
      results.push(await dispositionOf(event));
    }

    expect(results).toEqual(["run_created", "duplicate"]);
  });

  test("a message of another workspace fails with the reason, and starts nothing", async () => {
    const { slack } = fixture;
    const { appMention } = await slack.mention(slack.carol, { channel: "work", text: "hi" }).catch(() => ({
      appMention: {
        ...reply({ fixture, request }),
        type: "app_mention",
        team: slack.otherWorkspace.teamId,
      } as SlackEvent,
    }));

    const result = await resultOf(appMention, () =>
      slack.sendEvent(fixture.url, appMention, { workspace: slack.otherWorkspace }),
    );

    expect(result).toMatchObject({ disposition: "failed", reason: expect.stringMatching(/not installed/) });
  });

  test.each([
    ["a guest", "guest", { is_restricted: true }],
    ["a person of another organization", "external", { is_stranger: true }],
  ] as const)("%s is refused, except in a channel that a policy lists", async (_name, role, profile) => {
    const scene = { fixture, request };
    const original = fixture.fetch;
    fixture.fetch = async (input, init) =>
      String(input).includes("users.info")
        ? Response.json({ ok: true, user: { id: "U77", team_id: fixture.slack.teamId, ...profile } })
        : original(input, init);
    const mention = (ts: string) =>
      reply(scene, { user: "U77", text: `${mentionOf(scene)} hi`, ts, event_ts: ts });

    expect(await dispositionOf(mention("9999999990.000001"))).toBe("refused");
    const match = { roles: [role], places: ["C-other"] };
    await core.storage.policies.add(aPolicy({ effect: "allow", match, priority: 2 }));
    expect(await dispositionOf(mention("9999999990.000002"))).toBe("refused");
    await core.storage.policies.add(
      aPolicy({ effect: "allow", match: { ...match, places: [request.channel.id] }, priority: 1 }),
    );
    expect(await dispositionOf(mention("9999999990.000003"))).toBe("follow_up");
  });
});
