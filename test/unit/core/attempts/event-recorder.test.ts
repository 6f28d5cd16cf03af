import { describe, expect, test } from "vitest";
import { EventRecorder } from "../../../../src/core/attempts/event-recorder.ts";
import type { AgentUpdate } from "../../../../src/core/ports/agent-runner.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const say = (text: string, messageId?: string): AgentUpdate => ({
  kind: "agent.message",
  text,
  ...(messageId === undefined ? {} : { messageId }),
});
const other = (data: unknown): AgentUpdate => ({ kind: "agent.other", name: "x", data });

describe("the recorder of events", () => {
  test("makes one event of words that come piece by piece", async () => {
    const { batches, recorder } = aRecorder();

    for (const piece of ["He", "ll", "o"]) recorder.add(say(piece, "m1"));
    await recorder.flush();

    expect(batches).toEqual([[say("Hello", "m1")]]);
  });

  test("keeps apart what belongs to different messages, and what is of different kinds", async () => {
    const { batches, recorder } = aRecorder();
    const updates = [say("a", "m1"), say("b", "m2"), { kind: "agent.thought", text: "c" } as const, say("d")];

    for (const update of updates) recorder.add(update);
    await recorder.flush();

    expect(batches).toEqual([updates]);
  });

  test("stores a batch after a moment, without being asked", async () => {
    const { batches, clock, recorder } = aRecorder();
    recorder.add(say("a"));

    await clock.advance(49);
    expect(batches).toEqual([]);
    await clock.advance(1);

    expect(batches).toEqual([[say("a")]]);
    await clock.advance(1_000);
    expect(batches).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test("begins another event when one is long", async () => {
    const { batches, recorder } = aRecorder();

    for (let index = 0; index < 10; index += 1) recorder.add(say("x".repeat(1_000)));
    await recorder.flush();

    expect(batches.flat().map((update) => ("text" in update ? update.text.length : 0))).toEqual([
      5_000, 5_000,
    ]);
  });

  test("stores one batch after the other", async () => {
    const order: string[] = [];
    const recorder = new EventRecorder(new ManualClock(), same, async ([update]) => {
      const text = update !== undefined && "text" in update ? update.text : "";
      order.push(`begin ${text}`);
      await new Promise(setImmediate);
      order.push(`end ${text}`);
    });

    recorder.add(say("a"));
    const first = recorder.flush();
    recorder.add(say("b"));
    await Promise.all([first, recorder.flush()]);

    expect(order).toEqual(["begin a", "end a", "begin b", "end b"]);
  });

  test("tells the next flush of a failure", async () => {
    const clock = new ManualClock();
    const recorder = new EventRecorder(clock, same, async () => {
      throw new Error("no");
    });
    recorder.add(say("a"));
    await clock.advance(50);

    await expect(recorder.flush()).rejects.toThrow("no");
  });

  test.each<[string, unknown, unknown]>([
    ["NUL", "a\0b", "a\u2400b"],
    ["half of a surrogate pair", "a\ud83d", "a\ufffd"],
    ["a secret", "the s3cret!", "the [redacted]!"],
    [
      "a secret inside",
      { deep: [{ "key s3cret": "s3cret\0" }] },
      { deep: [{ "key [redacted]": "[redacted]\u2400" }] },
    ],
    ["no text at all", [1, true, null, 1.5], [1, true, null, 1.5]],
  ])("cleans %s", async (_name, data, cleaned) => {
    const { batches, recorder } = aRecorder();

    recorder.add(other(data));
    await recorder.flush();

    expect(batches.flat()).toEqual([other(cleaned)]);
  });

  test("puts a character together that came in two pieces, and finds a secret that did", async () => {
    const { batches, recorder } = aRecorder();

    for (const piece of ["\ud83d", "\ude00 s3", "cret"]) recorder.add(say(piece));
    await recorder.flush();

    expect(batches.flat()).toEqual([say("\u{1f600} [redacted]")]);
  });

  test("cuts an endless text, not through a character", async () => {
    const { batches, recorder } = aRecorder();

    recorder.add(other(`${"x".repeat(127_999)}\u{1f600}${"y".repeat(100)}`));
    await recorder.flush();

    const [update] = batches.flat();
    const data = update?.kind === "agent.other" ? String(update.data) : "";
    expect(data.endsWith("\ufffd… [101 characters cut]")).toBe(true);
    expect(data.isWellFormed()).toBe(true);
  });

  test("survives an update that is nested without end", async () => {
    const { batches, clock, recorder } = aRecorder();
    const endless: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);

    recorder.add(other(endless));
    recorder.add(say("after"));
    await clock.advance(50);
    await recorder.flush();

    expect(batches.flat()).toContainEqual(say("after"));
  });
});

function aRecorder() {
  const clock = new ManualClock();
  const batches: (readonly AgentUpdate[])[] = [];
  const redact = (text: string) => text.replaceAll("s3cret", "[redacted]");
  const recorder = new EventRecorder(clock, redact, async (updates) => {
    batches.push(updates);
  });
  return { batches, clock, recorder };
}

function same(text: string): string {
  return text;
}
