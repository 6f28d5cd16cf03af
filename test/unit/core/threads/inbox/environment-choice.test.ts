import { beforeEach, describe, expect, test } from "vitest";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import {
  type ChoiceSearch,
  searchChoices,
} from "../../../../../src/core/threads/inbox/environment-choice.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { aRoutingRule } from "../../../../support/rule-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const HOUR_MS = 60 * 60_000;
const PLACE = { adapter: "memory", installation: "here", place: "C1" };

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  harness.adapter.traits = { ...harness.adapter.traits, source: "SLACK", asksForEnvironment: true };
  await harness.start();
});

async function environments(...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await harness.storage.environments.add(anEnvironment(id));
  }
}

function questions() {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.flatMap((notice) => (notice.kind === "choice" ? [notice] : []));
}

function choose(
  choice: { readonly environmentId?: string; readonly remember?: "person" | "place" },
  changes: Partial<InboundMessage> = {},
  index = 0,
): Promise<string> {
  const requestId = questions()[index]?.requestId ?? "";
  return harness.receive({ text: "", buttonAction: { kind: "choose", requestId, ...choice }, ...changes });
}

/** The dispositions of the events that `act` led to. Maintenance finds those that are open again. */
async function dispositionsAfter(act: () => Promise<unknown>): Promise<readonly string[]> {
  const before = harness.dispositions().length;
  await act();
  await harness.clock.advance(60_000);
  await harness.maintenance().round();
  await harness.clock.advance(1_000);
  return harness.dispositions().slice(before);
}

describe("where a request is worked on", () => {
  test("without environments a request starts in an empty workspace, and the team's only one is used", async () => {
    expect(await harness.receive({})).toBe("run_created");
    expect((await harness.currentRun()).config).toEqual({});
    expect(harness.cardsShown().at(-1)?.workspace?.environmentsLink).toMatch(/^http.*\/environments$/);
    expect(await harness.receive({ text: "new env=none Fix it" })).toBe("run_created");
    expect(harness.cardsShown().at(-1)?.workspace).toEqual({ repositories: [] });

    await environments("env-1");
    expect(await harness.receive({ text: "new Fix that" })).toBe("run_created");

    expect(await harness.currentRun()).toMatchObject({
      config: { environment_id: "env-1" },
      provenance: {
        routing: { environment: "env-1", rule: null, reason: "The only environment of the team." },
      },
    });
    expect(harness.cardsShown().at(-1)?.workspace?.reason).toBe("the only environment of the team");
  });

  test("an administrator is not offered the environments of other people, whose names the thread would read", async () => {
    const [ada, bob] = [await harness.person(), await harness.person("Bob")];
    await harness.storage.people.put({ ...ada, administrator: true });
    await environments("env-1", "env-2");
    await harness.storage.environments.add({ ...anEnvironment("of-bob"), ownerId: bob.id });
    await harness.storage.environments.add({ ...anEnvironment("of-ada"), ownerId: ada.id });

    expect(await harness.receive({})).toBe("asked");

    expect(questions()[0]?.options.map(({ name }) => name)).toEqual(["env-1", "env-2", "of-ada"]);
  });

  test("a request whose environment nothing decides waits for its author's choice, and then works there", async () => {
    await environments("env-1", "env-2");

    expect(await harness.receive({ text: "Fix it", dedupeKey: "m1" })).toBe("asked");
    expect(await harness.receive({ text: "Fix it", dedupeKey: "m1" })).toBe("duplicate");

    expect(questions()).toMatchObject([{ options: [{ id: "env-1" }, { id: "env-2" }] }]);
    expect(harness.agents.starts).toEqual([]);
    expect(await choose({ environmentId: "env-2" })).toBe("run_created");

    expect(await harness.currentRun()).toMatchObject({
      prompt: "Fix it",
      config: { environment_id: "env-2" },
      provenance: { routing: { reason: "Chosen where it was asked for." } },
    });
    expect(questions()).toMatchObject([
      { options: [], text: expect.stringMatching(/^I work in .*, as Ada chose/) },
    ]);
    expect(harness.cardsShown()[0]?.workspace?.reason).toBe("chosen here");
  });

  test("a choice counts once, and an empty workspace can be chosen", async () => {
    await environments("env-1", "env-2");
    await harness.receive({});

    expect(await choose({})).toBe("run_created");
    expect(await choose({ environmentId: "env-1" })).toBe("refused");

    expect((await harness.currentRun()).config).toEqual({});
    expect(harness.agents.starts).toHaveLength(1);
    expect(harness.repliesShown()).toEqual([expect.stringMatching(/decided already/)]);
  });

  test("several requests of a thread make one question, and the choice starts the work on all of them", async () => {
    await environments("env-1", "env-2");
    const bob = { subject: "memory:Bob", displayName: "Bob" };
    await harness.receive({ text: "Fix it", messageRef: "m1" });
    expect(await harness.receive({ text: "and the lexer", messageRef: "m2" })).toBe("asked");
    expect(await harness.receive({ text: "and the docs", messageRef: "m3", author: bob })).toBe("asked");

    expect(questions()).toHaveLength(1);
    expect(await dispositionsAfter(() => choose({ environmentId: "env-2" }))).toEqual([
      "run_created",
      "follow_up",
      "follow_up",
    ]);

    const run = await harness.currentRun();
    expect(run).toMatchObject({ prompt: "Fix it", config: { environment_id: "env-2" } });
    const followUps = await harness.storage.followUps.list(run.id, 0, 10);
    expect(followUps.map(({ message }) => message)).toEqual(["and the lexer", "and the docs"]);
    expect(questions()).toHaveLength(1);
  });

  test("when the first of several requests is stopped, the others of its author stop too, and the rest asks", async () => {
    await environments("env-1", "env-2");
    const bob = { subject: "memory:Bob", displayName: "Bob" };
    await harness.receive({ text: "Fix it", messageRef: "m1" });
    await harness.receive({ text: "and the lexer", messageRef: "m2" });
    await harness.receive({ text: "and the docs", messageRef: "m3", author: bob });

    expect(await dispositionsAfter(() => harness.receive({ text: "stop" }))).toEqual(["cancelled", "asked"]);

    expect(questions().map(({ options }) => options.length)).toEqual([0, 2]);
    expect(await choose({ environmentId: "env-1" }, { author: bob }, 1)).toBe("run_created");
    expect((await harness.currentRun()).prompt).toBe("and the docs");
  });

  test("requests of a thread that nobody decides end together after an hour", async () => {
    await environments("env-1", "env-2");
    await harness.receive({ text: "Fix it", messageRef: "m1" });
    await harness.receive({ text: "and the lexer", messageRef: "m2" });

    await harness.clock.advance(HOUR_MS + 1_000);
    await harness.maintenance().round();
    await harness.clock.advance(1_000);

    expect(questions()).toMatchObject([{ options: [], text: expect.stringMatching(/^Nobody chose/) }]);
    const ends = harness.adapter.thread(KEY).filter(({ notice }) => notice.kind === "ended");
    expect(ends.map(({ notice }) => notice)).toMatchObject([{ messageRef: "m1" }, { messageRef: "m2" }]);
    expect(harness.agents.starts).toEqual([]);
  });

  test("the status of a request that waits for a choice says so", async () => {
    await environments("env-1", "env-2");
    await harness.receive({});

    await harness.receive({ text: "status" });

    expect(harness.repliesShown()).toEqual([expect.stringContaining("chooses where I should work")]);
  });

  test("a choice in another thread has no effect", async () => {
    await environments("env-1", "env-2");
    await harness.receive({});

    expect(await choose({ environmentId: "env-1" }, { key: "thread-2" as ThreadKey })).toBe("refused");

    expect(questions()[0]?.options).toHaveLength(2);
    expect(harness.agents.starts).toEqual([]);
  });

  test("a default that names the environment of another person, or a deleted one, decides nothing", async () => {
    const bob = await harness.person("Bob");
    await environments("env-1", "env-2", "env-3");
    await harness.storage.environments.add({ ...anEnvironment("of-bob"), ownerId: bob.id });
    await harness.requestDefaults.set(bob, PLACE, { environment_id: "of-bob" });
    const ada = await harness.person();
    await harness.requestDefaults.set(ada, { principalId: ada.id }, { environment_id: "env-3" });
    await harness.storage.environments.remove(FIRST_TEAM, "env-3");

    expect(await harness.receive({ place: "C1" })).toBe("asked");
    expect(await harness.receive({ place: "C2" })).toBe("asked");
  });

  test("the author and administrators find environments by words, and nobody else sees their names", async () => {
    await harness.storage.environments.add(anEnvironment("backend", "acme/shop"));
    await harness.storage.environments.add(anEnvironment("website", "acme/site"));
    const all = ["backend (acme/shop)", "website (acme/site)"];
    await harness.receive({});
    const requestId = questions()[0]?.requestId ?? "";
    const found = async (query: string, changes: Partial<ChoiceSearch> = {}) => {
      const by = { adapter: "memory", installation: "here", subject: "memory:Ada", requestId };
      const { adapter, storage } = harness;
      const deps = { adapters: new Map([[adapter.name, adapter]]), storage };
      const options = await searchChoices({ ...by, query, ...changes }, deps);
      return options.map(({ name }) => name);
    };

    expect(await found("")).toEqual(all);
    expect(await found("shop BACK")).toEqual(["backend (acme/shop)"]);
    expect(await found("nothing")).toEqual([]);
    const bob = { subject: "memory:Bob" };
    expect(await found("", bob)).toEqual([]);
    const principal = await harness.storage.people.ensure(FIRST_TEAM, bob.subject, "Bob");
    expect(await found("", bob)).toEqual([]);
    await harness.storage.people.put({ ...principal, administrator: true });
    expect(await found("", bob)).toEqual(all);
    expect(await found("", { installation: "elsewhere" })).toEqual([]);
    const here = await harness.storage.installations.ensure("memory", "here");
    await harness.storage.installations.update({ ...here, enabled: false });
    expect(await found("")).toEqual([]);
    await harness.storage.installations.update(here);

    await choose({ environmentId: "backend" });
    expect(await found("")).toEqual([]);
  });

  test("nobody else chooses, except an administrator", async () => {
    await environments("env-1", "env-2");
    await harness.receive({});
    const bob = { author: { subject: "memory:Bob", displayName: "Bob" } };

    expect(await choose({ environmentId: "env-1" }, bob)).toBe("refused");
    const principal = await harness.storage.people.ensure(FIRST_TEAM, "memory:Bob", "Bob");
    expect(await choose({ environmentId: "env-1" }, bob)).toBe("refused");
    await harness.storage.people.put({ ...principal, administrator: true });
    expect(await choose({ environmentId: "env-1" }, bob)).toBe("run_created");

    expect((await harness.currentRun()).creatorId).not.toBe(principal.id);
  });

  test("without a choice within an hour nothing happens, and the thread says so once", async () => {
    await environments("env-1", "env-2");
    await harness.receive({});
    await harness.clock.advance(HOUR_MS - 1_000);
    await harness.maintenance().round();
    expect(questions()[0]?.options).toHaveLength(2);

    await harness.clock.advance(2_000);
    await harness.maintenance().round();
    await harness.maintenance().round();
    await harness.clock.advance(1_000);

    expect(questions()).toMatchObject([{ options: [], text: expect.stringMatching(/Nobody chose/) }]);
    expect(await choose({ environmentId: "env-1" })).toBe("refused");
    expect(harness.agents.starts).toEqual([]);
  });

  test("an edit of the request asks again, and the first question has no effect any more", async () => {
    await environments("env-1", "env-2");
    const revision = { messageId: "m", version: "1", isEdit: false };
    await harness.receive({ text: "Fix it", dedupeKey: "m:1", revision });
    const edit = { dedupeKey: "m:2", revision: { messageId: "m", version: "2", isEdit: true } };

    expect(await harness.receive({ text: "Fix that", ...edit })).toBe("asked");
    expect(questions()).toMatchObject([{ options: [], text: expect.stringMatching(/was changed/) }, {}]);
    expect(await choose({ environmentId: "env-1" })).toBe("refused");
    expect(await choose({ environmentId: "env-1" }, {}, 1)).toBe("run_created");

    expect((await harness.currentRun()).prompt).toBe("Fix that");
  });

  test("an edit after the choice reaches the run, and a deleted request starts none", async () => {
    await environments("env-1", "env-2");
    const revision = { messageId: "m", version: "1", isEdit: false };
    await harness.receive({ text: "Fix it", dedupeKey: "m:1", revision });
    await choose({ environmentId: "env-1" });

    const edit = { dedupeKey: "m:2", revision: { messageId: "m", version: "2", isEdit: true } };
    expect(await harness.receive({ text: "Fix that", ...edit })).toBe("follow_up");

    await harness.receive({ text: "new other", dedupeKey: "n:1", revision: { ...revision, messageId: "n" } });
    const deletion = {
      messageId: "n",
      version: "2",
      adapter: "memory",
      installation: "here",
      messageRef: "ref",
    };
    expect(await harness.receive({}, { deletion })).toBe("withdrawn");
    expect(questions()[1]).toMatchObject({ options: [], text: expect.stringMatching(/was deleted/) });
    expect(await choose({ environmentId: "env-1" }, {}, 1)).toBe("refused");
  });

  test("a reaction of the author stops a request that waits for the choice, and a reaction of another person does not", async () => {
    await environments("env-1", "env-2");
    const revision = { messageId: "m", version: "1", isEdit: false };
    await harness.receive({ text: "Fix it", messageRef: "m", revision });
    const stop = { adapter: "memory", installation: "here", messageId: "m", subject: "memory:Bob" };

    expect(await harness.receive({}, { stop })).toBe("ignored");
    expect(questions()[0]?.options).toHaveLength(2);
    expect(await harness.receive({}, { stop: { ...stop, subject: "memory:Ada" } })).toBe("cancelled");

    expect(questions()).toMatchObject([{ options: [], text: expect.stringMatching(/was stopped/) }]);
    expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toContainEqual({
      kind: "ended",
      messageRef: "m",
      end: "stopped",
    });
    expect(await choose({ environmentId: "env-1" })).toBe("refused");
    expect(await harness.receive({}, { stop: { ...stop, subject: "memory:Ada" } })).toBe("ignored");
    expect(harness.agents.starts).toEqual([]);
  });
});

describe("a request that waits for the choice is stopped", () => {
  const bob = { subject: "memory:Bob", displayName: "Bob" };
  const isStopped = [{ options: [], text: expect.stringMatching(/was stopped/) }];

  beforeEach(() => environments("env-1", "env-2"));

  test("by the word of its author without a mention, and not by that of another user", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "stop", addressed: "reply", author: bob })).toBe("ignored");
    expect(await harness.receive({ text: "stop the tests", addressed: "reply" })).toBe("ignored");
    expect(questions()[0]?.options).toHaveLength(2);
    expect(await harness.receive({ text: "stop", addressed: "reply" })).toBe("cancelled");

    expect(questions()).toMatchObject(isStopped);
    expect(await choose({ environmentId: "env-1" })).toBe("refused");
    expect(await harness.receive({ text: "stop", addressed: "reply" })).toBe("ignored");
    expect(harness.repliesShown()).toEqual([expect.stringMatching(/decided already/)]);
  });

  test("by a mention of its author or of an administrator, and not by that of another member", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "stop", author: bob })).toBe("replied");
    expect(questions()[0]?.options).toHaveLength(2);
    const twice = { text: "stop", dedupeKey: "s" };
    expect([await harness.receive(twice), await harness.receive(twice)]).toEqual(["cancelled", "duplicate"]);
    expect(questions()).toMatchObject(isStopped);

    await harness.receive({ text: "Fix that" });
    const principal = await harness.person("Bob");
    await harness.storage.people.put({ ...principal, administrator: true });
    expect(await harness.receive({ text: "stop", author: bob })).toBe("cancelled");
    expect(questions()).toMatchObject([...isStopped, ...isStopped]);
    expect(harness.agents.starts).toEqual([]);
  });

  test("together with the run of its thread, and alone once that run is over", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "env=none Fix it" });
    await harness.receive({ text: "new Fix that" });

    expect(await harness.receive({ text: "stop" })).toBe("cancelled");
    expect(await harness.currentRun()).toMatchObject({ prompt: "Fix it", state: "CANCELLED" });
    expect(questions()).toMatchObject(isStopped);

    await harness.receive({ text: "new Fix that" });
    expect(await harness.receive({ text: "stop" })).toBe("cancelled");
    expect(questions()).toMatchObject([...isStopped, ...isStopped]);
    expect(harness.repliesShown()).toEqual([]);
  });

  test("by an edit that takes the mention out of it", async () => {
    const revision = { messageId: "m", version: "1", isEdit: false };
    await harness.receive({ text: "Fix it", dedupeKey: "m:1", revision });
    const edit = { dedupeKey: "m:2", revision: { messageId: "m", version: "2", isEdit: true } };

    expect(await harness.receive({ text: "Never mind", addressed: "reply", ...edit })).toBe("withdrawn");

    expect(questions()).toMatchObject([
      { options: [], text: expect.stringMatching(/no longer mentions me/) },
    ]);
    expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toContainEqual(
      expect.objectContaining({ kind: "ended", end: "stopped" }),
    );
    expect(await choose({ environmentId: "env-1" })).toBe("refused");
    expect(harness.agents.starts).toEqual([]);
  });
});

describe("the order of what decides", () => {
  test("options precede rules, rules precede the default of the place, and that the default of the person", async () => {
    await environments("env-1", "env-2", "env-3", "env-4");
    const ada = await harness.person();
    await harness.requestDefaults.set(
      ada,
      { principalId: ada.id },
      { environment_id: "env-4", model_id: "m4" },
    );
    expect(await environmentOf({ place: "C1" })).toBe("env-4");

    await harness.requestDefaults.set(ada, PLACE, { environment_id: "env-3" });
    expect(await environmentOf({ place: "C1" })).toBe("env-3");
    expect((await harness.currentRun()).config.model_id).toBe("m4");
    expect(await environmentOf({ place: "C2" })).toBe("env-4");

    await harness.storage.routingRules.add(
      aRoutingRule({ environmentId: "env-2", match: { integrations: ["memory"], text: ["login"] } }),
    );
    expect(await environmentOf({ place: "C1", text: "new fix the login" })).toBe("env-2");
    expect(await environmentOf({ place: "C1", text: "new env=env-1 fix the login" })).toBe("env-1");
    expect(await environmentOf({ place: "C1", text: "new env=none fix the login" })).toBeUndefined();
    expect(questions()).toEqual([]);
  });

  test("a choice is remembered for the person, and for the place by administrators only", async () => {
    await environments("env-1", "env-2");
    await harness.receive({ place: "C1" });
    await choose({ environmentId: "env-1", remember: "place" }, { place: "C1" });
    expect(questions()[0]?.text).toMatch(/only administrators/);
    expect(await harness.requestDefaults.get(FIRST_TEAM, PLACE)).toEqual({});

    await harness.receive({ place: "C1", text: "new fix that" });
    await choose({ environmentId: "env-1", remember: "person" }, { place: "C1" }, 1);
    expect(await environmentOf({ place: "C2" })).toBe("env-1");

    await harness.storage.people.put({ ...(await harness.person()), administrator: true });
    await harness.requestDefaults.set(
      await harness.person(),
      { principalId: (await harness.person()).id },
      {},
    );
    await harness.receive({ place: "C1", text: "new fix it all" });
    await choose({ environmentId: "env-2", remember: "place" }, { place: "C1" }, 2);
    expect(await harness.requestDefaults.get(FIRST_TEAM, PLACE)).toEqual({ environment_id: "env-2" });
  });
});

async function environmentOf(changes: Partial<InboundMessage>): Promise<string | undefined> {
  expect(await harness.receive({ text: "new fix it", ...changes })).toBe("run_created");
  return (await harness.currentRun()).config.environment_id;
}
