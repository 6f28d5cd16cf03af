import { expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { type EventReader, openAll, openStream } from "../api/event-reader.ts";
import { type FaultHarness, type Worker, withFaultHarness } from "./fault-harness.ts";

const [API, WORKER] = [{ ERRAND_ROLE: "api" }, { ERRAND_ROLE: "worker" }];
const LIMIT = { timeout: 120_000 };
const STEPS = 12;
/** The first process is killed after so many events, long before the last one. */
const SEEN = 16;
const MISSED = 3;

test("event streams resumed on a replica or after a restart lose no event and repeat none", LIMIT, () =>
  withFaultHarness(async (harness) => {
    const semaphore = harness.semaphore();
    const [one, two] = await Promise.all([harness.start(API), harness.start(API), harness.start(WORKER)]);
    const other = await harness.createRun(two, work("say a run beside it"));
    const runId = await harness.createRun(one, work(semaphore.step));
    const before = await openBoth(one, runId, { run: "0", all: START });
    await before.run.until(SEEN);
    await waitFor(() => namesOf(before.all).some((name) => name.startsWith(runId)), {
      what: "the run in the log of all",
    });

    await one.end("SIGKILL");
    await Promise.all([before.run.untilOver(), before.all.untilOver()]);
    const seen = { run: lastOf(before.run), all: lastOf(before.all) };
    await harness.waitForRow(WRITTEN_SINCE, runId, Number(seen.run) + MISSED);
    const onReplica = await openBoth(two, runId, seen);
    const again = await harness.start(API, one.dataDir);
    const afterRestart = await openBoth(again, runId, seen);
    await semaphore.open();
    await again.api.waitForState(runId, "SUCCEEDED");
    await again.api.followUp(runId, work("say the last words"));
    await harness.waitForRow(TURN_ENDED, runId, 2);
    for (const id of [runId, other]) {
      await harness.waitForRow(PUT_DOWN, id);
    }

    await harness.check();
    const log = await wholeLog(harness);
    const ofRun = log.filter((name) => name.startsWith(runId));
    for (const { run, all } of [onReplica, afterRestart]) {
      await waitFor(() => before.run.ids.length + run.ids.length >= ofRun.length, {
        what: "the run's last event",
      });
      await waitFor(() => namesOf(before.all, all).length >= log.length, { what: "the last event of all" });
      expect([...before.run.ids, ...run.ids]).toEqual(ofRun.map((_, index) => index + 1));
      expect(namesOf(before.all, all).toSorted()).toEqual(log);
      const cursors = [before.all, all].flatMap(({ events }) => events.map(({ cursor }) => cursor));
      expect(new Set(cursors).size).toBe(cursors.length);
      expect([...run.events, ...all.events].filter(({ kind }) => kind === "reset")).toEqual([]);
    }
    // Both replicas send the events of all runs in the same order.
    expect(namesOf(onReplica.all)).toEqual(namesOf(afterRestart.all));
    for (const { run, all } of [onReplica, afterRestart]) {
      run.leave();
      all.leave();
    }
  }),
);

const START = Symbol("from the start");
const WRITTEN_SINCE = "SELECT 1 FROM runs WHERE id = $1 AND last_seq >= $2";
/** The run has ended and its lease is released, so nothing more is written. */
const PUT_DOWN = "SELECT 1 FROM runs WHERE id = $1 AND state = 'SUCCEEDED' AND lease_token IS NULL";
const TURN_ENDED = "SELECT 1 FROM run_events WHERE run_id = $1 AND turn = $2 AND kind = 'turn.ended'";

/** A prompt that produces many events in sequence, and then `last`. */
function work(last: string): string {
  const steps = Array.from({ length: STEPS }, (_, index) => `shell sleep 0.1; echo ${index}`);
  return [...steps, last].join("\n");
}

interface Readers {
  readonly run: EventReader;
  readonly all: EventReader;
}

/** Opens the run's stream and that of all runs, after the last event seen of each. */
async function openBoth(
  { url, apiKey: key }: Worker,
  runId: string,
  seen: { readonly run: string; readonly all: string | typeof START },
): Promise<Readers> {
  const positionAfter = (cursor: string) => ({ headers: { "last-event-id": cursor } });
  return {
    run: await openStream({ url, key }, runId, { query: "?follow=true", ...positionAfter(seen.run) }),
    all: await openAll(
      { url, key },
      seen.all === START ? { query: "?after=start" } : positionAfter(seen.all),
    ),
  };
}

function lastOf({ events }: EventReader): string {
  const last = events.at(-1);
  if (last === undefined) {
    throw new Error("No event was received.");
  }
  return last.cursor;
}

function namesOf(...readers: readonly EventReader[]): string[] {
  return readers.flatMap(({ events }) => events.map(({ data }) => nameOf(data)));
}

async function wholeLog(harness: FaultHarness): Promise<string[]> {
  const rows = await harness.rows<{ run_id: string; seq: number }>(
    "SELECT run_id::text, seq FROM run_events",
  );
  return rows.map(nameOf).toSorted();
}

function nameOf({ run_id, seq }: { readonly run_id: string; readonly seq: number }): string {
  return `${run_id} ${String(seq).padStart(4, "0")}`;
}
