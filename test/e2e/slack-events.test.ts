import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { asRecord } from "../support/json.ts";
import type { SlackUser } from "../support/slack/slack-workspace.ts";
import { waitFor } from "../support/wait-for.ts";
import { Fixture, TEST_LIMIT_MS, WAIT_LIMIT_MS } from "./service-fixture.ts";
import { SlackThread } from "./slack-thread.ts";

vi.setConfig({ testTimeout: TEST_LIMIT_MS });

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterEach(() => fixture.checkInvariants());
afterAll(() => fixture.close());

interface Result {
  readonly disposition: string | null;
  readonly reason?: string;
}

/** The results of the newest events, once all have one. */
async function newestResults(count: number): Promise<readonly Result[]> {
  const read = async () => {
    const { body } = await fixture.api.call("GET", `/agent/inbox?limit=${count}`);
    const events = asRecord(body).events as readonly Result[];
    return events.every(({ disposition }) => disposition !== null) && events;
  };
  return waitFor(read, { what: "the results of all events", timeoutMs: WAIT_LIMIT_MS });
}

describe("a request that Slack did not sign", () => {
  test("forged, old and future requests are refused and not stored, also a check of the address", async () => {
    const { slack } = fixture;
    const url = `${fixture.service.url}/webhooks/slack`;
    const { appMention } = await slack.mention(slack.alice, { channel: "work", text: "say hello" });
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const forgeries = [
      { signingSecret: "another secret" },
      { timestamp: nowSeconds - 310 },
      { timestamp: nowSeconds + 310 },
    ];
    const before = await fixture.api.call("GET", "/agent/inbox?limit=1");

    for (const options of forgeries) {
      expect((await fixture.sendSlack(appMention, options)).status).toBe(401);
      expect((await slack.sendUrlVerification(url, "abc", options)).status).toBe(401);
    }
    const challenge = await slack.sendUrlVerification(url, "abc");

    expect(await challenge.json()).toEqual({ challenge: "abc" });
    expect((await fixture.api.call("GET", "/agent/inbox?limit=1")).body).toEqual(before.body);
  });
});

/** What the bot says in the channel to this user alone. */
async function untilOnlyFor(user: SlackUser, words: RegExp): Promise<string> {
  const { slack } = fixture;
  const find = () =>
    slack.ephemeralMessages(slack.channel.id, user).find(({ text }) => words.test(text))?.text;
  return waitFor(find, { what: `a message to ${user.name} that says ${words}`, timeoutMs: WAIT_LIMIT_MS });
}

describe("events that ask for nothing", () => {
  test("the bot's own messages, other apps, joins and bystanders start no run and continue none", async () => {
    const thread = await SlackThread.open(fixture, "say hello", ["message", "appMention"]);
    await thread.untilAnswers(1);
    const { slack } = fixture;
    const channel = thread.root.channel.id;
    const plain = slack.messageEvent({
      ...thread.root,
      text: "and this",
      threadTs: thread.root.ts,
      ts: "9999999999.000100",
    });
    const [card] = thread.cards;
    const events = [
      slack.ownMessageEvent(channel, card?.ts ?? ""),
      { ...plain, bot_id: "B0OTHER" },
      { ...plain, subtype: "channel_join" },
      { ...plain, user: slack.bob.id },
    ];

    for (const event of events) {
      await thread.deliver(event);
    }

    const results = await newestResults(events.length);
    expect(results.map(({ disposition }) => disposition)).toEqual(events.map(() => "ignored"));
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
    expect(await fixture.followUpsOf(thread.runId)).toEqual([]);
  });
});

describe("a thread whose run is over", () => {
  test("a reply and a mention are follow-ups, and only `new` starts another run", async () => {
    const thread = await SlackThread.open(fixture, "say hello");
    await thread.untilAnswers(1);
    const { runId } = thread;

    await thread.reply("say more");
    await thread.untilAnswers(2);
    await thread.replyToBot("say even more");
    await thread.untilAnswers(3);
    expect(await fixture.followUpsOf(runId)).toHaveLength(2);
    expect(thread.runId).toBe(runId);

    await thread.replyToBot("new say something else");
    await thread.untilAnswers(4);
    await thread.untilCard("Succeeded");

    expect(thread.runId).not.toBe(runId);
    expect(await fixture.followUpsOf(runId)).toHaveLength(2);
  });
});

describe("guests and people of other organisations", () => {
  test("the built-in policy refuses them in private, until a policy of the team lists the channel", async () => {
    const { slack } = fixture;
    const mentionIn = async (channel: string): Promise<Result | undefined> => {
      const { appMention } = await slack.mention(slack.bob, { channel, text: "help" });
      await fixture.sendSlack(appMention);
      return (await newestResults(1))[0];
    };
    const isRefused = {
      disposition: "refused",
      reason: expect.stringMatching(/Guests may not|Only members/),
    };
    try {
      slack.workspace.profiles.set(slack.bob.id, { is_restricted: true });
      expect(await mentionIn("work")).toMatchObject(isRefused);
      const refusal = await untilOnlyFor(slack.bob, /can change the rules/);
      const [builtin] = await builtinPoliciesFor("guest");
      expect(refusal).toContain(`The rule is “${builtin?.name}”.`);

      const policy = {
        name: "Guests of the work channel",
        effect: "allow",
        match: { integrations: ["slack"], places: [slack.channel.id], roles: ["guest", "external"] },
      };
      expect((await fixture.api.call("POST", "/agent/policies", policy)).status).toBe(201);
      expect(await mentionIn("work")).toMatchObject({ disposition: "replied" });
      slack.workspace.profiles.set(slack.bob.id, { is_stranger: true });
      expect(await mentionIn("work")).toMatchObject({ disposition: "replied" });
      expect(await mentionIn("private-room")).toMatchObject(isRefused);
      expect(await fixture.runsFrom({ address: slack.privateChannel.id })).toEqual([]);
    } finally {
      slack.workspace.profiles.clear();
    }
  });
});

interface PolicyRow {
  readonly name: string;
  readonly builtin?: boolean;
  readonly effect: string;
  readonly match: { readonly roles?: readonly string[] };
}

/** The built-in policies that an administrator reads, which deny something to this role. */
async function builtinPoliciesFor(role: string): Promise<readonly PolicyRow[]> {
  const { body } = await fixture.api.call("GET", "/agent/policies");
  const policies = asRecord(body).policies as readonly PolicyRow[];
  return policies.filter(
    ({ builtin, effect, match }) =>
      builtin === true && effect === "deny" && match.roles?.includes(role) === true,
  );
}

describe("a person who may do nothing here", () => {
  test("an unknown, a foreign and a disabled user are refused with the reason, and start no run", async () => {
    const { slack } = fixture;
    const before = (await fixture.api.listRuns()).length;

    slack.faults.next({ method: "users.info", kind: "ok-false", error: "user_not_found" });
    await SlackThread.open(fixture, "say hello");
    const [unknown] = await newestResults(1);
    await untilOnlyFor(slack.alice, /does not know you/);
    expect(unknown).toMatchObject({
      disposition: "refused",
      reason: expect.stringMatching(/does not know you/),
    });

    const { appMention } = await slack.mention(slack.alice, { channel: "work", text: "say hello" });
    await fixture.sendSlack(appMention, { workspace: slack.otherWorkspace });
    const [foreign] = await newestResults(1);
    expect(foreign).toMatchObject({
      disposition: "failed",
      reason: expect.stringMatching(/not installed in this Slack workspace/),
    });

    const { appMention: first } = await slack.mention(slack.bob, { channel: "work", text: "status" });
    await fixture.sendSlack(first);
    await newestResults(1);
    const { body } = await fixture.api.call("GET", "/agent/principals");
    const people = asRecord(body).principals as readonly {
      readonly uid: string;
      readonly display_name?: string;
    }[];
    const bob = people.find(({ display_name: name }) => name === "bob");
    await fixture.api.call("PATCH", `/agent/principals/${bob?.uid}`, { disabled: true });
    const { appMention: second } = await slack.mention(slack.bob, { channel: "work", text: "say hello" });
    await fixture.sendSlack(second);
    const [disabled] = await newestResults(1);
    await untilOnlyFor(slack.bob, /switched your account/);
    expect(disabled).toMatchObject({
      disposition: "refused",
      reason: expect.stringMatching(/switched your account/),
    });

    expect(await fixture.api.listRuns()).toHaveLength(before);
  });
});

describe("an app that was uninstalled", () => {
  test("a mention waits, the installation says why, and after the reinstallation one run starts", async () => {
    const { slack } = fixture;
    const problem = async () => {
      const { body } = await fixture.api.call("GET", "/agent/installations");
      const installations = asRecord(body).installations as readonly { readonly problem?: string }[];
      return installations.find((one) => one.problem !== undefined)?.problem;
    };

    const reinstall = slack.faults.until({
      method: "users.info",
      kind: "ok-false",
      error: "account_inactive",
    });
    await fixture.sendSlack({ type: "app_uninstalled" });
    const reason = await waitFor(problem, { what: "the problem of the installation" });
    const thread = await SlackThread.open(fixture, "say hello", ["message", "appMention"]);
    await waitFor(async () => (await problem())?.includes("account_inactive"), { what: "the refused call" });
    const before = [await fixture.runsFrom(thread), thread.messages];
    reinstall();
    await thread.untilAnswers(1);

    expect(reason).toMatch(/was uninstalled.*Reinstall the app/);
    expect(before).toEqual([[], []]);
    expect(await fixture.runsFrom(thread)).toEqual([thread.runId]);
    expect(thread.messages).toHaveLength(2);
    expect(await problem()).toBeUndefined();
  });
});

/** The last tests: from here on, the team has environments. */
describe("a request that nothing places", () => {
  test("the bot asks in the thread, and the button starts the run in the chosen environment after a restart", async () => {
    for (const name of ["Backend", "Frontend"]) {
      const config = { name, repositories: [] };
      expect((await fixture.api.call("POST", "/agent/environments", { config })).status).toBe(201);
    }
    const thread = await SlackThread.open(fixture, "say hello");
    await thread.untilReply(/Where should I work/);
    expect(thread.cards).toEqual([]);
    await fixture.kill();
    await fixture.start();

    await thread.choose("Frontend", ["person"]);
    await thread.untilAnswers(1);

    expect(await fixture.api.getRun(thread.runId)).toMatchObject({
      agent_config: { environment_id: expect.any(String) },
      provenance: { routing: { reason: "Chosen where it was asked for." } },
    });
    expect(await thread.untilReply(/I work in Frontend/)).toContain("alice");
    const second = await SlackThread.open(fixture, "say hello again");
    await second.untilAnswers(1);
    expect(JSON.stringify(second.cards[0]?.blocks)).toContain("Frontend");
  });

  test("of many environments, the author looks for one in a menu that is answered at once", async () => {
    for (let number = 1; number <= 23; number += 1) {
      const config = { name: `Service ${number}`, repositories: [] };
      expect((await fixture.api.call("POST", "/agent/environments", { config })).status).toBe(201);
    }
    await fixture.command("settings clear");
    const thread = await SlackThread.open(fixture, "say hello");
    await thread.untilReply(/Where should I work/);

    expect(await thread.searchMenu("")).toHaveLength(25);
    expect(await thread.searchMenu("service", fixture.slack.bob)).toEqual([]);
    const [found, ...others] = await thread.searchMenu("service 23");
    expect(others).toEqual([]);
    await thread.chooseOption(found ?? expect.fail("The menu is empty."));
    await thread.untilAnswers(1);

    expect(await thread.untilReply(/I work in Service 23/)).toContain("alice");
    expect(JSON.stringify(thread.cards[0]?.blocks)).toContain("Service 23");
  });
});
