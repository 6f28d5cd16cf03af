import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { FIRST_TEAM } from "../../../../../src/core/model/people/team.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { ADDRESS, InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

describe("a message that names the bot", () => {
  test("a message that names the bot creates a run bound to its thread and is acknowledged", async () => {
    harness.agents.scripts.push(untilCancelled);

    const disposition = await harness.receive({
      text: "Fix it",
      context: "issue",
      permalink: "http://m/1",
      title: "Bug",
    });

    expect(disposition).toBe("run_created");
    expect(await harness.currentRun()).toMatchObject({
      title: "Bug",
      prompt: "Fix it",
      context: "issue",
      triggerUrl: "http://m/1",
      source: "API",
      provenance: { from: "test", permission: "member" },
      state: "INPROGRESS",
    });
    expect(harness.kindsShown()).toEqual(["seen", "card"]);
  });

  test("a message is stored with the platform's description of its place", async () => {
    const authorize = harness.adapter.authorize.bind(harness.adapter);
    const proven = { head: { branch: "feature" } };
    harness.adapter.authorize = async (message) => {
      const allowed = await authorize(message);
      return allowed.allowed ? { ...allowed, provenance: proven } : allowed;
    };

    await harness.receive({ text: "Fix it" });

    expect((await harness.currentRun()).provenance).toMatchObject({ ...proven, permission: "member" });
  });

  test("a repository that the message names is used only if the platform says that the author may write to it", async () => {
    Object.assign(harness.adapter, {
      mayWrite: async (_message: unknown, name: string) => name === "acme/api",
    });

    const refused = await harness.receive({ text: "repo=acme/vault Fix it", place: "acme/web" });
    const allowed = await harness.receive({ text: "repo=acme/api Fix it", place: "acme/web" });

    expect([refused, allowed]).toEqual(["replied", "run_created"]);
    expect(harness.repliesShown()).toEqual([
      expect.stringContaining("acme/vault only for people who can write"),
    ]);
    expect((await harness.currentRun()).config.repository).toBe("acme/api");
  });

  test("a message is stored with the account of its author", async () => {
    await harness.receive({ text: "Fix it" });
    const first = await harness.currentRun();
    const mira = await harness.person("Mira");
    await harness.storage.identities.link(FIRST_TEAM, "memory:Ada", mira.id);

    await harness.receive({ text: "new Fix that" });

    expect(first.provenance).toMatchObject({ linked_account: first.creatorId });
    expect((await harness.currentRun()).provenance).toMatchObject({ linked_account: mira.id });
    expect((await harness.run(first.id)).provenance).toEqual(first.provenance);
  });

  test("the end of a run is shown in its card and in a message", async () => {
    await harness.receive({ text: "Fix it" });
    await harness.clock.advance(1_000);

    expect(harness.adapter.thread(KEY).map(({ notice }) => notice)).toMatchObject([
      { kind: "ended", messageRef: "ref", end: "done" },
      { kind: "card", card: { state: "SUCCEEDED" } },
      { kind: "message", purpose: "answer", text: "Done." },
    ]);
  });

  test("a message in a thread with a run is a follow-up of the run", async () => {
    await harness.receive({ text: "Fix it" });
    const run = await harness.currentRun();

    expect(await harness.receive({ text: "and this", addressed: "reply" })).toBe("follow_up");

    expect(harness.agents.prompts).toEqual(["Fix it", "and this"]);
    expect((await harness.currentRun()).id).toBe(run.id);
  });

  test.each(["new try again", "new: try again"])(
    "the message %j starts another run in the thread",
    async (text) => {
      await harness.receive({ text: "Fix it" });
      const first = await harness.currentRun();

      expect(await harness.receive({ text })).toBe("run_created");

      expect(await harness.currentRun()).toMatchObject({ prompt: "try again" });
      expect((await harness.currentRun()).id).not.toBe(first.id);
      expect(await harness.run(first.id)).toMatchObject({ state: "SUCCEEDED" });
    },
  );

  test("a stop message stops the run", async () => {
    harness.agents.scripts.push(untilCancelled);
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "stop" })).toBe("cancelled");

    expect(await harness.currentRun()).toMatchObject({
      state: "CANCELLED",
      statusMessage: { message: "Cancelled by Ada." },
    });
  });

  test.each([
    ["stop", /no run here/],
    ["status", /no run here/],
    ["help", /@errand/],
    ["", /@errand/],
  ])("the message %j in a thread without a run is answered", async (text, reply) => {
    expect(await harness.receive({ text })).toBe("replied");

    expect(harness.repliesShown()).toEqual([expect.stringMatching(reply)]);
    expect(await harness.storage.threads.find(ADDRESS)).not.toHaveProperty("runId");
  });

  test("the status of a run that failed says why", async () => {
    harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));
    await harness.receive({ text: "Fix it" });

    await harness.receive({ text: "status" });

    expect(harness.repliesShown()).toEqual([
      expect.stringMatching(
        /^"Fix it" has failed\. The agent refused to continue\.\nSend a follow-up\. .*\nhttp:\/\/here/,
      ),
    ]);
  });

  test("a status message is answered with the state of the run", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "status" })).toBe("replied");

    expect(harness.repliesShown()).toEqual([
      expect.stringMatching(/^"Fix it" has succeeded\.\nhttp:\/\/here\/sessions\//),
    ]);
  });

  test("a stop message for an ended run is answered with the reason", async () => {
    await harness.receive({ text: "Fix it" });

    expect(await harness.receive({ text: "stop" })).toBe("replied");

    expect(harness.repliesShown()).toEqual([
      "The run is over: it has succeeded. There is nothing to cancel. Send a follow-up to continue the run.",
    ]);
  });

  test("a message from an unauthorized author is refused with the reason and has no effect", async () => {
    harness.adapter.refused.set("memory:Ada", "You are not of the team.");

    expect(await harness.receive({ text: "Fix it" })).toBe("refused");

    expect(harness.repliesShown()).toEqual(["You are not of the team."]);
    expect(harness.agents.starts).toEqual([]);
  });

  test("an unauthorized author gets one answer per day and thread", async () => {
    const bob = { subject: "memory:Bob" };
    for (const subject of ["memory:Ada", bob.subject]) {
      harness.adapter.refused.set(subject, "You may not.");
    }
    for (let time = 0; time < 3; time += 1) {
      await harness.receive({ text: "Fix it" });
    }
    expect(harness.repliesShown()).toHaveLength(1);

    await harness.receive({ text: "Fix it", author: bob });
    await harness.clock.advance(24 * 3_600_000);
    await harness.receive({ text: "Fix it" });

    expect(harness.repliesShown()).toEqual(["You may not.", "You may not.", "You may not."]);
    expect(new Set(harness.dispositions())).toEqual(new Set(["refused"]));
  });
});

describe("a message that does not name the bot", () => {
  test("a message without a mention in a thread without a run is ignored silently", async () => {
    expect(await harness.receive({ addressed: "reply" })).toBe("ignored");

    expect(harness.adapter.thread(KEY)).toEqual([]);
    expect(await harness.storage.threads.find(ADDRESS)).toBeUndefined();
  });

  test("a message without content is ignored", async () => {
    expect(await harness.receive({}, { ignored: "A bot said it." })).toBe("ignored");
  });
});

describe("two events of one message", () => {
  test.each([[["mention", "reply"]], [["reply", "mention"]]] as const)(
    "two events of one message that arrive as %j create one run",
    async (order) => {
      const dedupeKey = randomUUID();
      const dispositions: string[] = [];

      for (const addressed of order) {
        dispositions.push(await harness.receive({ dedupeKey, addressed, text: "Fix it" }));
      }

      expect(dispositions).toContain("run_created");
      expect(harness.agents.prompts).toEqual(["Fix it"]);
      expect(harness.adapter.thread(KEY).filter(({ notice }) => notice.kind === "ended")).toHaveLength(1);
    },
  );

  test("two concurrent events of one message with different ordering keys create one run", async () => {
    const dedupeKey = randomUUID();

    await Promise.all([harness.put({ dedupeKey }), harness.put({ dedupeKey }), harness.put({ dedupeKey })]);
    await quiet();

    expect(harness.dispositions().toSorted()).toEqual(["duplicate", "duplicate", "run_created"]);
    expect(harness.agents.prompts).toEqual(["Fix it"]);
  });

  test("a message with two events that was answered or refused is answered once", async () => {
    const dedupeKey = randomUUID();
    await harness.receive({ dedupeKey, text: "help" });

    expect(await harness.receive({ dedupeKey, text: "help" })).toBe("duplicate");

    expect(harness.repliesShown()).toHaveLength(1);
  });
});

test("of two concurrent messages in a new thread, one creates the run and the other is a follow-up", async () => {
  harness.agents.scripts.push(untilCancelled);

  await Promise.all([harness.put({ text: "one" }), harness.put({ text: "two" })]);
  await quiet();

  expect(harness.dispositions().toSorted()).toEqual(["follow_up", "run_created"]);
  const run = await harness.currentRun();
  const words = (await harness.events(run.id)).flatMap(({ body }) =>
    body.kind === "followup.received" ? [body.message] : [],
  );
  expect([run.prompt, ...words].toSorted()).toEqual(["one", "two"]);
});
