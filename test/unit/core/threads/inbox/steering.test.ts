import { beforeEach, describe, expect, test } from "vitest";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { ADDRESS, InboxHarness, KEY } from "./inbox-harness.ts";

const BOB = { subject: "memory:Bob", displayName: "Bob" };
const CARA = { subject: "memory:Cara", displayName: "Cara" };

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK" };
  for (const name of ["Ada", "Bob", "Cara"]) {
    harness.adapter.roles.set(`memory:${name}`, ["member"]);
  }
  await harness.start();
});

function reply(text: string, author = BOB) {
  return harness.receive({ text, author, addressed: "reply" });
}

function mention(text: string, author = BOB) {
  return harness.receive({ text, author });
}

describe("replies in the thread of a run", () => {
  test("the person who asked continues the run without a mention, and a bystander does not", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("follow_up");
    expect(await reply("lol")).toBe("ignored");
    expect(await reply("stop")).toBe("ignored");

    expect(harness.agents.prompts).toEqual(["Fix it", "and this"]);
    expect(harness.repliesShown()).toEqual([]);
    const people = await harness.storage.people.list((await harness.currentRun()).teamId);
    expect(people.map(({ displayName }) => displayName)).toEqual(["Ada"]);
  });

  test("a bystander who writes stop about a run that works learns privately why it was not stopped, once", async () => {
    harness.adapter.traits = { ...harness.adapter.traits, hasPrivateReplies: true };
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });

    expect(await reply("stop")).toBe("ignored");
    expect(await reply("stop")).toBe("ignored");
    expect((await harness.currentRun()).state).toBe("INPROGRESS");
    expect(await harness.receive({ text: "stop" })).toBe("cancelled");
    expect(await reply("stop", CARA)).toBe("ignored");

    const notes = harness.adapter.thread(KEY).map(({ notice }) => notice);
    expect(notes.filter((notice) => notice.kind === "message" && notice.purpose === "reply")).toEqual([
      expect.objectContaining({
        text: expect.stringMatching(/^I did not stop the run/),
        onlyFor: BOB.subject,
      }),
    ]);
  });

  test("once others write too, a mention is needed, and the author alone is told so, once", async () => {
    await harness.receive({ text: "Fix it" });
    await reply("lol");

    expect(await harness.receive({ text: "hm", addressed: "reply" })).toBe("ignored");
    expect(await harness.receive({ text: "hm?", addressed: "reply" })).toBe("ignored");
    expect(await harness.receive({ text: "and this" })).toBe("follow_up");

    const notes = harness.adapter.thread(KEY).map(({ notice }) => notice);
    expect(notes.filter((notice) => notice.kind === "message" && notice.purpose === "reply")).toEqual([
      expect.objectContaining({ text: expect.stringMatching(/mention me/), onlyFor: "memory:Ada" }),
    ]);
  });

  test("once another member mentions the bot, a mention is needed as well, but not for a run of that member", async () => {
    await harness.receive({ text: "Fix it" });
    await mention("and this");

    expect(await harness.receive({ text: "hm", addressed: "reply" })).toBe("ignored");
    expect(await harness.receive({ text: "unmute" })).toBe("replied");
    expect(await mention("new Write tests")).toBe("run_created");
    expect(await reply("and docs")).toBe("follow_up");
  });

  test("people whom the author mentioned continue and stop the run", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it with Bob", mentions: [BOB.subject] });

    expect(await reply("and this")).toBe("follow_up");
    expect(await reply("stop")).toBe("cancelled");
  });

  test("a follow-up of the author invites as well, and one of another user does not", async () => {
    await harness.receive({ text: "Fix it" });
    await harness.receive({ text: "so", author: BOB, mentions: [CARA.subject] });
    expect((await harness.storage.threads.find(ADDRESS))?.participants).toEqual(["memory:Ada"]);

    await harness.receive({ text: "so", mentions: [BOB.subject] });

    expect((await harness.storage.threads.find(ADDRESS))?.participants).toEqual(["memory:Ada", "memory:Bob"]);
  });

  test("an aside is never for the agent", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "(aside) what a day", addressed: "reply" })).toBe("ignored");
    expect(await harness.receive({ text: "(aside) what a day" })).toBe("ignored");

    expect(harness.agents.prompts).toEqual(["Fix it"]);
  });

  test("a muted thread takes only mentions, until it is unmuted", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "mute" })).toBe("replied");
    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("ignored");
    expect(await harness.storage.threads.find(ADDRESS)).toMatchObject({ verbosity: "quiet" });
    expect(harness.repliesShown()).toHaveLength(1);
    expect(await harness.receive({ text: "unmute" })).toBe("replied");
    expect(await harness.receive({ text: "and that", addressed: "reply" })).toBe("follow_up");

    expect(harness.agents.prompts).toEqual(["Fix it", "and that"]);
  });
});

describe("who may steer a run", () => {
  test("a mention of another member is a follow-up", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await mention("and this")).toBe("follow_up");
  });

  test.each(["stop", "mute"])("another member may not say %j, and only they are told", async (text) => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });

    expect(await mention(text)).toBe("refused");

    expect(await harness.currentRun()).toMatchObject({ state: "INPROGRESS" });
    expect(harness.adapter.thread(KEY).at(-1)?.notice).toMatchObject({
      onlyFor: BOB.subject,
      text: expect.stringMatching(/Only the person who asked/),
    });
  });

  test("another member may not press Cancel", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });
    const { id: runId } = await harness.currentRun();

    expect(await harness.receive({ author: BOB, buttonAction: { kind: "cancel", runId } })).toBe("refused");
    expect(await harness.receive({ buttonAction: { kind: "cancel", runId } })).toBe("cancelled");
  });

  test("another member may not answer a question, by message or by button", async () => {
    const { id: runId } = await harness.aBlockedRun();
    const buttonAction = { kind: "answer", runId, permissionId: "p", optionId: "yes" } as const;

    expect(await mention("yes")).toBe("refused");
    expect(await harness.receive({ author: BOB, buttonAction })).toBe("refused");
    expect(await harness.receive({ text: "yes" })).toBe("follow_up");
  });

  test("an administrator may stop the run of another person", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });
    const bob = await harness.person("Bob");
    await harness.storage.people.change(bob.teamId, bob.id, (one) => ({ ...one, administrator: true }));

    expect(await mention("stop")).toBe("cancelled");
  });

  test("words beside a control word make it work for the agent", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "stop the flaky test from running" })).toBe("follow_up");
  });
});

describe("retry", () => {
  test("the word and the button repeat an ended run in the thread", async () => {
    await harness.receive({ text: "Fix it" });
    const first = await harness.currentRun();

    expect(await harness.receive({ text: "retry" })).toBe("run_created");
    const second = await harness.currentRun();
    const button = { kind: "retry", runId: second.id } as const;
    expect(await harness.receive({ buttonAction: button })).toBe("run_created");

    expect(harness.agents.prompts).toEqual(["Fix it", "Fix it", "Fix it"]);
    expect(second.ancestorIds).toEqual([first.id]);
  });

  test("another member may not repeat it, and no run is repeated before its end", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });

    expect(await mention("retry")).toBe("refused");
    expect(await harness.receive({ text: "retry" })).toBe("replied");

    expect(harness.repliesShown().at(-1)).toBe("The run has not ended yet.");
  });
});

describe("options at the front of a request", () => {
  test("options configure the run and are no part of its prompt", async () => {
    const environment = anEnvironment("env-1");
    await harness.storage.environments.add(environment);

    await harness.receive({
      text: `env="${environment.config.name}" repo=acme/web ref=dev model=large agent=other pr=off Fix a=b`,
    });

    expect(await harness.currentRun()).toMatchObject({
      prompt: "Fix a=b",
      title: "Fix a=b",
      agent: "other",
      config: {
        environment_id: environment.id,
        repository: "acme/web",
        ref: "dev",
        model_id: "large",
        pull_request: "off",
      },
    });
  });

  test("a pasted address of the git host is a repository", async () => {
    await harness.receive({ text: "repo=https://github.com/acme/web/pull/3 Fix it" });

    expect(await harness.currentRun()).toMatchObject({
      prompt: "Fix it",
      config: { repository: "acme/web" },
    });
  });

  test("a value in curly quotation marks is read like one in straight ones", async () => {
    await harness.storage.environments.add(anEnvironment("env-1"));

    await harness.receive({ text: `env=“${anEnvironment("env-1").config.name}” model=“large one” Fix “it”` });

    expect(await harness.currentRun()).toMatchObject({
      prompt: "Fix “it”",
      config: { environment_id: "env-1", model_id: "large one" },
    });
  });

  test.each([
    ["env=nowhere Fix it", /no environment nowhere/],
    ["pr=maybe Fix it", /off, draft, ready/],
    ["repo=https://gitlab.com/acme/web Fix it", /address at gitlab\.com.*github\.com.*\n?.*repo=owner\/name/],
    ["repo=acme Fix it", /^`repo=` must be owner\/name$/],
    ["pr=draft Fix it", /^`pr=` needs a repository$/],
  ])("the request %j is answered with what is wrong", async (text, words) => {
    expect(await harness.receive({ text })).toBe("replied");

    expect(harness.repliesShown()).toEqual([expect.stringMatching(words)]);
    expect(harness.agents.starts).toEqual([]);
  });
});
