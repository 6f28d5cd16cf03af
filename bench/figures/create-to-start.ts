import { setTimeout as pause } from "node:timers/promises";
import type { Bench, Figure } from "../bench.ts";
import { query } from "../ground/postgres.ts";
import { type Service, startService } from "../ground/service.ts";
import { type Row, valueRow } from "../report.ts";
import { quantile, spreadOf } from "../statistics.ts";

/** An agent is a process that takes 0.1 s of a core and more to start, so two cores bear few of them a second. */
const PER_SECOND = 1;
const RUNS_PER_ROUND = 20;
const WAIT_MS = 20;
const WAIT_LIMIT_MS = 60_000;
const STATES = ["PENDING", "CLAIMED", "INPROGRESS"] as const;
type State = (typeof STATES)[number];

/**
 * P6: from sending the request until everybody can see the run in a state. PENDING: a worker has it. CLAIMED: its
 * workspace is ready. INPROGRESS: the demo agent, a process of its own, has taken the prompt.
 */
export const createToStart: Figure = {
  names: ["P6"],
  measure: async (bench) => {
    bench.tell(`P6: create to INPROGRESS, ${PER_SECOND} a second`);
    const url = await bench.postgres.database("create_to_start");
    const service = await startService(bench.folder, url, {
      ERRAND_ROLE: "all",
      ERRAND_SANDBOX: "local",
      ERRAND_CONCURRENCY: "16",
    });
    bench.undo.defer(() => service.child.stop());
    const rounds: Readonly<Record<State, readonly number[]>>[] = [];
    await measure(bench, service, url);
    for (let index = 0; index < bench.options.rounds; index += 1)
      rounds.push(await measure(bench, service, url));
    return STATES.flatMap((state) => [0.5, 0.99].map((share) => rowOf(state, share, rounds)));
  },
};

/** The contract's figure is INPROGRESS; the others tell where its time goes. */
const GOALS = {
  0.5: { reach: 10, aim: 5, wants: "less" },
  0.99: { reach: 50, aim: 15, wants: "less" },
} as const;

function rowOf(
  state: State,
  share: number,
  rounds: readonly Readonly<Record<State, readonly number[]>>[],
): Row {
  const what = `create to ${state}, p${share * 100}`;
  const values = rounds.map((waits) =>
    quantile(
      waits[state].toSorted((a, b) => a - b),
      share,
    ),
  );
  const goal = state === "INPROGRESS" ? GOALS[share as keyof typeof GOALS] : undefined;
  return valueRow({ figure: "P6", what }, spreadOf(values), goal, "ms");
}

/** How long each run of a round took to reach each state. */
async function measure(
  { tell }: Bench,
  { headers, url }: Service,
  databaseUrl: string,
): Promise<Readonly<Record<State, readonly number[]>>> {
  const sentAtMs = new Map<string, number>();
  const create = async () => {
    const sent = Date.now();
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: BODY };
    const answer = await fetch(`${url}/api/v1/agent/runs`, init);
    if (!answer.ok) throw new Error(`Create was answered ${answer.status}: ${await answer.text()}`);
    sentAtMs.set(((await answer.json()) as { run_id: string }).run_id, sent);
  };
  const creating: Promise<void>[] = [];
  for (let index = 0; index < RUNS_PER_ROUND; index += 1) {
    creating.push(create());
    await pause(1_000 / PER_SECOND);
  }
  await Promise.all(creating);
  const waits = await readWaits(databaseUrl, sentAtMs);
  tell(
    `  ${STATES.map(
      (state) =>
        `${state} p50 ${quantile(
          waits[state].toSorted((a, b) => a - b),
          0.5,
        )} ms`,
    ).join(", ")}`,
  );
  return waits;
}

const BODY = JSON.stringify({ prompt: "Say hello." });
const REACHED = `
  SELECT run_id, body ->> 'to' AS state, extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS at_ms
  FROM run_events
  WHERE run_id = ANY ($1::uuid[]) AND kind = 'run.state' ORDER BY seq`;

type Reached = { readonly run_id: string; readonly state: string; readonly at_ms: string };

/** When the transaction of each was committed: from then on everybody sees it. */
async function readWaits(
  databaseUrl: string,
  sentAtMs: ReadonlyMap<string, number>,
): Promise<Readonly<Record<State, readonly number[]>>> {
  const deadline = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const reached = await query<Reached>(databaseUrl, REACHED, [[...sentAtMs.keys()]]);
    const waits = (state: State) =>
      reached
        .filter((row) => row.state === state)
        .map((row) => Number(row.at_ms) - (sentAtMs.get(row.run_id) ?? 0));
    if (reached.filter(({ state }) => state === "SUCCEEDED").length === sentAtMs.size)
      return { PENDING: waits("PENDING"), CLAIMED: waits("CLAIMED"), INPROGRESS: waits("INPROGRESS") };
    if (Date.now() > deadline) throw new Error("The runs do not come to their end.");
    await pause(WAIT_MS);
  }
}
