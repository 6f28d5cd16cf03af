import { beforeEach, describe, expect, test } from "vitest";
import { PACE as GITHUB_PACE, writesOf as githubWritesOf } from "../../../../../src/adapters/github/pace.ts";
import { PACE as SLACK_PACE } from "../../../../../src/adapters/slack/pace.ts";
import { AppError } from "../../../../../src/core/basics/errors.ts";
import type { ThreadKey } from "../../../../../src/core/basics/ids.ts";
import type { Run } from "../../../../../src/core/model/runs/run.ts";
import type { RunState } from "../../../../../src/core/model/runs/states.ts";
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
    adapter.traits = { ...adapter.traits, pace: GITHUB_PACE, writesOf: (notice) => githubWritesOf(notice) };
  });

  test("100 runs in an hour, 20 of them in one minute: each has card and answer, and no answer waits", async () => {
    await harness.start();
    const starts = [...times(80, HOUR_MS), ...times(20, MINUTE_MS).map((atMs) => HOUR_MS / 2 + atMs)];

    const runs = await work(starts);

    for (const { answeredMs, answers, cards } of runs) {
      expect([answers, cards]).toEqual([["Done."], ["SUCCEEDED"]]);
      expect(answeredMs).toBeLessThanOrEqual(1_000);
    }
    expectLimits();
    expect(writes.filter(({ notice }) => notice.kind === "seen")).toHaveLength(100);
  }, 120_000);

  test("300 runs in an hour: the answers come first, and the cards once there is room", async () => {
    await harness.start();

    const runs = await work(times(300, HOUR_MS));

    const late = runs.filter(({ answeredMs }) => answeredMs > MINUTE_MS);
    const cardsBefore = writes.filter(
      ({ atMs, kind, notice }) => kind === "post" && notice.kind === "card" && atMs < HOUR_MS,
    );
    expectLimits();
    for (const { answers, cards } of runs) {
      expect([answers, cards]).toEqual([["Done."], ["SUCCEEDED"]]);
    }
    // An answer with its pull request counts twice. While answers wait, no card takes their place.
    expect(runs.length - late.length).toBeGreaterThanOrEqual(130);
    expect(cardsBefore.length).toBeLessThanOrEqual(100);
  }, 120_000);

  test("a limit of GitHub's is believed: all wait, and edits count as comments for an hour", async () => {
    await harness.start();
    const runs = Array.from({ length: 60 }, () => ({ run: aRun(), thread: aThread() }));
    for (const { run, thread } of runs) {
      await say(thread, aCard(run, { state: "INPROGRESS" }));
    }
    await harness.clock.advance(10 * MINUTE_MS);
    const retryAfterMs = 5 * MINUTE_MS;
    harness.adapter.deliverFaults.push({
      error: new AppError("resource_unavailable", "Slow down.", { retryAfterMs }),
    });
    const askedMs = harness.clock.elapsedMs();

    for (const { run, thread } of runs) {
      await say(thread, aCard(run, { state: "SUCCEEDED" }));
    }
    await harness.clock.advance(retryAfterMs - 1);
    expect(writes.filter(({ atMs }) => atMs >= askedMs)).toHaveLength(1);
    await harness.clock.advance(10 * MINUTE_MS);

    const edits = writes.filter(({ atMs }) => atMs >= askedMs + retryAfterMs);
    expect(edits.length).toBeGreaterThan(45);
    expect(mostWithin(edits, MINUTE_MS)).toBeLessThanOrEqual(6);
  }, 120_000);

  test("while fewer than 100 comments are left, progress, checks and final reactions are dropped, and 👀 is not", async () => {
    await harness.start();
    const { run, thread } = { run: aRun(), thread: aThread() };
    await say(thread, aCard(run, { state: "QUEUED" }));
    for (let index = 0; index < 140; index += 1) {
      await say(aThread(), aReply(`${index}`));
    }
    await harness.clock.advance(4 * MINUTE_MS);
    const before = writes.length;

    await say(thread, aCard(run, { state: "INPROGRESS" }), { kind: "ended", messageRef: "one", end: "done" });
    await say(thread, aCheck(run, "INPROGRESS"));
    await say(thread, { kind: "seen", messageRef: "two" }, aCard(run, { state: "SUCCEEDED" }));
    await say(thread, aCheck(run, "SUCCEEDED"));
    await harness.clock.advance(2 * HOUR_MS);

    const after = writes
      .slice(before)
      .map(({ notice }) => (notice.kind === "card" ? notice.card.state : notice.kind));
    expect(after.toSorted()).toEqual(["SUCCEEDED", "seen"]);
  }, 120_000);

  test("a check that is shown ends, also while fewer than 100 comments are left", async () => {
    await harness.start();
    const { run, thread } = { run: aRun(), thread: aThread() };
    await say(thread, aCheck(run, "INPROGRESS"));
    for (let index = 0; index < 140; index += 1) {
      await say(aThread(), aReply(`${index}`));
    }
    await harness.clock.advance(4 * MINUTE_MS);

    await say(thread, aCheck(run, "SUCCEEDED"));

    expect(shownIn(thread)).toEqual([aCheck(run, "SUCCEEDED")]);
  }, 120_000);

  test("while an answer waits for the hour's limit, the last card says until when, in the edit that is made anyway", async () => {
    await harness.start();
    const { run, thread } = { run: aRun(), thread: aThread() };
    await say(thread, aCard(run, { state: "INPROGRESS" }));
    for (let index = 0; index < 300; index += 1) {
      await say(aThread(), aReply(`${index}`));
    }
    await harness.clock.advance(10 * MINUTE_MS);
    const before = writes.length;

    await say(
      thread,
      { ...aReply("Done."), purpose: "answer" } as Notice,
      aCard(run, { state: "SUCCEEDED" }),
    );
    await harness.clock.advance(MINUTE_MS);

    const own = writes.slice(before).filter(({ key }) => key === thread.key);
    expect(own).toMatchObject([{ kind: "edit", notice: { card: { message: expect.any(String) } } }]);
    const [, until] =
      /^No more messages of this app are accepted here until (\d\d:\d\d) UTC; the answer follows then\.$/.exec(
        own.flatMap(({ notice }) => (notice.kind === "card" ? [notice.card.message] : []))[0] ?? "",
      ) ?? [];
    await harness.clock.advance(HOUR_MS);
    const answer = writes.find(
      ({ key, kind, notice }) => key === thread.key && kind === "post" && notice.kind === "message",
    );
    const sentAt = new Date(harness.clock.now().getTime() - harness.clock.elapsedMs() + (answer?.atMs ?? 0));
    expect(sentAt.toISOString().slice(11, 16)).toBe(until);
    expect(writes.filter(({ key }) => key === thread.key).slice(-1)).toEqual([answer]);
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

function times(count: number, withinMs: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor((index * withinMs) / count));
}

interface DoneRun {
  /** How long the answer waited. */
  readonly answeredMs: number;
  readonly answers: readonly string[];
  readonly cards: readonly string[];
}

/** Runs that begin at these times, work for half a minute, and open a pull request. */
async function work(starts: readonly number[]): Promise<readonly DoneRun[]> {
  const runs = starts.map((startMs) => ({ startMs, run: aRun(), thread: aThread() }));
  const steps = runs.flatMap(({ run, startMs, thread }) => [
    { atMs: startMs, in: thread, notices: [SEEN, aCard(run, { state: "QUEUED" })] },
    { atMs: startMs + 5_000, in: thread, notices: [aCard(run, { state: "INPROGRESS" })] },
    {
      atMs: startMs + WORK_MS,
      in: thread,
      notices: [WITH_PULL_REQUEST, aCard(run, { state: "SUCCEEDED" }), ENDED],
    },
  ]);
  for (const step of steps.toSorted((one, other) => one.atMs - other.atMs)) {
    await harness.clock.advance(Math.max(0, step.atMs - harness.clock.elapsedMs()));
    await say(step.in, ...step.notices);
  }
  await harness.clock.advance(4 * HOUR_MS);
  return runs.map(({ startMs, thread }) => {
    const own = writes.filter(({ key }) => key === thread.key);
    const answer = own.find(({ notice }) => notice.kind === "message");
    const shown = shownIn(thread);
    return {
      answeredMs: (answer?.atMs ?? Number.POSITIVE_INFINITY) - startMs - WORK_MS,
      answers: shown.flatMap((notice) => (notice.kind === "message" ? [notice.text] : [])),
      cards: shown.flatMap((notice) => (notice.kind === "card" ? [notice.card.state] : [])),
    };
  });
}

const WORK_MS = 30_000;
const SEEN: Notice = { kind: "seen", messageRef: "one" };
const ENDED: Notice = { kind: "ended", messageRef: "one", end: "done" };
const WITH_PULL_REQUEST: Notice = {
  kind: "message",
  purpose: "answer",
  text: "Done.",
  landed: [
    {
      repository: "acme/widgets",
      pullRequest: "https://forge.example/pull/1",
      files: 1,
      additions: 1,
      deletions: 0,
    },
  ],
};

/** Of comments and pull requests 80 a minute and 500 an hour, and of all writes 180 a minute, which are 900 points. */
function expectLimits(): void {
  const content = writes
    .filter(({ kind, notice }) => kind === "post" && notice.kind !== "seen" && notice.kind !== "ended")
    .flatMap((write) => Array<Write>(githubWritesOf(write.notice)).fill(write));
  expect(mostWithin(content, MINUTE_MS)).toBeLessThanOrEqual(80);
  expect(mostWithin(content, HOUR_MS)).toBeLessThanOrEqual(500);
  expect(mostWithin(writes, MINUTE_MS)).toBeLessThanOrEqual(180);
}

function threadIn(channel: string): ThreadBinding["thread"] {
  const thread = aThread();
  return { ...thread, key: `${channel}/${thread.id}` as ThreadKey };
}

function aCheck({ id: runId }: Run, state: RunState): Notice {
  return { kind: "check", check: { runId, state, sessionLink: "https://errand.example" } };
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
