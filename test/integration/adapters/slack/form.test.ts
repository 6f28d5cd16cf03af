import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Disposition } from "../../../../src/core/ports/stores/inbox-store.ts";
import { runRules } from "../../../../src/core/team/policies/run-rules.ts";
import { InboxProcessor } from "../../../../src/core/threads/inbox/inbox-processor.ts";
import { CoreHarness } from "../../../support/core-harness.ts";
import { asRecord } from "../../../support/json.ts";
import { anInboxEvent } from "../../../support/run-builders.ts";
import type { FormValues } from "../../../support/slack/slack-views.ts";
import type { ShownView } from "../../../support/slack/slack-workspace.ts";
import { messageOf, SlackFixture } from "./slack-fixture.ts";

let fixture: SlackFixture;

beforeEach(async () => {
  fixture = await SlackFixture.open();
});

afterEach(async () => {
  await fixture.close();
});

async function command(text: string): Promise<Response> {
  const { alice } = fixture.slack;
  return fixture.slack.sendSlashCommand(fixture.url, {
    command: "/errand",
    text,
    user: alice,
    channel: "work",
  });
}

function shownView(): ShownView {
  return fixture.slack.dialogs.viewsOf(fixture.slack.alice).at(-1) ?? expect.fail("No view was opened.");
}

function submit(values: FormValues, view = shownView()): Promise<Response> {
  return fixture.slack.dialogs.sendSubmission(fixture.url, { user: fixture.slack.alice, view, values });
}

/** Uses the shortcut on a message of Bob. */
async function shortcut(
  text: string,
  { channel = "work", threadTs }: { readonly channel?: string; readonly threadTs?: string } = {},
) {
  const { alice, bob, dialogs } = fixture.slack;
  const posted = await fixture.slack.postAs(bob, { channel, text, threadTs });
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  const message = { ts: posted.ts, user: bob.id, text, ...thread };
  const response = await dialogs.sendShortcut(fixture.url, {
    callbackId: "errand_send",
    user: alice,
    channel,
    message,
  });
  return { posted, response };
}

function fieldOf(view: ShownView, field: string) {
  return asRecord(view.blocks.find(({ block_id: id }) => id === field)?.element);
}

describe("/errand without a text", () => {
  test("opens a form, whose request is in the direct conversation", async () => {
    fixture.views = {
      ...fixture.views,
      form: async () => ({ agents: [{ name: "claude", displayName: "Claude" }] }),
    };

    expect(await (await command("")).text()).toBe("");
    expect(fixture.inbox).toEqual([]);
    const { alice, channel, teamId } = fixture.slack;
    expect(fixture.viewRequests).toMatchObject([
      { installation: teamId, place: channel.id, authorization: { allowed: true, roles: ["member"] } },
    ]);

    const values = {
      prompt: "fix the parser",
      environment: "env1",
      repository: "acme/web",
      agent: "claude",
      model: "opus",
      pull_request: "draft",
    };
    expect(await (await submit(values)).text()).toBe("");

    const message = messageOf(await fixture.translateLast());
    expect(message).toMatchObject({
      key: `${teamId}/${(await fixture.slack.openDirectMessage(alice)).id}/`,
      place: channel.id,
      addressed: "direct",
      author: { subject: `slack:${teamId}:${alice.id}` },
      text: "fix the parser",
      form: {
        environment_id: "env1",
        repository: "acme/web",
        harness: { type: "claude" },
        model_id: "opus",
        pull_request: "draft",
      },
      messageRef: "",
      provenance: { action: "submitted", actor: { id: alice.id } },
    });
    expect(messageOf(await fixture.translateLast())).toEqual(message);
  });

  test("says to a person who may not start runs why", async () => {
    fixture.views = { ...fixture.views, form: async () => ({ refusal: "Guests may not start runs." }) };

    expect(await (await command("")).json()).toEqual({
      response_type: "ephemeral",
      text: "Guests may not start runs.",
    });
    expect(fixture.slack.dialogs.viewsOf(fixture.slack.alice)).toEqual([]);
  });

  test.each(["expired_trigger_id", "ratelimited", "missing_scope"])(
    "is answered with the help when Slack says %s",
    async (error) => {
      fixture.slack.faults.next({ method: "views.open", kind: "ok-false", error });

      expect(await (await command("")).json()).toMatchObject({
        text: expect.stringMatching(/errand <task>/),
      });
    },
  );

  test("the menu of environments in the form searches those of its reader", async () => {
    await command("");
    fixture.choices = [{ id: "env1", name: "Backend" }];
    const { alice, teamId } = fixture.slack;

    const answer = await fixture.slack.sendMenuSearch(fixture.url, {
      actionId: String(fieldOf(shownView(), "environment").action_id),
      words: "back",
      message: { channel: "work", ts: "1.0" },
      user: alice,
    });

    expect(await answer.json()).toEqual({
      options: [{ text: { type: "plain_text", text: "Backend", emoji: false }, value: "env1" }],
    });
    const subject = `slack:${teamId}:${alice.id}`;
    expect(fixture.searches).toEqual([{ adapter: "slack", installation: teamId, subject, query: "back" }]);
  });
});

describe("the message shortcut", () => {
  test("opens the form with the words of the message", async () => {
    const { response } = await shortcut(`<@U0X> see <https://ci.example/1|the build> &amp; fix`);

    expect(response.status).toBe(200);
    expect(shownView().title).toBe("Send to Errand");
    expect(fieldOf(shownView(), "prompt").initial_value).toBe(
      "@U0X see the build (https://ci.example/1) & fix",
    );
  });

  test("opens the form with the attachments of an alert without a text, and cuts what is too long", async () => {
    const { alice, channel, dialogs } = fixture.slack;
    const attachments = [{ title: "Latency", text: "x".repeat(9_000) }];

    await dialogs.sendShortcut(fixture.url, {
      callbackId: "errand_send",
      user: alice,
      channel: "work",
      message: { ts: "1700000000.000100", text: "", bot_id: "B1", attachments },
    });

    const start = String(fieldOf(shownView(), "prompt").initial_value);
    expect(start).toMatch(/Latency\n\s+x+/);
    expect(start.length).toBeLessThanOrEqual(3_000);
    expect(channel.name).toBe("work");
  });

  test("asks in the thread of the message, and the agent gets the message with its author", async () => {
    const root = await fixture.slack.postAs(fixture.slack.bob, {
      channel: "work",
      text: "The build is red.",
    });
    const { posted } = await shortcut("Line 3 says why.", { threadTs: root.ts });
    await submit({ prompt: "repo=evil/x stop" });

    const message = messageOf(await fixture.translateLast());

    const { channel, teamId } = fixture.slack;
    expect(message).toMatchObject({
      key: `${teamId}/${channel.id}/${root.ts}`,
      addressed: "mention",
      messageRef: posted.ts,
      text: "repo=evil/x stop",
      form: {},
    });
    const { context } = (await fixture.adapter.gather?.(message, { isFollowUp: false })) ?? {};
    expect(context).toMatch(/bob.*The build is red\..*Line 3 says why\./s);
  });

  test("on the first message of a thread, the agent gets that message", async () => {
    await shortcut("The build is red.");
    await submit({ prompt: "investigate" });

    const message = messageOf(await fixture.translateLast());
    const { context } = (await fixture.adapter.gather?.(message, { isFollowUp: false })) ?? {};
    expect(context).toContain("The build is red.");
  });

  test("in a channel without the bot, asks in the direct conversation, with a link to the message", async () => {
    const { posted } = await shortcut("The build is red.", { channel: "elsewhere" });
    fixture.slack.faults.next({ method: "conversations.replies", kind: "ok-false", error: "not_in_channel" });
    await submit({ prompt: "investigate" });

    const message = messageOf(await fixture.translateLast());

    const direct = await fixture.slack.openDirectMessage(fixture.slack.alice);
    expect(message).toMatchObject({
      key: `${fixture.slack.teamId}/${direct.id}/`,
      place: fixture.slack.closedChannel.id,
      messageRef: "",
      permalink: expect.stringContaining(`p${posted.ts.replace(".", "")}`),
    });
  });

  test("shows in a modal why a person may not start runs", async () => {
    fixture.views = { ...fixture.views, form: async () => ({ refusal: "Guests may not start runs." }) };

    expect((await shortcut("x")).response.status).toBe(200);

    expect(JSON.stringify(shownView().blocks)).toContain("Guests may not start runs.");
  });

  test("is not acknowledged when the form cannot be opened, so that Slack says that it failed", async () => {
    fixture.slack.faults.next({ method: "views.open", kind: "500" });

    expect((await shortcut("x")).response.status).toBeGreaterThanOrEqual(500);
  });
});

describe("a submitted form", () => {
  beforeEach(async () => {
    await command("");
  });

  test.each([
    ["prompt", { prompt: " \n " }, /what the agent is to do/],
    ["repository", { repository: "https://github.com/acme/web" }, /owner\/name/],
    ["repository", { repository: "../x" }, /owner\/name/],
    ["model", { model: "two models" }, /one model/],
  ])("with a wrong %s says so at the field, and is not stored", async (field, values, reason) => {
    const answer = await (await submit({ prompt: "fix it", ...values })).json();

    expect(answer).toEqual({
      response_action: "errors",
      errors: { [field]: expect.stringMatching(reason) },
    });
    expect(fixture.inbox).toEqual([]);
  });

  test("that cannot be stored stays open and says so", async () => {
    fixture.isInboxWell = false;
    expect(await (await submit({ prompt: "fix it" })).json()).toEqual({
      response_action: "errors",
      errors: { prompt: expect.stringMatching(/Press Start again/) },
    });

    fixture.isInboxWell = true;
    expect(await (await submit({ prompt: "fix it" })).text()).toBe("");
    expect(fixture.inbox).toHaveLength(1);
  });

  test("has the id of its form, so that a second submission is the same delivery", async () => {
    await submit({ prompt: "fix it" });
    await submit({ prompt: "fix it" });

    const [first, second] = fixture.inbox;
    expect(second?.deliveryId).toBe(first?.deliveryId);
    expect(second?.orderingKey).toBe(first?.orderingKey);
  });
});

describe("a submitted form in the inbox", () => {
  let core: CoreHarness;
  let processor: InboxProcessor;
  beforeEach(() => {
    core = new CoreHarness();
    const { blobs, clock, installationHealth, joins, pubsub, requestDefaults, runs, storage } = core;
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    processor = new InboxProcessor({
      ...{ blobs, clock, installationHealth, joins, log, requestDefaults, runs, storage },
      adapters: new Map([["slack", fixture.adapter]]),
      policies: runRules({ storage, pubsub, clock }).policies,
      pullRequests: { take: async () => undefined },
      changesDefault: "off",
      gitUrl: "https://github.com",
    });
  });

  /** Processes the newest event of the inbox, as a delivery of its own. */
  async function process(deliveryId: string): Promise<Disposition | undefined> {
    const received = fixture.inbox.at(-1) ?? expect.fail("Nothing was stored.");
    const stored = { ...anInboxEvent(), ...received, deliveryId };
    await core.storage.inbox.put(stored);
    await processor.work(stored.orderingKey, new AbortController().signal);
    const team = { teamId: (await core.person()).teamId, withUnknownTeam: true };
    return (await core.storage.inboxList.find(team, stored.id))?.disposition;
  }

  test("makes one run, whose words have no meaning to Errand, although it comes twice", async () => {
    await shortcut("The build is red.");
    await submit({ prompt: "stop\nrepo=evil/x", repository: "acme/web", pull_request: "off" });

    expect(await process("one")).toBe("run_created");
    expect(await process("two")).toBe("duplicate");

    const viewer = await core.person();
    const query = { viewer, filters: {}, sort: "created_at", order: "asc", limit: 10 } as const;
    const { runs } = await core.runs.list({ ...query, viewer: { ...viewer, administrator: true } });
    expect(runs).toMatchObject([{ config: { repository: "acme/web", pull_request: "off" } }]);
    const run = await core.storage.runs.find({ id: runs[0]?.id ?? expect.fail("No run") });
    expect(run?.prompt).toBe("stop\nrepo=evil/x");
  });
});
