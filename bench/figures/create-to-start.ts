import { setTimeout as pause } from "node:timers/promises";
import type { Bench, Figure } from "../bench.ts";
import { type Goal, type Row, round, valueRow } from "../report.ts";
import { query } from "../setup/postgres.ts";
import { type Service, startService } from "../setup/service.ts";
import { quantile, spreadOf } from "../statistics.ts";

const STATES = ["PENDING", "CLAIMED", "INPROGRESS"] as const;
type State = (typeof STATES)[number];
type Waits = Readonly<Record<State, readonly number[]>>;

/** Runs that are created at a steady rate, and the states whose delays are reported. */
interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
  readonly config: Readonly<Record<string, unknown>>;
  readonly reportedStates: readonly State[];
}

const SLOTS = 100;
const OFTEN_PER_SECOND = 20;
/**
 * The rate of the goal, as long as no run waits for a free place on a worker. The agent starts, prints nothing and
 * exits, because two cores can begin twenty attempts per second, but cannot start Node twenty times per second.
 */
const OFTEN: Pace = {
  perSecond: OFTEN_PER_SECOND,
  seconds: SLOTS / OFTEN_PER_SECOND,
  config: { harness: { type: "custom" } },
  reportedStates: ["PENDING"],
};
const SILENT_AGENT = "sleep 8";
/**
 * A rate at which the demo agent starts without contention. It is a Node process that needs 0.1 s of a core to start.
 */
const SELDOM: Pace = { perSecond: 1, seconds: 20, config: {}, reportedStates: STATES };

const WAIT_MS = 20;
const WAIT_LIMIT_MS = 60_000;

/**
 * P6: the time from sending the request until every transaction sees the run in a state. PENDING: a worker has
 * claimed it; the goal is stated for this state and a minimal agent. CLAIMED: its workspace is ready. INPROGRESS: the
 * agent, a separate process, has received the prompt.
 */
export const createToStart: Figure = {
  names: ["P6"],
  measure: async (bench) => {
    const url = await bench.postgres.database("create_to_start");
    const service = await startService(bench.folder, url, {
      ERRAND_ROLE: "all",
      ERRAND_SANDBOX: "local",
      ERRAND_CONCURRENCY: String(SLOTS),
      ERRAND_AGENT_COMMAND: SILENT_AGENT,
    });
    bench.cleanup.defer(() => service.child.stop());
    return [
      ...(await measurePace(bench, service, url, OFTEN)),
      ...(await measurePace(bench, service, url, SELDOM)),
    ];
  },
};

const GOALS: Readonly<Record<string, Goal>> = {
  "PENDING at 20/s, p50": { reach: 10, aim: 5, wants: "less" },
  "PENDING at 20/s, p99": { reach: 50, aim: 15, wants: "less" },
  "INPROGRESS at 1/s, p50": { reach: 250, aim: 120, wants: "less" },
  "INPROGRESS at 1/s, p99": { reach: 500, aim: 250, wants: "less" },
};

async function measurePace(
  bench: Bench,
  service: Service,
  databaseUrl: string,
  pace: Pace,
): Promise<readonly Row[]> {
  bench.log(`P6: create to ${pace.reportedStates.at(-1)}, ${pace.perSecond} a second`);
  const rounds: Waits[] = [];
  await measure(bench, service, databaseUrl, pace);
  for (let index = 0; index < bench.options.rounds; index += 1) {
    rounds.push(await measure(bench, service, databaseUrl, pace));
  }
  return pace.reportedStates.flatMap((state) =>
    [0.5, 0.99].map((share) => rowOf(pace, state, share, rounds)),
  );
}

function rowOf({ perSecond }: Pace, state: State, share: number, rounds: readonly Waits[]): Row {
  const what = `${state} at ${perSecond}/s, p${share * 100}`;
  const values = rounds.map((waits) => quantileOf(waits[state], share));
  return valueRow({ figure: "P6", what: `create to ${what}` }, spreadOf(values), GOALS[what], "ms");
}

/** How long each run of a round took to reach each state. */
async function measure({ log }: Bench, service: Service, databaseUrl: string, pace: Pace): Promise<Waits> {
  const sentAtMs = new Map<string, number>();
  const creating: Promise<void>[] = [];
  for (let left = pace.seconds * pace.perSecond; left > 0; left -= 1) {
    creating.push(create(service, pace, sentAtMs));
    await pause(1_000 / pace.perSecond);
  }
  await Promise.all(creating);
  const waits = await readWaits(databaseUrl, sentAtMs);
  log(`  p50 ${STATES.map((state) => `${state} ${round(quantileOf(waits[state], 0.5))} ms`).join(", ")}`);
  return waits;
}

async function create(
  { headers, url }: Service,
  { config }: Pace,
  sentAtMs: Map<string, number>,
): Promise<void> {
  const sent = Date.now();
  const answer = await fetch(`${url}/api/v1/agent/runs`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Say hello.", config }),
  });
  if (!answer.ok) {
    throw new Error(`Create was answered ${answer.status}: ${await answer.text()}`);
  }
  sentAtMs.set(((await answer.json()) as { run_id: string }).run_id, sent);
}

function quantileOf(waits: readonly number[], share: number): number {
  return quantile(
    waits.toSorted((a, b) => a - b),
    share,
  );
}

const REACHED = `
  SELECT run_id, body ->> 'to' AS state, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at_ms
  FROM run_events
  WHERE run_id = ANY ($1::uuid[]) AND kind = 'run.state' ORDER BY seq`;
const PUT_AWAY = `
  SELECT FROM runs WHERE id = ANY ($1::uuid[]) AND ended_at IS NOT NULL AND lease_token IS NULL`;

type Reached = { readonly run_id: string; readonly state: string; readonly at_ms: string };

/**
 * Returns when the transaction of each state change was committed, which is when others see it. First waits until all
 * runs of the round have ended.
 */
async function readWaits(databaseUrl: string, sentAtMs: ReadonlyMap<string, number>): Promise<Waits> {
  const ids = [...sentAtMs.keys()];
  const deadline = Date.now() + WAIT_LIMIT_MS;
  while ((await query(databaseUrl, PUT_AWAY, [ids])).length < ids.length) {
    if (Date.now() > deadline) {
      throw new Error("The runs do not come to their end.");
    }
    await pause(WAIT_MS);
  }
  const reached = await query<Reached>(databaseUrl, REACHED, [ids]);
  const waits = (state: State) =>
    reached
      .filter((row) => row.state === state)
      .map((row) => Number(row.at_ms) - (sentAtMs.get(row.run_id) ?? 0));
  return { PENDING: waits("PENDING"), CLAIMED: waits("CLAIMED"), INPROGRESS: waits("INPROGRESS") };
}
