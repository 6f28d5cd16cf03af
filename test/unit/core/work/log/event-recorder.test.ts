import { describe, expect, test } from "vitest";
import type { AgentUpdate } from "../../../../../src/core/model/runs/agent-update.ts";
import type { Redactor } from "../../../../../src/core/ports/redactor.ts";
import { EventRecorder, type RecordedUpdate } from "../../../../../src/core/work/log/event-recorder.ts";
import { createRedactor } from "../../../../../src/secrets/redaction.ts";
import { ManualClock, quiet } from "../../../../support/manual-clock.ts";

const say = (text: string, messageId?: string): AgentUpdate => ({
  kind: "agent.message",
  text,
  ...(messageId === undefined ? {} : { messageId }),
});
const thought = (text: string): AgentUpdate => ({ kind: "agent.thought", text });
const SECRET = "s3cret-of-mine";
const other = (data: unknown): AgentUpdate => ({ kind: "agent.other", name: "x", data });

describe("the event recorder", () => {
  test("consecutive pieces of one message become one event", async () => {
    const { batches, recorder } = aRecorder();

    for (const piece of ["He", "ll", "o"]) {
      recorder.add(say(piece, "m1"));
    }
    await recorder.flush();

    expect(batches).toEqual([[say("Hello", "m1")]]);
  });

  test("pieces of different messages or of different kinds become separate events", async () => {
    const { batches, recorder } = aRecorder();
    const updates = [say("a", "m1"), say("b", "m2"), { kind: "agent.thought", text: "c" } as const, say("d")];

    for (const update of updates) {
      recorder.add(update);
    }
    await recorder.flush();

    expect(batches).toEqual([updates]);
  });

  test("a batch is stored after a delay without a flush", async () => {
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

  test("a long event is continued in another event", async () => {
    const { batches, recorder } = aRecorder();

    for (let index = 0; index < 10; index += 1) {
      recorder.add(say("x".repeat(1_000)));
    }
    await recorder.flush();

    expect(batches.flat().map((update) => ("text" in update ? update.text.length : 0))).toEqual([
      5_000, 5_000,
    ]);
  });

  test("batches are stored one after the other", async () => {
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

  test("a failure to store is thrown by the next flush", async () => {
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
    ["a secret", `the ${SECRET}!`, "the [redacted]!"],
    [
      "a secret inside",
      { deep: [{ [`key ${SECRET}`]: `${SECRET}\0` }] },
      { deep: [{ "key [redacted]": "[redacted]\u2400" }] },
    ],
    ["no text at all", [1, true, null, 1.5], [1, true, null, 1.5]],
  ])("the recorder cleans %s", async (_name, data, cleaned) => {
    const { batches, recorder } = aRecorder();

    recorder.add(other(data));
    await recorder.flush();

    expect(batches.flat()).toEqual([other(cleaned)]);
  });

  test("a character and a secret divided over two pieces are joined before redaction", async () => {
    const { batches, recorder } = aRecorder();

    for (const piece of ["\ud83d", "\ude00 s3", "cret-of-", "mine"]) {
      recorder.add(say(piece));
    }
    await recorder.flush();

    expect(batches.flat()).toEqual([say("\u{1f600} [redacted]")]);
  });

  describe("a secret divided over two batches", () => {
    test.each([
      ["in two pieces", ["the s3cret-", "of-mine is out"]],
      ["character by character", Array.from("the s3cret-of-mine is out")],
      ["after what looked like it", ["the s3cret-s3cret", "-of-mine is out"]],
    ])("nothing is stored of a secret that came %s", async (_how, pieces) => {
      const { batches, clock, recorder } = aRecorder();

      for (const piece of pieces) {
        recorder.add(say(piece));
        await clock.advance(50);
      }
      await recorder.flush();

      const texts = batches.flat().map((update) => ("text" in update ? update.text : ""));
      expect(texts.join("").replace("s3cret-[", "[")).toBe("the [redacted] is out");
      expect(texts.join("|")).not.toContain("of-mine");
    });

    test("only the possible start of a secret is held back, and only for a short time", async () => {
      const { batches, clock, recorder } = aRecorder();

      recorder.add(say("I like s3"));
      await clock.advance(50);
      expect(batches.flat()).toEqual([say("I like ")]);
      recorder.add(say(" in town"));
      await clock.advance(50);

      expect(batches.flat()).toEqual([say("I like "), say("s3 in town")]);
      expect(clock.pending).toBe(0);
    });

    test("held back text keeps its order among other events", async () => {
      const { batches, clock, recorder } = aRecorder();

      recorder.add(say("a s3c"));
      await clock.advance(50);
      for (const update of [other(1), thought("s3"), say("ret")]) {
        recorder.add(update);
      }
      await recorder.flush();

      expect(batches.flat()).toEqual([say("a "), say("s3c"), other(1), thought("s3"), say("ret")]);
    });

    test("at most half of an incomplete secret is stored", async () => {
      const { batches, clock, recorder } = aRecorder();

      recorder.add(say("the s3cret-of-min"));
      await clock.advance(50);
      recorder.add(other(1));
      await recorder.flush();

      expect(batches.flat()).toEqual([say("the "), say("[redacted]"), other(1)]);
    });

    test("a secret is found where a long text is divided", async () => {
      const { batches, recorder } = aRecorder();

      recorder.add(say(`${"x".repeat(4_100)}s3cret-`));
      recorder.add(say("of-mine"));
      await recorder.flush();

      expect(batches.flat()).toEqual([say("x".repeat(4_100)), say("[redacted]")]);
    });
  });

  test("a character divided over two batches is joined", async () => {
    const { batches, clock, recorder } = aRecorder();

    recorder.add(say("a\ud83d"));
    await clock.advance(50);
    recorder.add(say("\ude00"));
    await recorder.flush();

    expect(batches.flat()).toEqual([say("a"), say("\u{1f600}")]);
  });

  test("an endless text is cut between characters", async () => {
    const { batches, recorder } = aRecorder();

    recorder.add(other(`${"x".repeat(127_999)}\u{1f600}${"y".repeat(100)}`));
    await recorder.flush();

    const [update] = batches.flat();
    const data = update?.kind === "agent.other" ? String(update.data) : "";
    expect(data.endsWith("\ufffd… [101 characters cut]")).toBe(true);
    expect(data.isWellFormed()).toBe(true);
  });

  test("an update nested very deeply does not stop the recorder", async () => {
    const { batches, clock, recorder } = aRecorder();
    const endless: unknown = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);

    recorder.add(other(endless));
    recorder.add(say("after"));
    await clock.advance(50);
    await recorder.flush();

    expect(batches.flat()).toContainEqual(say("after"));
  });
});

describe("the room of the event recorder", () => {
  const LONG = other("x".repeat(100_000));

  test("the recorder has room while little is pending, and again when it was stored", async () => {
    let semaphore = Promise.withResolvers<void>();
    const { clock, recorder } = aSlowRecorder(() => semaphore.promise);
    for (let times = 0; times < 3; times += 1) {
      semaphore = Promise.withResolvers();
      for (let index = 0; index < 10; index += 1) {
        recorder.add(LONG);
      }
      expect(recorder.backpressure()).toBeUndefined();
      recorder.add(LONG);
      const seen = watched(recorder.backpressure());
      await clock.advance(50);
      expect(seen).toEqual({ isOpen: false });

      semaphore.resolve();
      await quiet();

      expect(seen).toEqual({ isOpen: true });
    }
  });

  test("each stored batch makes room", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const order = [...gates];
    const { clock, recorder } = aSlowRecorder(async () => order.shift()?.promise);
    for (let index = 0; index < 22; index += 1) {
      recorder.add(LONG);
      if (index === 10) {
        await clock.advance(50);
      }
    }
    const seen = watched(recorder.backpressure());
    gates[0].resolve();
    await clock.advance(50);
    expect(seen).toEqual({ isOpen: false });

    gates[1].resolve();
    await quiet();

    expect(seen).toEqual({ isOpen: true });
  });

  test("the recorder has room when nothing can be stored any more, so that no caller waits for ever", async () => {
    const { clock, recorder } = aSlowRecorder(() => Promise.reject(new Error("no")));
    for (let times = 0; times < 2; times += 1) {
      for (let index = 0; index < 11; index += 1) {
        recorder.add(LONG);
      }
      const seen = watched(recorder.backpressure());

      await clock.advance(50);

      expect(seen).toEqual({ isOpen: true });
    }
    await expect(recorder.flush()).rejects.toThrow("no");
  });

  test("text that is held back takes no room", async () => {
    const { clock, recorder } = aRecorder();
    for (let times = 0; times < 3; times += 1) {
      recorder.add(say(`${"x".repeat(2_000_000)}s3cret-of-`));

      await clock.advance(50);

      expect(recorder.backpressure()).toBeUndefined();
    }
    await recorder.flush();
  });
});

function aSlowRecorder(store: () => Promise<void>) {
  const clock = new ManualClock();
  return { clock, recorder: new EventRecorder(clock, same, store) };
}

function watched(drained: Promise<void> | undefined): { isOpen: boolean } {
  const seen = { isOpen: drained === undefined };
  drained?.then(() => {
    seen.isOpen = true;
  });
  return seen;
}

function aRecorder() {
  const clock = new ManualClock();
  const batches: (readonly RecordedUpdate[])[] = [];
  const recorder = new EventRecorder(clock, createRedactor([SECRET]), async (updates) => {
    batches.push(updates);
  });
  return { batches, clock, recorder };
}

const same: Redactor = { redact: (text) => text, openTail: () => 0 };
