import { expect, test } from "vitest";
import type { RunEvent, RunEventBody } from "../../../../../src/core/model/runs/events.ts";
import {
  CONVERSATION_LENGTH_MAX,
  type ConversationDeps,
  readConversation,
} from "../../../../../src/core/requests/conversations/read-conversation.ts";
import { aRun } from "../../../../support/run-builders.ts";

const WORDS = "x".repeat(2 ** 20);
const SAID: RunEventBody = { kind: "agent.message", text: WORDS };
const AT = new Date("2026-03-01T12:00:00.000Z");

/** Returns a run with one turn, in which the agent says a mebibyte this many times. */
function talkative(times: number) {
  return loggedRun([
    { kind: "turn.started", followUpIds: [], again: false },
    ...Array.from({ length: times }, () => SAID),
    { kind: "turn.ended", stopReason: "end_turn", answer: "That was long." },
  ]);
}

function loggedRun(bodies: readonly RunEventBody[]) {
  const run = aRun({ prompt: "Talk", lastSeq: bodies.length });
  const events = bodies.map(
    (body, index) => ({ runId: run.id, seq: index + 1, turn: 1, at: AT, body }) as RunEvent,
  );
  return { run, events };
}

function partsOf(...told: readonly ReturnType<typeof talkative>[]): ConversationDeps {
  return {
    runs: { list: async () => ({ runs: told.map(({ run }) => run).reverse() }) },
    positions: { lastSeqBeforeTurn: async () => 0 },
    followUps: { listFromTurn: async () => [] },
    log: {
      readEvents: async (id, after, limit) =>
        told.find(({ run }) => run.id === id)?.events.slice(after, after + limit) ?? [],
    },
  };
}

async function read(...told: readonly ReturnType<typeof talkative>[]) {
  const viewer = {} as Parameters<typeof readConversation>[2];
  const { steps } = await readConversation(partsOf(...told), "any", viewer);
  return steps.map(({ messages, summary }) => {
    const blocks = messages.flatMap(({ content }) => content);
    const length = blocks.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
    const leftOut = blocks.flatMap((block) =>
      block.type === "event" && block.name === "left_out" ? [block.data] : [],
    );
    return { length, leftOut, summary };
  });
}

test("a conversation that is too long is cut and says how much is left out", async () => {
  const room = CONVERSATION_LENGTH_MAX / WORDS.length;

  const [first, second] = await read(talkative(room - 10), talkative(30));

  expect(first).toMatchObject({ leftOut: [], summary: "That was long." });
  expect((first?.length ?? 0) + (second?.length ?? 0)).toBeGreaterThan(
    CONVERSATION_LENGTH_MAX - 2 * WORDS.length,
  );
  expect((first?.length ?? 0) + (second?.length ?? 0)).toBeLessThan(CONVERSATION_LENGTH_MAX);
  expect(second).toMatchObject({ leftOut: [{ events: 21 }], summary: "That was long." });
});

test("a conversation within the limit is complete", async () => {
  expect(await read(talkative(3))).toMatchObject([{ leftOut: [], length: 3 * WORDS.length + "Talk".length }]);
});

test("a conversation with too many long follow-ups leaves out the last ones and says how many", async () => {
  const room = CONVERSATION_LENGTH_MAX / WORDS.length;
  const ids = Array.from({ length: room + 9 }, (_, index) => `follow-up-${index}`);
  const received = ids.map(
    (followUpId): RunEventBody => ({
      kind: "followup.received",
      followUpId,
      message: WORDS,
      authorId: "ann",
      delivery: "queue",
    }),
  );
  const edit: RunEventBody = {
    kind: "followup.edited",
    followUpId: "follow-up-0",
    message: WORDS,
    editedBy: "ann",
  };
  const taken: RunEventBody = { kind: "turn.started", followUpIds: ids, again: false };

  const [step] = await read(loggedRun([...received, edit, taken]));

  // Each event has some characters besides its message, so one message less than the limit fits.
  expect(step).toMatchObject({
    leftOut: [{ events: 11 }],
    length: (room - 2) * WORDS.length + "Talk".length,
  });
});

test("the last steps of a run say how many of their follow-ups are left out", async () => {
  const { run, events } = loggedRun([{ kind: "turn.started", followUpIds: ["long", "short"], again: false }]);
  const deps = partsOf({ run: { ...run, turn: 2 }, events: events.map((event) => ({ ...event, turn: 2 })) });
  const followUps = [
    { id: "long", turn: 2, createdAt: AT },
    { id: "short", turn: 2, createdAt: AT, message: "Go on" },
    { id: "waiting", createdAt: AT },
  ];
  const viewer = {} as Parameters<typeof readConversation>[2];

  const { steps } = await readConversation(
    { ...deps, followUps: { listFromTurn: async () => followUps } },
    "any",
    viewer,
    { limit: 2 },
  );

  const blocks = steps.flatMap(({ messages }) => messages.flatMap(({ content }) => content));
  expect(blocks).toEqual([
    { type: "text", text: "Go on" },
    { type: "event", name: "left_out", data: { events: 2 } },
  ]);
});
