import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mapUpdate } from "../../../src/agents/acp/update-mapping.ts";
import type { RunEventBody } from "../../../src/core/model/runs/events.ts";
import { EventRecorder, type RecordedUpdate } from "../../../src/core/work/log/event-recorder.ts";
import { createRedactor } from "../../../src/secrets/redaction.ts";
import { withConnection } from "../../../src/storage/connection.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { createRun } from "../api/api-caller.ts";
import { type ApiHarness, startHarness } from "../api/api-harness.ts";

let harness: ApiHarness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const AGENTS = ["claude", "codex", "copilot", "gemini", "opencode", "qwen"];
/** 50,000 events take less than 17.5 MB. */
const BYTES_PER_EVENT = 350;
const EVENTS = 5_000;
/** A worker stores what an agent reports in 50 ms together. */
const BATCH = 5;

test("an event of an agent takes less than 350 bytes of the database", { timeout: 120_000 }, async () => {
  const runId = await createRun(harness);
  const recorded = await recordedEvents();
  const before = await bytes();

  for (let stored = 0; stored < EVENTS; stored += BATCH) {
    await harness.edit(runId, (edit) => {
      for (let index = stored; index < stored + BATCH; index += 1) {
        edit.record(longer(recorded[index % recorded.length], index));
      }
    });
  }

  const perEvent = ((await bytes()) - before) / EVENTS;
  expect(perEvent).toBeLessThan(BYTES_PER_EVENT);
});

/** What six agents sent to a scripted model in one conversation, as it is stored. */
async function recordedEvents(): Promise<readonly RecordedUpdate[]> {
  const stored: RecordedUpdate[] = [];
  for (const agent of AGENTS) {
    const clock = new ManualClock();
    const recorder = new EventRecorder(clock, createRedactor([]), async (updates) => {
      stored.push(...updates);
    });
    const file = join(import.meta.dirname, "../../fixtures/acp", `${agent}.jsonl`);
    for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
      const { method, params }: { method?: string; params?: { update?: unknown } } = JSON.parse(line);
      const update = method === "session/update" ? mapUpdate(params?.update) : undefined;
      if (update !== undefined) {
        recorder.add(update);
      }
      await clock.advance(60);
    }
    await recorder.flush();
  }
  return stored;
}

/** Real models write more than the scripted one: 60 characters in 50 ms are more than a thousand a second. */
function longer(event: RecordedUpdate | undefined, index: number): RunEventBody {
  if (event === undefined) {
    throw new Error("The recordings have no events.");
  }
  switch (event.kind) {
    case "agent.message":
    case "agent.thought":
      return { ...event, text: `${index} ${event.text}`.padEnd(60, " and so on, as models do") };
    case "agent.tool_call":
      return { ...event, toolCallId: `call_${index}_${event.toolCallId}` };
    default:
      return event;
  }
}

/** Of the events with their indexes. */
function bytes(): Promise<number> {
  const session = { applicationName: "errand tests", queryLimitMs: 30_000 };
  return withConnection(harness.databaseUrl, session, async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      "SELECT pg_total_relation_size('run_events') AS bytes",
    );
    return Number(rows[0]?.bytes);
  });
}
