import type { Client } from "pg";
import type { EmulatedGithub } from "./emulated-github.ts";
import type { EmulatedSlack, SlackMessage } from "./emulated-slack.ts";
import { isEnded, type LogEntry, readLogs } from "./invariants-log.ts";
import { asRecord } from "./json.ts";

/** What users see in the threads of one outside system. */
export interface ThreadReader {
  readonly adapter: string;
  /** The bot's messages in the thread. */
  read(threadKey: string): readonly ShownMessage[];
  /** All texts that the bot has posted anywhere. */
  texts(): readonly string[];
}

export interface ShownMessage {
  /** The key by which the adapter finds the message again: the run's card, or one delivery. */
  readonly messageKey: string;
  /** The words for a state on a card. */
  readonly says: string;
  readonly isAnswer: boolean;
  /** It stands in a part of the thread, such as a review thread. */
  readonly isInPart?: boolean;
}

/** The words of the cards for each state. */
const STATE_WORDS: Readonly<Record<string, readonly string[]>> = {
  QUEUED: ["Queued"],
  PENDING: ["Preparing the workspace"],
  CLAIMED: ["Starting the agent"],
  INPROGRESS: ["Working"],
  BLOCKED: ["Waiting for an answer", "Waiting for approval"],
  SUCCEEDED: ["Succeeded", "Done"],
  FAILED: ["Failed"],
  ERROR: ["Error", "Stopped by an error"],
  CANCELLED: ["Cancelled"],
};

export function slackThreads(slack: EmulatedSlack): ThreadReader {
  const { channel: main, closedChannel, otherWorkspace, privateChannel } = slack;
  const bots = [slack.botUserId, otherWorkspace.botUserId];
  const isOurs = ({ userId }: SlackMessage) => bots.includes(userId);
  const channels = [main, privateChannel, closedChannel, otherWorkspace.channel("work")];
  return {
    adapter: "slack",
    read: (key) => {
      const [, channel = "", threadTs = ""] = key.split("/");
      // A direct conversation is one thread.
      const messages =
        threadTs === "" ? slack.channelMessages(channel) : slack.threadMessages(channel, threadTs);
      return messages.filter(isOurs).map(shownInSlack);
    },
    texts: () =>
      channels.flatMap(({ id }) =>
        slack
          .channelMessages(id)
          .filter(isOurs)
          .map((message) => JSON.stringify(message)),
      ),
  };
}

function shownInSlack({ blocks, metadata, text }: SlackMessage): ShownMessage {
  const { message_key: messageKey, delivery_id: id } = asRecord(metadata?.event_payload ?? {});
  const heading = JSON.stringify(blocks[0] ?? {});
  const isFirst = blocks[1]?.type === "markdown" && !/part [2-9] of/.test(heading);
  const isAnswer = isFirst || /\*How it ended\*/.test(heading);
  return { messageKey: String(messageKey ?? id), says: text.split(" · ").at(-1) ?? "", isAnswer };
}

export function githubThreads(github: EmulatedGithub): ThreadReader {
  const ours = (number: number) =>
    github.comments(github.repo.fullName, number).filter(({ author }) => author === github.app.botLogin);
  const seen = new Set<number>();
  return {
    adapter: "github",
    read: (key) => {
      const number = Number(/issues\/(\d+)/.exec(key)?.[1]);
      seen.add(number);
      return ours(number).map(({ body, kind }) => ({
        isInPart: kind === "review",
        messageKey: /<!-- errand:(?:message-key|delivery)=(\S+) -->/.exec(body)?.[1] ?? "",
        says: /^\*\*([^*]+)\*\*/m.exec(body)?.[1] ?? "",
        isAnswer: /^(@\S+ )?\*\*(The agent's answer|How it ended):\*\*/m.test(body),
      }));
    },
    texts: () => [...seen].flatMap((number) => ours(number).map(({ body }) => body)),
  };
}

interface Binding {
  readonly run_id: string;
  readonly thread_id: string;
  readonly adapter: string;
  readonly key: string;
  readonly shows_card: boolean;
}

/** I4. A thread that was bound to another run gets no more messages of the previous run. */
export async function findWrongThreads(
  client: Client,
  readers: readonly ThreadReader[],
): Promise<readonly string[]> {
  const { rows } = await client.query<Binding>(
    "SELECT run_id::text, id::text AS thread_id, adapter, key, shows_card FROM threads WHERE run_id IS NOT NULL",
  );
  // Also the threads that belong to another run now. They keep what was said in them.
  const { rows: everBound } = await client.query<Binding>(`
    SELECT thread_runs.run_id::text, id::text AS thread_id, adapter, key, threads.shows_card
    FROM thread_runs JOIN threads ON id = thread_id`);
  const runs = new Map((await readLogs(client)).map((run) => [run.id, run]));
  return rows.flatMap((binding) => {
    const run = runs.get(binding.run_id);
    const reader = readers.find(({ adapter }) => adapter === binding.adapter);
    if (run === undefined || reader === undefined) {
      return [];
    }
    const shown = reader.read(binding.key);
    const answers = countAnswers(run.events, binding.thread_id);
    const others = everBound.filter((row) => row.run_id === run.id && row.thread_id !== binding.thread_id);
    const elsewhere = others.flatMap(({ adapter, key }) =>
      readers.filter((one) => one.adapter === adapter).flatMap((one) => one.read(key)),
    );
    return [
      ...findDoubled(shown, binding),
      ...findWrongCard(shown, { ...binding, state: run.state, words: wordsFor(run.state, run.events) }),
      ...findWrongAnswers({ shown, elsewhere }, { ...binding, answers }),
    ];
  });
}

function findDoubled(shown: readonly ShownMessage[], { key }: Binding): readonly string[] {
  const keys = shown.map(({ messageKey }) => messageKey);
  const doubled = new Set(keys.filter((messageKey, index) => keys.indexOf(messageKey) !== index));
  return [...doubled].map((messageKey) => `I4 ${messageKey} is shown twice in ${key}`);
}

/** A run that succeeded and did not hand over everything has words of its own. */
function wordsFor(state: string, events: readonly LogEntry[]): readonly string[] {
  const status = events.findLast(({ kind }) => kind === "run.state")?.body.status?.message ?? "";
  const [, shortfall] = /^(Done, but [^.]*)\./.exec(status) ?? [];
  return state === "SUCCEEDED" && shortfall !== undefined ? [shortfall] : (STATE_WORDS[state] ?? []);
}

function findWrongCard(
  shown: readonly ShownMessage[],
  {
    run_id: runId,
    key,
    shows_card: showsCard,
    state,
    words,
  }: Binding & { readonly state: string; readonly words: readonly string[] },
): readonly string[] {
  const cards = shown.filter(({ messageKey }) => messageKey === `card:${runId}`);
  const isRight = cards.length > 0 === showsCard && cards.every(({ says }) => words.includes(says));
  if (isRight) {
    return [];
  }
  return [
    `I4 run ${runId} is ${state}, its card in ${key} says: ${cards.map(({ says }) => says).join(" and ")}`,
  ];
}

/**
 * In a thread that had several runs, their answers cannot be distinguished. An answer is shown to those who asked: in the
 * only thread of its run exactly once; otherwise in one of the threads, and in each part in which a user asked.
 */
function findWrongAnswers(
  {
    elsewhere,
    shown,
  }: { readonly shown: readonly ShownMessage[]; readonly elsewhere: readonly ShownMessage[] },
  { run_id: runId, key, answers }: Binding & { readonly answers: number },
): readonly string[] {
  const isOnlyRun = shown.every(
    ({ messageKey }) => !messageKey.startsWith("card:") || messageKey === `card:${runId}`,
  );
  const all = [...shown, ...elsewhere].filter(({ isAnswer }) => isAnswer);
  const said = all.length;
  const isOnePlace = elsewhere.length === 0 && !all.some(({ isInPart }) => isInPart);
  if (!isOnlyRun || said === answers || (!isOnePlace && said > answers)) {
    return [];
  }
  return [`I4 run ${runId} has closing words of ${answers} ends and turns, ${key} shows ${said}`];
}

/**
 * The number of answers that the log requires since the thread was bound: one for each end, and one for each turn
 * before a follow-up.
 */
function countAnswers(events: readonly LogEntry[], threadId: string): number {
  const boundAt = events.find(({ kind, body }) => kind === "thread.bound" && body.threadId === threadId)?.seq;
  let answer = "";
  let count = 0;
  for (const { kind, body, seq } of events) {
    if (kind === "turn.ended") {
      answer = body.answer ?? "";
    }
    const isEnd = kind === "run.state" && isEnded(body.to);
    if (!isEnd && kind !== "turn.started") {
      continue;
    }
    const words = isEnd && body.to !== "SUCCEEDED" ? (body.status?.message ?? "") : answer;
    if (words !== "" && boundAt !== undefined && seq > boundAt) {
      count += 1;
    }
    answer = "";
  }
  return count;
}
