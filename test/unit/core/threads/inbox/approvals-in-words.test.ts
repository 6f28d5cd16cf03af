import { beforeEach, expect, test } from "vitest";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

const STRANGER = { subject: "memory:Sam", displayName: "Sam" } as const;
const WRITER = { subject: "memory:Wendy", displayName: "Wendy" } as const;
const MENTION = { requestKind: "mention", place: "acme/web" } as const;

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
  harness.adapter.traits = { ...harness.adapter.traits, source: "GITHUB_WEBHOOK", isPublic: () => true };
  harness.adapter.roles.set(STRANGER.subject, ["outside"]);
  harness.adapter.roles.set(WRITER.subject, ["write"]);
});

const ask = (text: string, key = KEY) => harness.receive({ ...MENTION, author: STRANGER, text, key });
const write = (text: string) => harness.receive({ ...MENTION, author: WRITER, text });
/** Long enough to have read what waits. */
const read = () => harness.clock.advance(60_000);

test("words of a stranger wait until a person who can push approves them", async () => {
  expect(await ask("Fix the typo")).toBe("run_created");
  expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED" });
  expect(harness.agents.prompts).toEqual([]);
  expect(harness.cardsShown().at(-1)?.approval).toMatchObject({ inputsHash: expect.any(String) });
  await read();

  expect(await write("approve")).toBe("answered");

  expect(harness.agents.prompts).toEqual(["Fix the typo"]);
  expect(await harness.currentRun()).toMatchObject({ approval: { approved: true }, state: "SUCCEEDED" });
});

test("they are refused in words, and nobody who cannot push decides", async () => {
  await ask("Fix the typo");
  await read();

  expect(await harness.receive({ ...MENTION, author: STRANGER, text: "approve" })).toBe("refused");
  expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED" });
  expect(await write("reject.")).toBe("answered");

  expect(await harness.currentRun()).toMatchObject({ approval: { approved: false }, state: "CANCELLED" });
  expect(harness.agents.prompts).toEqual([]);
});

test("what was changed a moment ago has not been read, so it is not approved", async () => {
  await ask("Fix the typo");
  await read();
  const { id: runId, approval } = await harness.currentRun();
  await ask("And delete the tests");

  expect(await write("approve")).toBe("replied");
  expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED" });
  expect(harness.repliesShown()).toEqual([expect.stringMatching(/^It has just changed\. Read it again/)]);
  const former = { kind: "approve", runId, inputsHash: approval?.inputsHash ?? "", approve: true } as const;
  expect(await harness.receive({ ...MENTION, author: WRITER, text: "", buttonAction: former })).toBe(
    "replied",
  );
  expect(harness.repliesShown().at(-1)).toMatch(/has changed since you read it/);
  await read();
  expect(await write("approve")).toBe("answered");

  expect(harness.agents.prompts).toHaveLength(1);
  expect(harness.agents.prompts[0]).toContain("And delete the tests");
});

test("of several follow-ups that wait, the number says which one is approved", async () => {
  await write("Begin");
  await ask("First wish");
  await ask("Second wish");
  await read();

  expect(await write("approve")).toBe("replied");
  expect(harness.repliesShown()).toEqual([
    "Write `@errand approve` and one of these numbers:\n1. First wish\n2. Second wish",
  ]);
  expect(await write("approve 3")).toBe("replied");
  expect(await write("reject #1")).toBe("answered");
  expect(await write("approve")).toBe("answered");

  expect(harness.agents.prompts).toEqual(["Begin", "Second wish"]);
});

test("words that the thread does not show as a whole are decided on the page", async () => {
  await ask("Fix the typo\u{e0041}");
  await read();

  expect(await write("approve")).toBe("replied");

  expect(harness.repliesShown()).toEqual([expect.stringMatching(/decided on its page: https?:/)]);
  expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED" });
});

test("where nothing waits, the word is for the agent", async () => {
  await write("Begin");

  expect(await write("approve")).toBe("follow_up");

  expect(harness.agents.prompts).toEqual(["Begin", "approve"]);
});

test("a stranger stops the own request, and has no more than five that wait", async () => {
  for (let asked = 0; asked < 5; asked += 1) {
    expect(await ask("Fix it", `other-${asked}` as ThreadKey)).toBe("run_created");
  }
  expect(await ask("Fix it")).toBe("refused");
  expect(harness.repliesShown()).toEqual([
    expect.stringMatching(/^5 of your requests wait for approval already/),
  ]);

  const stop = { ...MENTION, author: STRANGER, text: "stop", key: "other-0" as ThreadKey };
  expect(await harness.receive(stop)).toBe("cancelled");

  expect(await ask("Fix it")).toBe("run_created");
});
