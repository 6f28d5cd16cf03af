import { beforeEach, describe, expect, test } from "vitest";
import type { RunState } from "../../../../src/core/model/runs/states.ts";
import type { Thread, Verbosity } from "../../../../src/core/model/threads/thread.ts";
import type { RunChange } from "../../../../src/core/ports/stores/run-change.ts";
import { aRun, aThread } from "../../../support/run-builders.ts";
import { anEdit } from "../runs/edit.ts";
import { InboxHarness, KEY } from "./inbox/inbox-harness.ts";

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

  test.each(WAYS)(
    "the card of a change from %s to %s is shown in threads that are %j",
    (from, to, shownIn) => {
      const threads = ["normal", "quiet"].map(
        (verbosity) => ({ ...aThread({ id: verbosity }), verbosity }) as Thread,
      );
      const edit = anEdit({ state: from }, { threads });

      edit.moveTo(to);

      const cards = edit.done().notices.filter(({ notice }) => notice.kind === "card");
      expect(cards.map(({ threadId }) => threadId)).toEqual(shownIn);
    },
  );

  test("a quiet thread shows the card once when it is bound to a run", () => {
    const { id: expected } = aRun();
    const edit = anEdit();

    edit.begin();
    edit.bind({ thread: { ...aThread({ id: "t" }), verbosity: "quiet" } as Thread, expected });

    expect(edit.done().notices).toMatchObject([{ threadId: "t", notice: { kind: "card" } }]);
  });
});

describe("the thread of a pull request that the run opened", () => {
  const PULL = { ...aThread({ id: "pull" }), showsCard: false } as Thread;
  const WORDS = { authorId: aRun().creatorId, message: "Again", delivery: "queue", private: false } as const;
  const cardsOf = ({ notices }: RunChange) =>
    notices.filter(({ notice }) => notice.kind === "card").map(({ threadId }) => threadId);

  test("it shows no card when it is bound, and none when the run changes", () => {
    const bound = anEdit();
    bound.bind({ thread: PULL, expected: undefined, showsCard: false });
    const changed = anEdit({ state: "PENDING" }, { threads: [aThread({ id: "issue" }), PULL] });
    changed.moveTo("CLAIMED");

    expect(cardsOf(bound.done())).toEqual([]);
    expect(cardsOf(changed.done())).toEqual(["issue"]);
  });

  test.each([
    ["a person writes to the run there", { threadId: "pull" }, ["pull"]],
    ["a person writes to the run elsewhere", { threadId: "issue" }, []],
    ["a platform reports something there", { threadId: "pull", isReport: true }, []],
    ["a follow-up there is private", { threadId: "pull", private: true }, []],
  ])("when %s, the threads that show a card from now on are %j: %j", (_, from, shown) => {
    const edit = anEdit({ state: "INPROGRESS" }, { threads: [PULL] });

    edit.addFollowUp({ ...WORDS, source: "API", ...from }, "follow-up");

    const change = edit.done();
    expect([change.cardsFromNow, cardsOf(change)]).toEqual([shown, shown]);
  });
});

describe("a quiet thread", () => {
  let harness: InboxHarness;
  beforeEach(async () => {
    harness = new InboxHarness();
    await harness.start();
  });

  test("a quiet thread shows the acknowledgement, the first card and the end of a run", async () => {
    await harness.receive({ text: "Fix it" });
    const [thread] = await harness.storage.threads.listOf((await harness.currentRun()).id);
    await harness.storage.threads.setVerbosity(thread?.id ?? "", "quiet");

    await harness.receive({ text: "new: another", messageRef: "another" });
    await harness.clock.advance(1_000);

    expect(harness.kindsShown()).toEqual(["ended", "card", "message", "ended", "card", "message"]);
    expect(harness.cardsShown().map(({ state }) => state)).toEqual(["SUCCEEDED", "SUCCEEDED"]);
    expect(harness.adapter.thread(KEY).at(-1)?.notice).toMatchObject({ purpose: "answer" });
  });
});
