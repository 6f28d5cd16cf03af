import { beforeEach, describe, expect, test, vi } from "vitest";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { anEnvironment } from "../../../../support/environment-builders.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aPolicy } from "../../../../support/rule-builders.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(() => {
  harness = new InboxHarness();
});

/** A version of the message `id`. The first one is no edit. */
function said(id: string, text: string, version = 0, changes: Partial<InboundMessage> = {}) {
  return {
    text,
    messageRef: id,
    dedupeKey: `${id}:${version}`,
    revision: { messageId: id, version: `v${version}`, isEdit: version > 0 },
    ...changes,
  };
}

function say(...args: Parameters<typeof said>) {
  return harness.receive(said(...args));
}

function remove(id: string, version = 9) {
  const deletion = {
    adapter: "memory",
    installation: "here",
    messageId: id,
    messageRef: id,
    version: `v${version}`,
  };
  return harness.receive({}, { deletion });
}

/** Messages are handled, and runs wait in the queue until `startRuns`. */
async function startWithoutRuns(): Promise<void> {
  await harness.queue.work("inbox", 4, (key, stop) => harness.inboxProcessor.work(key, stop));
  await harness.queue.work("deliver", 4, (key, stop) => harness.outboxDispatcher.work(key, stop));
}

async function startRuns(): Promise<void> {
  harness.startRuns();
  await quiet();
}

function notesTo(subject: string) {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return notices.flatMap((notice) =>
    notice.kind === "message" && notice.onlyFor === subject ? [notice.text] : [],
  );
}

describe("a request that no worker has taken", () => {
  beforeEach(startWithoutRuns);

  test("an edit rewrites it, with its title and its card", async () => {
    await say("a", "Fix it");

    expect(await say("a", "Fix that", 1)).toBe("changed");

    expect(await harness.currentRun()).toMatchObject({ prompt: "Fix that", title: "Fix that" });
    expect(harness.cardsShown().at(-1)).toMatchObject({ title: "Fix that" });
    await startRuns();
    expect(harness.agents.prompts).toEqual(["Fix that"]);
  });

  test("the options at its front stay, which the author is told", async () => {
    await say("a", "agent=scripted Fix it");

    await say("a", "agent=other Fix that", 1);

    expect(await harness.currentRun()).toMatchObject({
      prompt: "Fix that",
      config: { harness: { type: "scripted" } },
    });
    expect(notesTo("memory:Ada")).toEqual([expect.stringMatching(/options .* stay/)]);
  });

  test("an edit that names the environment of another person is told that there is none", async () => {
    const { id: ownerId } = await harness.person("Bob");
    await harness.storage.environments.add({ ...anEnvironment("secret-project"), ownerId });
    await say("a", "Fix it");

    expect(await say("a", "env=secret-project Fix it", 1)).toBe("replied");

    expect(harness.repliesShown()).toEqual(["There is no environment secret-project. Your team has none."]);
  });

  test("an edit that leaves the text as it is has no effect and no reaction", async () => {
    await say("a", "Fix it");
    const before = harness.adapter.thread(KEY).length;

    expect(await say("a", "Fix it", 1)).toBe("ignored");

    expect(harness.adapter.thread(KEY)).toHaveLength(before);
  });

  test("an older edit that comes later has no effect, and neither has a repeated one", async () => {
    await say("a", "Fix it");
    await say("a", "Fix that", 2);

    expect(await say("a", "Fix this", 1)).toBe("ignored");
    expect(await say("a", "Fix that", 2)).toBe("duplicate");

    expect(await harness.currentRun()).toMatchObject({ prompt: "Fix that" });
  });

  test("only its author changes it", async () => {
    await say("a", "Fix it");
    const bob = { author: { subject: "memory:Bob", displayName: "Bob" } };

    expect(await say("a", "Break it", 1, bob)).toBe("refused");

    expect(await harness.currentRun()).toMatchObject({ prompt: "Fix it" });
  });

  test("a deletion cancels the run and says why", async () => {
    await say("a", "Fix it");

    expect(await remove("a")).toBe("withdrawn");
    expect(await remove("a")).toBe("ignored");

    expect(await harness.currentRun()).toMatchObject({
      state: "CANCELLED",
      statusMessage: { message: "Ada withdrew the request before the work began." },
    });
    await startRuns();
    expect(harness.agents.prompts).toEqual([]);
  });

  test("an edit to an aside withdraws it", async () => {
    await say("a", "Fix it");

    expect(await say("a", "(aside) never mind", 1)).toBe("withdrawn");

    expect(await harness.currentRun()).toMatchObject({ state: "CANCELLED" });
  });

  test("an edit to a control word is that word", async () => {
    await say("a", "Fix it");

    expect(await say("a", "stop", 1)).toBe("cancelled");
  });

  test("an approved request whose words change needs approval again", async () => {
    await harness.storage.policies.add(
      aPolicy({ effect: "require_approval", match: { actions: ["create"] } }),
    );
    await say("a", "Fix it");
    const { approval, id } = await harness.currentRun();
    const boss = { ...(await harness.person("Boss")), administrator: true };

    await say("a", "Fix that", 1);
    const changed = await harness.currentRun();
    expect(changed.approval?.inputsHash).not.toBe(approval?.inputsHash);
    expect(changed.approval?.inputs).toMatchObject([{ text: "Fix that" }]);
    await harness.runs.approve(id, boss, { approve: true, inputsHash: changed.approval?.inputsHash ?? "" });
    expect((await harness.currentRun()).state).toBe("QUEUED");
    await say("a", "Break it", 2);

    expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED", prompt: "Break it" });
  });
});

describe("a request that the agent has", () => {
  beforeEach(() => harness.start());

  test("an edit adds a marked follow-up, which another edit rewrites while it waits", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");

    expect(await say("a", "Fix that", 1)).toBe("follow_up");
    expect(await say("a", "Fix this", 2)).toBe("changed");

    const { id } = await harness.currentRun();
    const waiting = await harness.storage.followUps.list(id, 0, 10);
    expect(waiting.map(({ message, messageRef }) => [message, messageRef])).toEqual([
      ["The request was changed to: Fix this", "a"],
    ]);
    expect(notesTo("memory:Ada")[0]).toMatch(/already had/);
  });

  test("an edit after the end continues the run", async () => {
    await say("a", "Fix it");

    expect(await say("a", "Fix that", 1)).toBe("follow_up");

    expect(harness.agents.prompts).toEqual(["Fix it", "The request was changed to: Fix that"]);
  });

  test("an edit does not continue a run that was stopped", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");
    await say("b", "stop");

    expect(await say("a", "Fix that", 1)).toBe("replied");

    expect(await harness.currentRun()).toMatchObject({ state: "CANCELLED" });
  });

  test("a deletion cannot take it back, and the thread says so once", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");

    expect(await remove("a")).toBe("replied");
    expect(await remove("a")).toBe("duplicate");

    expect(harness.repliesShown()).toEqual([expect.stringMatching(/cannot be taken back/)]);
    expect(await harness.currentRun()).toMatchObject({ state: "INPROGRESS" });
  });

  test("an edit belongs to the run of the message, also when the thread has another run", async () => {
    await say("a", "Fix it");
    const { id } = await harness.currentRun();
    await say("b", "new Build it");

    await say("a", "Fix that", 1);

    const rows = await harness.storage.followUps.list(id, 0, 10);
    expect(rows.map(({ message }) => message)).toEqual(["The request was changed to: Fix that"]);
  });
});

describe("a follow-up", () => {
  beforeEach(async () => {
    await harness.start();
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");
    await say("b", "and this", 0, { addressed: "reply" });
  });

  test("an edit rewrites it while it is held, and nobody reads it twice in the thread", async () => {
    expect(await say("b", "and that", 1, { addressed: "reply" })).toBe("changed");

    const rows = await harness.storage.followUps.list((await harness.currentRun()).id, 0, 10);
    expect(rows.map(({ message }) => message)).toEqual(["and that"]);
    expect(harness.repliesShown().join()).not.toContain("and that");
  });

  test("a deletion withdraws it while it is held, and does not repeat its words", async () => {
    expect(await remove("b")).toBe("withdrawn");

    const [row] = await harness.storage.followUps.list((await harness.currentRun()).id, 0, 10);
    expect(row?.withdrawnAt).toBeInstanceOf(Date);
    expect(harness.repliesShown().join()).not.toContain("and this");
  });

  test("an edit of one that the agent has adds a marked follow-up", async () => {
    await say("c", "stop");
    await say("d", "go on");

    expect(await say("d", "go on slowly", 1)).toBe("follow_up");

    expect(harness.agents.prompts.at(-1)).toBe("An earlier message was changed to: go on slowly");
  });

  test("an edit needs no mention, although others write in the thread", async () => {
    await say("x", "lol", 0, { addressed: "reply", author: { subject: "memory:Bob" } });

    expect(await say("b", "and that", 1, { addressed: "reply" })).toBe("changed");
  });
});

describe("events in another order", () => {
  beforeEach(() => harness.start());

  test("an edit whose original never came is the request, and the original has no effect later", async () => {
    expect(await say("a", "Fix that", 1)).toBe("run_created");
    expect(await say("a", "Fix it")).toBe("ignored");

    expect(harness.agents.prompts).toEqual(["Fix that"]);
  });

  test("a message that was deleted before it came is not taken", async () => {
    expect(await remove("a")).toBe("ignored");
    expect(await say("a", "Fix it")).toBe("ignored");
    expect(await say("a", "Fix that", 1)).toBe("ignored");

    expect(harness.agents.prompts).toEqual([]);
    expect(harness.adapter.thread(KEY)).toEqual([]);
  });

  test("a reply that is delivered before the request of its thread is a follow-up after it", async () => {
    const reply = { messageId: "b", version: "v5", isEdit: false };
    const early = { text: "and this", addressed: "reply", messageRef: "b", revision: reply } as const;
    await harness.put(early, "thread");
    await harness.put(said("a", "Fix it"), "thread");
    await quiet();

    expect(harness.dispositions()).toEqual(["ignored", "run_created", "follow_up"]);
    expect(harness.agents.prompts.join("\n\n")).toBe("Fix it\n\nand this");
  });

  test("the bodies of events are deleted after a week", async () => {
    await say("a", "Fix it");
    const prune = vi.spyOn(harness.storage.inbox, "pruneBodies");
    await harness.clock.advance(6 * 86_400_000);
    await harness.maintenance().prune();
    expect(await Promise.all(prune.mock.results.map(({ value }) => value))).toEqual([0]);
    await harness.clock.advance(2 * 86_400_000);

    await harness.maintenance().prune();

    expect(await Promise.all(prune.mock.results.map(({ value }) => value))).toEqual([0, 1, 0]);
    expect(await say("a", "Fix it")).toBe("duplicate");
  });

  test("an edit repairs a request that could not be understood", async () => {
    await harness.storage.environments.add(anEnvironment("Backend"));
    expect(await say("a", "env=Bakend Fix it")).toBe("replied");

    expect(await say("a", "env=Backend Fix it", 1)).toBe("run_created");
  });
});

describe("a message that was never for the bot", () => {
  beforeEach(() => harness.start());

  test("its edits and its deletion have no reaction", async () => {
    await say("a", "Fix it");
    const shown = harness.adapter.thread(KEY).length;
    const bystander = { addressed: "reply", author: { subject: "memory:Bob" } } as const;
    await say("x", "lol", 0, bystander);

    expect(await say("x", "lol!", 1, bystander)).toBe("ignored");
    expect(await remove("x")).toBe("ignored");

    expect(harness.adapter.thread(KEY)).toHaveLength(shown);
  });

  test("a reply before the run stays what it was, although its author has a run by now", async () => {
    await say("x", "hm", 0, { addressed: "reply" });
    await say("a", "Fix it");

    expect(await say("x", "hmm", 1, { addressed: "reply" })).toBe("ignored");
  });

  test("an edit that adds the mention is a request", async () => {
    await say("x", "Fix it", 0, { addressed: "reply" });

    expect(await say("x", "Fix it", 1)).toBe("run_created");
  });
});
