import { expect, test } from "vitest";
import { createSlackAdapter } from "../../../src/adapters/slack/index.ts";
import { systemClock } from "../../../src/app/system.ts";
import { newId, type RunId, type ThreadKey } from "../../../src/core/basics/ids.ts";
import type { Notice, RunCard } from "../../../src/core/model/threads/notice.ts";
import type { ThreadBinding } from "../../../src/core/model/threads/thread.ts";
import type { OutboxStore } from "../../../src/core/ports/stores/outbox-store.ts";
import type { Storage } from "../../../src/core/ports/stores/storage.ts";
import type { ThreadAdapter } from "../../../src/core/ports/thread-adapter.ts";
import { OutboxDispatcher } from "../../../src/core/threads/outbox/outbox-dispatcher.ts";
import { Database } from "../../../src/storage/database.ts";
import { createPrismaStorage } from "../../../src/storage/prisma-storage.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../../support/emulated-slack.ts";
import { slackThreads } from "../../support/invariants.ts";
import { NO_JOBS } from "../../support/job-inserts.ts";
import { SILENT_LOG } from "../../support/logs.ts";
import { loopbackOnlyFetch } from "../../support/loopback-only.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { EMPTY_VIEWS } from "../../support/person-views.ts";
import { anInboxEvent, aThread } from "../../support/run-builders.ts";
import { SILENT_PUBSUB } from "../../support/silent-pubsub.ts";
import { createTestDatabase } from "../../support/test-database.ts";

const THREADS = 100;
const KILLS = 100;
const SENDERS = 4;

test("a sender that is killed 100 times during 500 notices shows each run its card once and its answer once", {
  timeout: 180_000,
}, async () => {
  const slack = await startEmulatedSlack();
  const made = await createTestDatabase();
  const database = new Database({ url: made.url, maxConnections: 10, log: SILENT_LOG });
  const clock = new ManualClock(new Date());
  const storage = createPrismaStorage({ database, clock, pubsub: SILENT_PUBSUB, jobInsert: NO_JOBS });
  try {
    const threads = await requestedThreads(slack);
    const random = createRandom(20_261_125);
    let kills = 0;
    for (const [index, noticesOf] of [beginning, ending].entries()) {
      await say(storage, threads, noticesOf);
      const most = ((index + 1) * KILLS) / 2;
      while (await isAnyWaiting(database)) {
        const callsLeft = kills < most ? 1 + Math.floor(random() * 12) : Number.POSITIVE_INFINITY;
        const process = new MortalProcess(callsLeft, random);
        await process.deliver(threads, storage, slack);
        kills += process.isDead ? 1 : 0;
      }
    }

    expect(kills).toBe(KILLS);
    for (const { runId, thread } of threads) {
      const shown = slackThreads(slack).read(thread.key);
      expect(shown.map(({ messageKey }) => messageKey).toSorted()).toEqual([
        `card:${runId}`,
        expect.stringMatching(/^message:/),
      ]);
      expect(shown.find(({ messageKey }) => messageKey === `card:${runId}`)?.says).toBe("Succeeded");
      expect(shown.filter(({ isAnswer }) => isAnswer)).toHaveLength(1);
    }
  } finally {
    await database.close();
    await made.drop();
    await slack.stop();
  }
});

interface NotifiedThread {
  readonly thread: ThreadBinding["thread"];
  readonly messageRef: string;
  readonly runId: RunId;
}

/** Threads in one channel. */
async function requestedThreads(slack: EmulatedSlack): Promise<NotifiedThread[]> {
  const threads: NotifiedThread[] = [];
  for (let index = 0; index < THREADS; index += 1) {
    const { ts } = await slack.postAs(slack.alice, { channel: "work", text: `request ${index}` });
    const key = `${slack.teamId}/${slack.channel.id}/${ts}` as ThreadKey;
    const thread = aThread({ adapter: "slack", installation: slack.teamId, key });
    threads.push({ thread, messageRef: ts, runId: newId<RunId>(new Date()) });
  }
  return threads;
}

async function say(
  { inbox }: Storage,
  threads: readonly NotifiedThread[],
  noticesOf: (thread: NotifiedThread) => readonly Notice[],
): Promise<void> {
  for (const to of threads) {
    const event = anInboxEvent();
    await inbox.put(event);
    const result = { inboxId: event.id, disposition: "replied" } as const;
    await inbox.complete(result, { thread: to.thread, notices: noticesOf(to) });
  }
}

function beginning({ messageRef, runId }: NotifiedThread): readonly Notice[] {
  return [{ kind: "seen", messageRef }, aCard(runId, "QUEUED")];
}

function ending({ messageRef, runId }: NotifiedThread): readonly Notice[] {
  return [
    { kind: "ended", messageRef, end: "done" },
    { kind: "message", purpose: "answer", text: "Done." },
    aCard(runId, "SUCCEEDED"),
  ];
}

function aCard(runId: RunId, state: RunCard["state"]): Notice {
  return { kind: "card", card: { runId, title: "Run", state, turn: 1, sessionLink: "http://here/s" } };
}

async function isAnyWaiting(database: Database): Promise<boolean> {
  const rows = await database.rows({
    text: "SELECT 1 FROM outbox_deliveries WHERE state = 'waiting' LIMIT 1",
    values: [],
  });
  return rows.length > 0;
}

/** A process that dies at a random call to Slack or to the database. What it had sent by then may have arrived. */
class MortalProcess {
  #callsLeft: number;
  readonly #random: () => number;

  constructor(callsLeft: number, random: () => number) {
    this.#callsLeft = callsLeft;
    this.#random = random;
  }

  get isDead(): boolean {
    return this.#callsLeft <= 0;
  }

  /** Ends when nothing is due, or with its death. */
  async deliver(threads: readonly NotifiedThread[], storage: Storage, slack: EmulatedSlack): Promise<void> {
    const adapter = this.#adapter(slack);
    const dispatcher = new OutboxDispatcher({
      outbox: this.#mortal(storage.outbox),
      adapters: new Map([["slack", adapter]]),
      runs: { recordDeadNotice: async () => undefined },
      installationHealth: { failed: async () => undefined, worked: async () => undefined },
      log: SILENT_LOG,
    });
    const left = threads.map(({ thread }) => thread);
    const stop = new AbortController().signal;
    const send = async () => {
      for (let thread = left.shift(); thread !== undefined && !this.isDead; thread = left.shift()) {
        await dispatcher.work(thread.id, stop).catch(() => expect(this.isDead).toBe(true));
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  /** Without limits, which another test is about. */
  #adapter({ apiUrl, botToken, signingSecret }: EmulatedSlack): ThreadAdapter {
    const { adapter } = createSlackAdapter(
      { apiUrl, botToken, signingSecret },
      {
        clock: systemClock,
        accept: async () => true,
        answerCommand: async () => "",
        searchChoices: async () => [],
        views: EMPTY_VIEWS,
        readBlob: async () => new Uint8Array(),
        log: SILENT_LOG,
        fetch: (input, init) => this.#call(() => loopbackOnlyFetch(input, init as RequestInit)),
      },
    );
    return { ...adapter, traits: { source: "SLACK", trigger: () => "@errand" } };
  }

  #mortal(outbox: OutboxStore): OutboxStore {
    return {
      take: (...args) => this.#call(() => outbox.take(...args)),
      sent: (...args) => this.#call(() => outbox.sent(...args)),
      failed: (...args) => this.#call(() => outbox.failed(...args)),
      dropped: (id) => this.#call(() => outbox.dropped(id)),
      listDue: (limit) => outbox.listDue(limit),
      prunePaces: () => outbox.prunePaces(),
    };
  }

  /** The call during which the process dies takes place, or not. */
  async #call<T>(call: () => Promise<T>): Promise<T> {
    this.#callsLeft -= 1;
    if (this.#callsLeft < 0 || (this.#callsLeft === 0 && this.#random() < 0.5)) {
      throw new Error("The process is dead.");
    }
    const answer = await call();
    if (this.isDead) {
      throw new Error("The process is dead.");
    }
    return answer;
  }
}

/** A linear congruential generator, the same on every machine. */
function createRandom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
