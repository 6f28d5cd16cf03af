import { beforeEach, describe, expect, test } from "vitest";
import type { InboundMessage } from "../../../../../src/core/ports/thread-adapter.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { untilCancelled } from "../../../../support/scripted-agents.ts";
import { InboxHarness, KEY } from "./inbox-harness.ts";

let harness: InboxHarness;
beforeEach(async () => {
  harness = new InboxHarness();
  await harness.start();
});

function say(id: string, text: string, changes: Partial<InboundMessage> = {}) {
  const revision = { messageId: id, version: "1", isEdit: false };
  return harness.receive({ text, messageRef: id, revision, ...changes });
}

function stop(messageId: string, name = "Ada") {
  const reaction = { adapter: "memory", installation: "here", messageId, subject: `memory:${name}` };
  return harness.receive({}, { stop: reaction });
}

/** The reactions to the messages of users. */
function reactions(): Readonly<Record<string, string>> {
  const notices = harness.adapter.thread(KEY).map(({ notice }) => notice);
  return Object.fromEntries(
    notices.flatMap((notice) => {
      if (notice.kind === "seen") {
        return [[notice.messageRef, "seen"]];
      }
      return notice.kind === "ended" ? [[notice.messageRef, notice.end]] : [];
    }),
  );
}

describe("reactions at the end of a turn", () => {
  test("the messages of a turn are done when it is over, and those of the next one are seen", async () => {
    harness.agents.scripts.push(async ({ say: answer }) => {
      await say("b", "and this");
      answer("Done");
      return { stopReason: "end_turn" };
    });
    harness.agents.scripts.push(untilCancelled);

    await say("a", "Fix it");
    await quiet();

    expect(reactions()).toEqual({ a: "done", b: "seen" });
    await say("c", "stop");
    expect(reactions()).toEqual({ a: "done", b: "stopped", c: "stopped" });
  });

  test("a turn that fails", async () => {
    harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));

    await say("a", "Fix it");

    expect(reactions()).toEqual({ a: "failed" });
  });

  test("a run that is retried by a message shows its end on that message", async () => {
    harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));
    await say("a", "Fix it");

    await say("b", "retry");

    expect(reactions()).toEqual({ a: "failed", b: "done" });
  });

  test("a run that is retried by a button shows its end on the request", async () => {
    harness.agents.scripts.push(async () => ({ stopReason: "refusal" }));
    await say("a", "Fix it");
    const { id: runId } = await harness.currentRun();

    await say("card", "", { buttonAction: { kind: "retry", runId } });

    expect(reactions()).toEqual({ a: "done" });
  });

  test("a message that gets only a reply has no reaction, because nothing would end it", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "status");
    await say("b", "Fix it");

    for (const text of ["status", "help", "mute", "retry"]) {
      await say(text, text);
    }

    expect(reactions()).toEqual({ b: "seen" });
    expect(harness.repliesShown()).toHaveLength(5);
  });

  test("an answer to a question is done at once, and another text is seen", async () => {
    await harness.aBlockedRun();

    await say("other", "what about the tests?", { addressed: "reply" });
    const before = reactions();
    await say("answer", "yes", { addressed: "reply" });

    expect(before).toMatchObject({ other: "seen" });
    expect(reactions()).toMatchObject({ answer: "done", other: "done" });
  });

  test("the edit of a request that was stopped leaves its reaction", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");
    await say("b", "stop");

    await say("a", "Fix that", { revision: { messageId: "a", version: "2", isEdit: true } });

    expect(reactions()).toEqual({ a: "stopped", b: "stopped" });
    expect(harness.repliesShown()).toEqual([expect.stringContaining("your change starts nothing")]);
  });

  test("a message over the API has no reaction", async () => {
    await say("a", "Fix it");
    await harness.followUp((await harness.currentRun()).id, "and this");

    expect(reactions()).toEqual({ a: "done" });
  });
});

describe("a reaction that stops", () => {
  test("its author stops the run, once", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");

    expect(await stop("a")).toBe("cancelled");
    expect(await stop("a")).toBe("ignored");

    expect(await harness.currentRun()).toMatchObject({
      state: "CANCELLED",
      statusMessage: { message: "Cancelled by Ada." },
    });
    expect(reactions()).toEqual({ a: "stopped" });
  });

  test("a reaction of another user, or to another message, has no effect and no answer", async () => {
    harness.agents.scripts.push(untilCancelled);
    await say("a", "Fix it");
    await say("b", "and this", { author: { subject: "memory:Bob", displayName: "Bob" } });
    const shown = harness.adapter.thread(KEY).length;

    expect([await stop("a", "Bob"), await stop("b", "Bob"), await stop("a", "Eve"), await stop("x")]).toEqual(
      Array(4).fill("ignored"),
    );

    expect(await harness.currentRun()).toMatchObject({ state: "INPROGRESS" });
    expect(harness.adapter.thread(KEY)).toHaveLength(shown);
  });
});
