import { beforeEach, describe, expect, test } from "vitest";
import { PACE as GITHUB_PACE } from "../../../../../src/adapters/github/pace.ts";
import { PACE as SLACK_PACE } from "../../../../../src/adapters/slack/pace.ts";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import type { Notice } from "../../../../../src/core/model/threads/notice.ts";
import type { ThreadBinding } from "../../../../../src/core/model/threads/thread.ts";
import { CoreHarness } from "../../../../support/core-harness.ts";
import { quiet } from "../../../../support/manual-clock.ts";
import { aCard, anInboxEvent, aReply, aRun, aThread } from "../../../../support/run-builders.ts";

interface Write {
  readonly atMs: number;
  readonly kind: "post" | "edit";
  readonly notice: Notice;
  readonly key: ThreadKey;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let harness: CoreHarness;
/** What the platform was asked to write, in order. */
let writes: Write[];

beforeEach(() => {
  harness = new CoreHarness();
  writes = [];
  const { adapter, clock } = harness;
  adapter.traits = { ...adapter.traits, pace: SLACK_PACE, containerOf: (key) => key.split("/")[0] ?? "" };
  const deliver = adapter.deliver.bind(adapter);
  adapter.deliver = (delivery) => {
    const { notice, shownAt, thread } = delivery;
    const kind = shownAt === undefined ? "post" : "edit";
    writes.push({ atMs: clock.elapsedMs(), kind, notice, key: thread.key });
    return deliver(delivery);
  };
});

describe("the pace of Slack", () => {
  test("when 1,000 runs end in one channel within 10 s, about one message a second is posted, and all arrive", async () => {
    await harness.start();
    const runs = Array.from({ length: 1_000 }, () => ({ run: aRun(), thread: threadIn("busy") }));

    for (const [index, { run, thread }] of runs.entries()) {
      await say(thread, aCard(run, { state: "QUEUED" }), aCard(run, { state: "INPROGRESS" }));
      await say(thread, aAnswer(`answer ${index}`), aCard(run, { state: "SUCCEEDED" }));
      await harness.clock.advance(10);
    }
    await harness.clock.advance(40 * MINUTE_MS);

    for (const [index, { run, thread }] of runs.entries()) {
      const shown = harness.adapter.thread(thread.key).map(({ notice }) => notice);
      expect(shown).toHaveLength(2);
      expect(shown).toContainEqual(aCard(run, { state: "SUCCEEDED" }));
      expect(shown).toContainEqual(aAnswer(`answer ${index}`));
    }
    const posts = writes.filter(({ kind }) => kind === "post");
    expect(posts).toHaveLength(2_000);
    expect(mostWithin(posts, MINUTE_MS)).toBeLessThanOrEqual(60 + 4);
    expect(posts.at(-1)?.atMs).toBeLessThan(2_010_000);
    // The cards of the first runs were posted before these ended. All others were never shown as progress.
    expect(writes.length - posts.length).toBeLessThan(20);
  }, 120_000);

  test("the cards of a workspace are edited at most 40 times a minute, each at most once in 3 s, the ends first", async () => {
    await harness.start();
    const runs = Array.from({ length: 12 }, (_, index) => ({ run: aRun(), thread: threadIn(`c${index}`) }));
    for (const { run, thread } of runs) {
      await say(thread, aCard(run, { state: "QUEUED" }));
    }
    await harness.clock.advance(MINUTE_MS);

    const [ending, ...others] = runs;
    for (let second = 0; second < 120; second += 1) {
      for (const { run, thread } of others) {
        await say(thread, aCard(run, { state: "INPROGRESS", elapsedSeconds: second }));
      }
      if (second === 60 && ending !== undefined) {
        await say(ending.thread, aCard(ending.run, { state: "SUCCEEDED" }));
      }
      await harness.clock.advance(1_000);
    }
    const during = writes.filter(({ kind }) => kind === "edit");
    await harness.clock.advance(5 * MINUTE_MS);

    const edits = writes.filter(({ kind }) => kind === "edit");
    expect(mostWithin(edits, MINUTE_MS)).toBeLessThanOrEqual(40);
    expect(during.length).toBeGreaterThan(55);
    for (const { thread } of runs) {
      expect(
        mostWithin(
          edits.filter(({ key }) => key === thread.key),
          2_999,
        ),
      ).toBeLessThanOrEqual(1);
    }
    const end = edits.find(({ notice }) => notice.kind === "card" && notice.card.state === "SUCCEEDED");
    expect(end?.atMs).toBe(MINUTE_MS + 60_000);
    for (const { run, thread } of others) {
      const last = aCard(run, { state: "INPROGRESS", elapsedSeconds: 119 });
      expect(harness.adapter.thread(thread.key).map(({ notice }) => notice)).toEqual([last]);
    }
  }, 120_000);

  test("the progress of one card is shown at most once in 3 s, and its end after 3 s as well", async () => {
    await harness.start();
    expect(await editsWhile(threadIn("one"), 7)).toEqual([0, 3_000, 6_000, 9_000]);
  });

  test("when a platform asks one channel to wait 30 s, its threads wait and keep their order, and other channels continue", async () => {
    await harness.start();
    const [first, second] = [threadIn("asked"), threadIn("asked")];
    const elsewhere = threadIn("other");
    harness.adapter.deliverFaults.push({
      error: new AppError("resource_unavailable", "Slow down.", { retryAfterMs: 30_000 }),
    });

    await say(first, aReply("one"), aReply("two"));
    await say(second, aReply("three"), aReply("four"));
    await say(elsewhere, aReply("five"));
    await harness.clock.advance(29_900);
    expect(writes.filter(({ key }) => key !== elsewhere.key)).toHaveLength(1);
    expect(shownIn(elsewhere)).toEqual([aReply("five")]);

    await harness.clock.advance(10_000);
    expect(shownIn(first)).toEqual([aReply("one"), aReply("two")]);
    expect(shownIn(second)).toEqual([aReply("three"), aReply("four")]);
    expect(writes.find(({ atMs }) => atMs >= 30_000)).toMatchObject({ atMs: 30_000, key: first.key });
  });
});

describe("the pace of GitHub", () => {
  beforeEach(() => {
    const { adapter } = harness;
    adapter.traits = { ...adapter.traits, pace: GITHUB_PACE };
  });

  test("when 350 runs end at once, at most 80 writes a minute and 500 an hour are made, the answers and ends first", async () => {
    await harness.start();
    const runs = Array.from({ length: 350 }, () => ({ run: aRun(), thread: aThread() }));
    const [working, ...others] = runs;
    if (working !== undefined) {
      await say(working.thread, aCard(working.run, { state: "QUEUED" }));
    }

    for (const { run, thread } of others) {
      await say(thread, aAnswer("Done."), aCard(run, { state: "SUCCEEDED" }));
    }
    if (working !== undefined) {
      await say(working.thread, aCard(working.run, { state: "INPROGRESS" }));
    }
    await harness.clock.advance(2 * HOUR_MS);

    expect(mostWithin(writes, MINUTE_MS)).toBeLessThanOrEqual(80);
    expect(mostWithin(writes, HOUR_MS)).toBeLessThanOrEqual(500);
    expect(writes).toHaveLength(2 * runs.length);
    expect(writes.at(-1)).toMatchObject({ kind: "edit", key: working?.thread.key });
  }, 120_000);

  test("a card that waits for its 15 s does not hold back the reactions", async () => {
    await harness.start();
    const { run, thread } = { run: aRun(), thread: aThread() };
    await say(thread, aCard(run, { state: "QUEUED" }));
    for (const turn of [1, 2, 3]) {
      await say(thread, aCard(run, { state: "INPROGRESS", turn }));
    }
    await say(thread, { kind: "seen", messageRef: "one" });

    expect(writes.at(-1)).toMatchObject({ atMs: 0, notice: { kind: "seen" } });
  });

  test("the progress of a card is shown at most once in 15 s, and its end at once", async () => {
    await harness.start();
    expect(await editsWhile(aThread(), 40)).toEqual([0, 15_000, 30_000, 40_000]);
  });
});

function threadIn(channel: string): ThreadBinding["thread"] {
  const thread = aThread();
  return { ...thread, key: `${channel}/${thread.id}` as ThreadKey };
}

function aAnswer(text: string): Notice {
  return { kind: "message", purpose: "answer", text };
}

/** The times of the edits of a card whose run works for some seconds and then ends. */
async function editsWhile(thread: ThreadBinding["thread"], seconds: number): Promise<readonly number[]> {
  const run = aRun();
  await say(thread, aCard(run, { state: "QUEUED" }));
  for (let second = 0; second < seconds; second += 1) {
    await say(thread, aCard(run, { state: "INPROGRESS", elapsedSeconds: second }));
    await harness.clock.advance(1_000);
  }
  await say(thread, aCard(run, { state: "SUCCEEDED" }));
  await harness.clock.advance(MINUTE_MS);
  return writes.filter(({ kind }) => kind === "edit").map(({ atMs }) => atMs);
}

async function say(thread: ThreadBinding["thread"], ...notices: readonly Notice[]): Promise<void> {
  const event = anInboxEvent();
  await harness.storage.inbox.put(event);
  await harness.storage.inbox.complete({ inboxId: event.id, disposition: "replied" }, { thread, notices });
  await quiet();
}

function shownIn({ key }: ThreadBinding["thread"]): readonly Notice[] {
  return harness.adapter.thread(key).map(({ notice }) => notice);
}

/** The largest number of writes within any time of this length. */
function mostWithin(some: readonly Write[], ms: number): number {
  let first = 0;
  let most = 0;
  for (const [index, { atMs }] of some.entries()) {
    while ((some[first]?.atMs ?? 0) <= atMs - ms) {
      first += 1;
    }
    most = Math.max(most, index - first + 1);
  }
  return most;
}
