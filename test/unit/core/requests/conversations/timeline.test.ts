import { expect, test } from "vitest";
import type { RunEvent, RunEventBody } from "../../../../../src/core/model/runs/events.ts";
import { type TimelineEntry, timelineOf } from "../../../../../src/core/requests/conversations/timeline.ts";
import { aRun } from "../../../../support/run-builders.ts";

const run = aRun();

test("each event belongs to the attempt that was active then, starting with its claim", async () => {
  const bodies: readonly RunEventBody[] = [
    { kind: "run.created", state: "QUEUED" },
    { kind: "run.state", from: "QUEUED", to: "PENDING" },
    { kind: "attempt.started", attempt: 1, worker: "w" },
    { kind: "attempt.ended", attempt: 1, reason: "lost" },
    { kind: "run.state", from: "PENDING", to: "QUEUED" },
    { kind: "run.state", from: "QUEUED", to: "PENDING" },
    { kind: "attempt.started", attempt: 2, worker: "w" },
    { kind: "turn.started", followUpIds: [], again: false },
  ];
  const events = bodies.map((body, index) => ({
    runId: run.id,
    seq: index + 1,
    turn: 0,
    at: new Date(),
    body,
  }));

  const entries: TimelineEntry[] = [];
  for await (const entry of timelineOf(inPages(events, 3))) {
    entries.push(entry);
  }

  expect(entries.map(({ attempt }) => attempt)).toEqual([undefined, 1, 1, 1, undefined, 2, 2, 2]);
  expect(entries.map(({ event }) => event)).toEqual(events);
});

async function* inPages(events: readonly RunEvent[], length: number): AsyncGenerator<readonly RunEvent[]> {
  for (let index = 0; index < events.length; index += length) {
    yield events.slice(index, index + length);
  }
}
