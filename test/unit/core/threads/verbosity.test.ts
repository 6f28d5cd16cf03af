import { beforeEach, describe, expect, test } from "vitest";
import type { RunState } from "../../../../src/core/runs/states.ts";
import type { Thread, Verbosity } from "../../../../src/core/threads/thread.ts";
import { aRun, aThread } from "../../../support/run-builders.ts";
import { IntakeBench, KEY } from "../intake/intake-bench.ts";
import { anEdit } from "../runs/edit.ts";

describe("the card of a run", () => {
  const WAYS: readonly (readonly [RunState, RunState, readonly Verbosity[]])[] = [
    ["QUEUED", "PENDING", ["normal"]],
    ["CLAIMED", "INPROGRESS", ["normal"]],
    ["INPROGRESS", "QUEUED", ["normal"]],
    ["SUCCEEDED", "QUEUED", ["normal"]],
    ["INPROGRESS", "BLOCKED", ["normal", "quiet"]],
    ["BLOCKED", "INPROGRESS", ["normal", "quiet"]],
    ["INPROGRESS", "SUCCEEDED", ["normal", "quiet"]],
    ["PENDING", "ERROR", ["normal", "quiet"]],
    ["QUEUED", "CANCELLED", ["normal", "quiet"]],
  ];

  test.each(WAYS)("from %s to %s is shown where threads are %j", (from, to, shownIn) => {
    const threads = ["normal", "quiet"].map(
      (verbosity) => ({ ...aThread({ id: verbosity }), verbosity }) as Thread,
    );
    const edit = anEdit({ state: from }, { threads });

    edit.moveTo(to);

    const cards = edit.done().notices.filter(({ notice }) => notice.kind === "card");
    expect(cards.map(({ threadId }) => threadId)).toEqual(shownIn);
  });

  test("is shown once in a quiet thread that is bound to a run", () => {
    const { id: expected } = aRun();
    const edit = anEdit();

    edit.begin();
    edit.bind({ thread: { ...aThread({ id: "t" }), verbosity: "quiet" } as Thread, expected });

    expect(edit.done().notices).toMatchObject([{ threadId: "t", notice: { kind: "card" } }]);
  });
});

describe("a quiet thread", () => {
  let bench: IntakeBench;
  beforeEach(async () => {
    bench = new IntakeBench();
    await bench.start();
  });

  test("leaves nobody without an answer: seen, the card from the start, how it ends", async () => {
    await bench.receive({ text: "Fix it" });
    const [thread] = await bench.storage.threads.listOf((await bench.currentRun()).id);
    await bench.storage.threads.setVerbosity(thread?.id ?? "", "quiet");

    await bench.receive({ text: "new: another" });
    await bench.clock.advance(1_000);

    expect(bench.kindsShown()).toEqual(["seen", "card", "message", "seen", "card", "message"]);
    expect(bench.cardsShown().map(({ state }) => state)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(bench.adapter.thread(KEY).at(-1)?.notice).toMatchObject({ purpose: "answer" });
  });
});
