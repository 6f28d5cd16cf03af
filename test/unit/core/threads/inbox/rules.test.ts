import { beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type { Policy } from "../../../../../src/core/model/policies/policy.ts";
import { botsCheck } from "../../../../../src/core/upkeep/bots-check.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aPolicy, aRoutingRule } from "../../../../support/rule-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

test.each([
  ["runs_per_day", /runs_per_day of the team is used up: 0 of 0/],
  ["queued_runs", /queued_runs of the team is used up: 0 of 0/],
] as const)("a message above the quota %s gets a plain refusal", async (name, text) => {
  await harness.storage.quotas.replace(FIRST_TEAM, [{ name, scope: "team", limit: 0 }]);

  expect(await harness.receive({})).toBe("refused");

  expect(harness.repliesShown()).toEqual([expect.stringMatching(text)]);
  expect(harness.agents.starts).toEqual([]);
});

describe("a message that a policy forbids", () => {
  test("a forbidden message starts no run, and its author gets the reason once", async () => {
    await forbid({ match: { integrations: ["memory"], installations: ["here"], places: ["acme/*"] } });
    const message = { dedupeKey: "m1", place: "acme/web" };

    expect(await harness.receive(message)).toBe("refused");
    expect(await harness.receive(message)).toBe("duplicate");

    expect(harness.repliesShown()).toEqual(["Ask in #requests."]);
    expect(harness.agents.starts).toEqual([]);
  });

  test("where only its author reads it, a refusal names the rule and who can change it", async () => {
    harness.adapter.traits = { ...harness.adapter.traits, hasPrivateReplies: true };
    await forbid({ name: "Not at night" });
    expect(await harness.receive({})).toBe("refused");
    for (const name of ["Abe", "Bob", "Carol", "Dan", "Erin"]) {
      const [administrator, disabled] = [name !== "Dan", name === "Abe"];
      await harness.storage.people.put({ ...(await harness.person(name)), administrator, disabled });
    }
    expect(await harness.receive({ text: "and this" })).toBe("refused");

    const rule = "Ask in #requests. The rule is “Not at night”.";
    expect(harness.repliesShown()).toEqual([
      `${rule} An administrator can change the rules.`,
      `${rule} Bob, Carol and Erin can change the rules.`,
    ]);
    const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
    expect(notices).toContainEqual(expect.objectContaining({ purpose: "reply", onlyFor: "memory:Ada" }));
  });

  test.each([
    ["silent", []],
    ["reaction", [{ kind: "ended", messageRef: "m", end: "failed" }]],
    ["comment", [expect.objectContaining({ purpose: "reply", text: "Ask in #requests." })]],
  ] as const)(
    "a policy may refuse by the sign %s, whatever the repository says",
    async (refusal, notices) => {
      await forbid({ refusal });
      const others = { config: {}, off: [], mistakes: [], mistakeAt: () => "" };
      harness.adapter.settings = { ...others, refusals: refusal === "silent" ? "comment" : "silent" };

      expect(await harness.receive({ messageRef: "m" })).toBe("refused");

      expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toEqual(notices);
      const query = { teamId: FIRST_TEAM, withUnknownTeam: false, limit: 1 };
      const [event] = await harness.storage.inboxList.list(query);
      expect(event?.reason).toBe("Ask in #requests.");
    },
  );

  test("a button that a policy refuses by a reaction is answered in words", async () => {
    const { id: runId } = await harness.aBlockedRun();
    await forbid({ match: { actions: ["cancel"] }, refusal: "reaction" });

    expect(await harness.receive({ buttonAction: { kind: "cancel", runId } })).toBe("refused");

    expect(harness.repliesShown()).toEqual(["Ask in #requests."]);
  });

  test("a policy for one place does not affect messages in another place", async () => {
    await forbid({ match: { places: ["acme/*"] } });

    expect(await harness.receive({ place: "other/web" })).toBe("run_created");
  });

  test("a forbidden reply is no follow-up, and its author gets the reason even without a mention", async () => {
    await harness.receive({});
    await forbid({ match: { actions: ["follow_up"] } });

    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("refused");

    expect(harness.repliesShown()).toEqual(["Ask in #requests."]);
    expect(harness.agents.prompts).toEqual(["Fix it"]);
  });

  test("a policy switches one way to ask off in one repository", async () => {
    await forbid({ match: { places: ["acme/web"], requestKinds: ["command"] } });

    expect(await harness.receive({ place: "acme/web", requestKind: "command" })).toBe("refused");
    expect(await harness.receive({ place: "acme/web", requestKind: "mention" })).toBe("run_created");
    expect(await harness.receive({ place: "acme/api", requestKind: "command" })).toBe("follow_up");

    expect(harness.repliesShown()).toEqual(["Ask in #requests."]);
  });

  test("a request in which nobody named the bot is refused without an answer", async () => {
    await forbid({ match: { requestKinds: ["changes_requested"] } });

    expect(await harness.receive({ requestKind: "changes_requested" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([]);
  });

  test("a forbidden stop has no effect, by message or by button", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({});
    const { id: runId } = await harness.currentRun();
    await forbid({ match: { actions: ["cancel"] } });

    expect(await harness.receive({ text: "stop" })).toBe("refused");
    expect(await harness.receive({ buttonAction: { kind: "cancel", runId } })).toBe("refused");

    expect(await harness.currentRun()).toMatchObject({ state: "INPROGRESS" });
    expect(harness.repliesShown()).toHaveLength(2);
  });

  test("a forbidden answer has no effect, by message or by button", async () => {
    const { id: runId } = await harness.aBlockedRun();
    await forbid({ match: { actions: ["answer"] } });
    const buttonAction = { kind: "answer", runId, permissionId: "p", optionId: "yes" } as const;

    expect(await harness.receive({ buttonAction })).toBe("refused");
    expect(await harness.receive({ text: "yes" })).toBe("refused");

    expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED", permission: { permissionId: "p" } });
  });
});

describe("an outsider of the platform", () => {
  beforeEach(() => {
    harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK" };
    harness.adapter.roles.set("memory:Ada", ["guest"]);
  });

  test("an outsider is refused with the words of the adapter and becomes no principal", async () => {
    expect(await harness.receive({ place: "C1" })).toBe("refused");
    expect(await harness.receive({ place: "C1", text: "status" })).toBe("refused");

    expect(harness.repliesShown()).toEqual(["Members only."]);
    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test.each([
    ["silent", []],
    ["reaction", [{ kind: "ended", messageRef: "m", end: "failed" }]],
  ] as const)("a policy that keeps outsiders away does so by the sign %s", async (refusal, notices) => {
    await forbid({ match: { roles: ["guest"] }, refusal });

    expect(await harness.receive({ place: "C1", messageRef: "m" })).toBe("refused");

    expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toEqual(notices);
    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test("a reader whose review only requests changes becomes no principal", async () => {
    harness.adapter.traits = { ...harness.adapter.traits, source: "GITHUB_WEBHOOK" };
    harness.adapter.roles.set("memory:Ada", ["read"]);

    expect(await harness.receive({ requestKind: "changes_requested" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([]);
    expect(await harness.storage.people.list(FIRST_TEAM)).toEqual([]);
  });

  test("a policy that names the role admits outsiders to its place and its actions only", async () => {
    const match = { roles: ["guest"], places: ["C1"], actions: ["create"] } as const;
    await allow({ match });

    expect(await harness.receive({ place: "C2" })).toBe("refused");
    expect(await harness.receive({ place: "C1" })).toBe("run_created");
    expect(await harness.receive({ place: "C1", text: "and this" })).toBe("refused");
    expect(await harness.receive({ place: "C1", text: "and that" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([
      "Members only.",
      "Only members of the workspace and people who can write to the repository may do this.",
    ]);
    expect(await harness.currentRun()).toMatchObject({ provenance: { permission: "member" } });
  });

  test("an outsider who did not address the bot gets no public refusal", async () => {
    await allow({ match: { roles: ["guest"], actions: ["create"] } });
    await harness.receive({});

    expect(await harness.receive({ text: "by the way", addressed: "reply" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([]);
  });

  test("a policy that names bots admits a bot, which is otherwise refused without an answer", async () => {
    const author = { subject: "memory:helper", isBot: true } as const;
    harness.adapter.roles.set(author.subject, ["bot"]);

    expect(await harness.receive({ author })).toBe("refused");
    await allow({ match: { roles: ["bot"], actions: ["create"] } });
    expect(await harness.receive({ author })).toBe("run_created");
    expect(await harness.receive({ author, text: "more" })).toBe("refused");

    expect(harness.repliesShown()).toEqual([]);
  });
});

describe("a bot without an account", () => {
  const author = { subject: "memory:B9", isBot: true, botId: "B9", isByNameOnly: true } as const;
  beforeEach(() => {
    harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK" };
    harness.adapter.roles.set(author.subject, ["bot"]);
  });

  test("is admitted only by a policy that names it and the role", async () => {
    await allow({ match: { roles: ["bot"] } });
    expect(await harness.receive({ author })).toBe("refused");
    await allow({ match: { bots: ["B9"] } });
    expect(await harness.receive({ author })).toBe("refused");
    await allow({ match: { roles: ["bot"], bots: ["B8"] } });
    expect(await harness.receive({ author })).toBe("refused");

    await allow({ match: { roles: ["bot"], bots: ["B8", "B9"], places: ["C1"] } });
    expect(await harness.receive({ author, place: "C2" })).toBe("refused");
    expect(await harness.receive({ author, place: "C1" })).toBe("run_created");

    expect(harness.repliesShown()).toEqual([]);
  });

  test("starts ten runs an hour in a place, and the doctor names it afterwards", async () => {
    await allow({ match: { roles: ["bot"], bots: ["B9"] } });
    const ask = (place: string, thread: string) =>
      harness.receive({ author, place, key: `${place}/${thread}` as typeof KEY });
    const dispositions: string[] = [];
    for (let asked = 0; asked < 12; asked += 1) {
      dispositions.push(await ask("C1", `${asked}`));
    }

    expect(dispositions).toEqual([...Array(10).fill("run_created"), "refused", "refused"]);
    expect(await ask("C2", "1")).toBe("run_created");
    expect(await botsCheck(harness.storage, () => harness.clock.now()).run()).toMatchObject({
      status: "warn",
      message: expect.stringContaining("More than 10 runs an hour of the bot B9 in C1."),
    });
    expect(harness.repliesShown()).toEqual([]);
    await harness.clock.advance(60 * 60_000);
    expect(await ask("C1", "13")).toBe("run_created");
  });
});

test("a run that needs approval says so in its thread and accepts follow-ups meanwhile", async () => {
  await forbid({ effect: "require_approval", reason: "It costs." });

  expect(await harness.receive({})).toBe("run_created");
  expect(await harness.receive({ text: "yes", addressed: "reply" })).toBe("follow_up");

  expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED", approval: { reason: "It costs." } });
  expect(harness.cardsShown()).toMatchObject([
    { state: "BLOCKED", message: "Waits for approval. It costs." },
  ]);
  expect(harness.cardsShown()[0]).not.toHaveProperty("question");
});

test("a refused run gets a notice in its thread", async () => {
  await forbid({ effect: "require_approval", reason: "It costs." });
  await harness.receive({});
  const chief = { ...(await harness.person("Chief")), administrator: true };

  const { approval, id } = await harness.currentRun();
  const inputsHash = approval?.inputsHash ?? "";
  await harness.runs.approve(id, chief, { approve: false, inputsHash, comment: "too dear" });
  await quiet();

  expect(harness.cardsShown()).toMatchObject([{ state: "CANCELLED" }]);
  expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toContainEqual(
    expect.objectContaining({ purpose: "outcome", text: "Refused by Chief: too dear" }),
  );
});

test("a button approves the words that its card shows, and after a change it is refused in words", async () => {
  await forbid({ effect: "require_approval", reason: "It costs." });
  await harness.receive({});
  await harness.storage.policies.add(
    aPolicy({ effect: "allow", match: { actions: ["approve"] }, priority: 1 }),
  );
  const run = await harness.currentRun();
  const hash = run.approval?.inputsHash ?? "";
  const text = expect.stringContaining(`${run.prompt}\n\nWhat will be executed\nAgent: scripted\n`);
  expect(harness.cardsShown()).toMatchObject([{ approval: { inputsHash: hash, text } }]);
  await harness.receive({ text: "and more" });
  const buttonAction = { kind: "approve", runId: run.id, inputsHash: hash, approve: true } as const;

  expect(await harness.receive({ buttonAction })).toBe("replied");

  expect(harness.repliesShown()).toEqual([
    expect.stringMatching(
      /^What waits for approval has changed since you read it\. Read the run's approval again/,
    ),
  ]);
  expect((await harness.currentRun()).state).toBe("BLOCKED");
});

test("a disabled user may do nothing and gets the reason", async () => {
  await harness.storage.people.put({ ...(await harness.person("Ada")), disabled: true });

  expect(await harness.receive({})).toBe("refused");

  expect(harness.repliesShown()).toEqual([expect.stringContaining("switched your account here off")]);
});

test("a message from a platform is routed by its place and its text", async () => {
  await harness.storage.environments.add(anEnvironment("env-1"));
  const match = { integrations: ["memory"], places: ["acme/*"], text: ["login"] };
  await harness.storage.routingRules.add(
    aRoutingRule({ environmentId: "env-1", config: { model_id: "m" }, match }),
  );

  await harness.receive({ text: "Fix the Login page", place: "acme/web" });

  expect(await harness.currentRun()).toMatchObject({
    config: { environment_id: "env-1", model_id: "m" },
    provenance: { from: "test", permission: "member", routing: { environment: "env-1" } },
  });
});

function allow(changes: Partial<Policy>): Promise<void> {
  return harness.storage.policies.add(aPolicy({ effect: "allow", ...changes }));
}

function forbid(changes: Partial<Policy>): Promise<void> {
  return harness.storage.policies.add(aPolicy({ reason: "Ask in #requests.", ...changes }));
}
