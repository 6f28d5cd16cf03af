import { beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import type { Thread } from "../../../../src/core/model/threads/thread.ts";
import type { TransactionExtras } from "../../../../src/core/runs/transaction-extras.ts";
import { decideTurnEnd } from "../../../../src/core/work/context/decide-attempt.ts";
import { quiet } from "../../../support/manual-clock.ts";
import { aFollowUp, aRun, aThread } from "../../../support/run-builders.ts";
import { END_TURN } from "../../../support/scripted-agents.ts";
import { waitFor } from "../../../support/wait-for.ts";
import { anEdit } from "../runs/edit.ts";
import { InboxHarness, KEY } from "./inbox/inbox-harness.ts";

const IDLE_MS = 60 * 60_000;

let harness: InboxHarness;
let bob: Principal;
beforeEach(async () => {
  harness = new InboxHarness();
  bob = await harness.person("Bob");
  await harness.start();
  await harness.receive({ text: "Fix it" });
});

describe("a follow-up over the API to a run with a thread", () => {
  test("a follow-up over the API is announced in the thread with its author", async () => {
    await ask("And the lexer");

    expect(harness.repliesShown()).toEqual(["Bob asked over the API: And the lexer"]);
    expect(harness.agents.prompts).toEqual(["Fix it", "And the lexer"]);
  });

  test("a follow-up of a person who is signed in to the pages is announced as made on the web", async () => {
    const { clock, storage } = harness;
    const [id, createdAt] = [crypto.randomUUID(), clock.now()];
    const expiresAt = new Date(createdAt.getTime() + IDLE_MS);
    const { teamId } = bob;
    const signIn = {
      id,
      teamId,
      principalId: bob.id,
      method: "link",
      createdAt,
      lastSeenAt: createdAt,
    } as const;
    await storage.signIns.add({ ...signIn, expiresAt }, { tokenHash: "hash" });

    await followUpFrom({ signInId: id });

    expect(harness.repliesShown()).toEqual(["Bob asked on the web: And the lexer"]);
  });

  test("a follow-up in another outside system is announced once with its origin, and not in its own", async () => {
    await followUpFrom({ from: { source: "JIRA", integration: "jira" } });
    await followUpFrom({ from: { source: "API", integration: harness.adapter.name } });

    expect(harness.repliesShown()).toEqual(["Bob asked in jira: And the lexer"]);
  });

  test("a long follow-up over the API is announced in part", async () => {
    await ask(`${"x".repeat(499)}😀😀`);

    expect(harness.repliesShown()).toEqual([`Bob asked over the API: ${"x".repeat(499)}😀…`]);
  });

  test("a private follow-up over the API is carried out but not announced", async () => {
    await ask("And the lexer", true);

    expect(harness.repliesShown()).toEqual([]);
    expect(harness.agents.prompts).toEqual(["Fix it", "And the lexer"]);
  });
});

async function followUpFrom(extras: TransactionExtras): Promise<void> {
  const { id } = await harness.currentRun();
  await harness.runs.followUps.send(id, bob, { message: "And the lexer", authorId: bob.id }, extras);
  await quiet();
}

describe("the answer to a private follow-up", () => {
  test("the answer to a private follow-up is logged only", async () => {
    answers("Not for all");
    await ask("And the lexer", true);

    const { id, turn } = await harness.currentRun();
    expect(turn).toBe(2);
    expect(answersShown()).toEqual(["Done."]);
    expect(harness.cardsShown()).toMatchObject([{ state: "SUCCEEDED", turn: 2 }]);
    expect(JSON.stringify(harness.adapter.thread(KEY))).not.toContain("Not for all");
    expect(JSON.stringify(await harness.events(id))).toContain("Not for all");
  });

  test("the answer to a private follow-up stays private while a public one waits, which is answered", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      await send("For all");
      say("Not for all");
      return END_TURN;
    });
    answers("Told");
    await ask("And the lexer", true);

    expect(harness.agents.prompts).toEqual(["Fix it", "And the lexer", "For all"]);
    expect(answersShown()).toEqual(["Done.", "Told"]);
    expect(harness.cardsShown()).toMatchObject([{ turn: 3 }]);
  });

  test("the answer of a turn with a private and a public follow-up is announced", async () => {
    harness = new InboxHarness();
    bob = await harness.person("Bob");
    harness.agents.scripts.push(async ({ say }) => {
      await send("And the lexer", true);
      await send("For all");
      say("First");
      return END_TURN;
    });
    answers("Both");
    await harness.start();
    await harness.receive({ text: "Fix it" });

    expect(harness.agents.prompts).toEqual(["Fix it", "And the lexer\n\nFor all"]);
    expect(answersShown()).toEqual(["First", "Both"]);
  });

  test("the answer to a private follow-up stays private after its agent was replaced", async () => {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }] as const;
    harness.agents.scripts.push(async ({ observer }) => {
      await observer.permission({ permissionId: "p", title: "May I?", options });
      return END_TURN;
    });
    answers("Not for all");
    await ask("And the lexer", true);
    await harness.clock.advance(IDLE_MS);
    expect(await harness.currentRun()).toMatchObject({ state: "BLOCKED", turn: 2 });

    await ask("yes");

    expect(await harness.currentRun()).toMatchObject({ state: "SUCCEEDED", turn: 2, attempt: 3 });
    expect(JSON.stringify(harness.adapter.thread(KEY))).not.toContain("Not for all");
  });

  test("a cancel during a private follow-up is announced", async () => {
    harness.agents.scripts.push(async ({ say }) => {
      say("Not for all");
      await harness.cancel((await harness.currentRun()).id);
      return END_TURN;
    });

    await ask("And the lexer", true);

    expect(harness.cardsShown()).toMatchObject([{ state: "CANCELLED", message: "Cancelled by Ada." }]);
    expect(answersShown()).toEqual(["Done."]);
  });
});

describe("what the agent does", () => {
  const entries = [{ content: "Read the tests", status: "in_progress" }];

  test("the card shows the plan and the newest tool call, and at the end only the plan", async () => {
    let during: unknown;
    harness.agents.scripts.push(async ({ observer }) => {
      observer.update({ kind: "agent.plan", entries });
      observer.update({ kind: "agent.tool_call", toolCallId: "1", title: "Run the tests" });
      await harness.clock.advance(5_000);
      during = harness.cardsShown().at(-1);
      observer.update({ kind: "agent.plan", entries: [{ content: "Read the tests", status: "completed" }] });
      return END_TURN;
    });

    await ask("And the lexer");
    await waitFor(async () => (await harness.currentRun()).state === "SUCCEEDED" && during !== undefined, {
      what: "the end of the turn",
    });

    const plan = [{ text: "Read the tests", status: "in_progress" }];
    expect(during).toMatchObject({ state: "INPROGRESS", plan, step: "Run the tests", elapsedSeconds: 0 });
    expect(harness.cardsShown().at(-1)).toMatchObject({
      state: "SUCCEEDED",
      plan: [{ text: "Read the tests", status: "completed" }],
      elapsedSeconds: 5,
    });
    expect(harness.cardsShown().at(-1)).not.toHaveProperty("step");
  });

  test("the card shows nothing of what the agent does for a private follow-up", async () => {
    let isOver = false;
    harness.agents.scripts.push(async ({ observer }) => {
      observer.update({ kind: "agent.plan", entries });
      await harness.clock.advance(5_000);
      isOver = true;
      return END_TURN;
    });

    await ask("And the lexer", true);
    await waitFor(async () => isOver && (await harness.currentRun()).state === "SUCCEEDED", {
      what: "the end of the turn",
    });

    expect((await harness.currentRun()).turn).toBe(2);
    expect(JSON.stringify(harness.cardsShown())).not.toContain("Read the tests");
  });
});

test("the answer of a first turn is announced, even if it took a private follow-up", () => {
  const edit = anEdit(
    { state: "INPROGRESS", turn: 1, turnOpen: true },
    { taken: [{ ...aFollowUp(aRun(), { private: true }), seq: 1 }], threads: [aThread() as Thread] },
  );

  decideTurnEnd(edit, END_TURN, "Told");

  expect(JSON.stringify(edit.done().notices)).toContain("Told");
});

test("a follow-up from the thread itself is not repeated there", async () => {
  await harness.receive({ text: "and this", addressed: "reply" });

  expect(harness.repliesShown()).toEqual([]);
});

function answers(text: string): void {
  harness.agents.scripts.push(async ({ say }) => {
    say(text);
    return END_TURN;
  });
}

function answersShown(): readonly string[] {
  return harness.adapter
    .thread(KEY)
    .flatMap(({ notice }) => (notice.kind === "message" && notice.purpose === "answer" ? [notice.text] : []));
}

async function ask(message: string, isPrivate?: boolean): Promise<void> {
  await send(message, isPrivate);
  await quiet();
}

async function send(message: string, isPrivate?: boolean): Promise<void> {
  const { id } = await harness.currentRun();
  const visibility = isPrivate === undefined ? {} : { private: isPrivate };
  await harness.runs.followUps.send(id, bob, { message, authorId: bob.id, ...visibility });
}
