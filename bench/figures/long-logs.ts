import type { Figure } from "../bench.ts";
import { takeTurns } from "../load/turns.ts";
import { formatSpread, type Row, round } from "../report.ts";
import { query } from "../setup/postgres.ts";
import { type Service, startService } from "../setup/service.ts";
import { quantile, spreadOf } from "../statistics.ts";

const EVENTS_PER_TURN = 10;
const SHORT_TURNS = 5;
const LONG_TURNS = 5_000;
const READS = 300;
const WARM_UP_READS = 30;
const FLAT = 1.5;

/** Turns that each begin with `turn.started`, contain messages of the agent, and end with `turn.ended`. */
const INSERT_EVENTS = `
  INSERT INTO run_events (run_id, seq, turn, kind, body)
  SELECT $1::uuid, seq, turn, body ->> 'kind', body
  FROM generate_series(2, $2 * ${EVENTS_PER_TURN}) AS seq,
    LATERAL (SELECT (seq - 1) / ${EVENTS_PER_TURN} + 1 AS turn, (seq - 1) % ${EVENTS_PER_TURN} AS place) AS placed,
    LATERAL (SELECT CASE place
      WHEN 1 THEN '{"kind": "turn.started", "followUpIds": [], "again": false}'::jsonb
      WHEN ${EVENTS_PER_TURN - 1} THEN '{"kind": "turn.ended", "stopReason": "end_turn", "answer": "Done."}'
      ELSE jsonb_build_object('kind', 'agent.message', 'messageId', seq::text, 'text', repeat('word ', 20))
    END AS body) AS events`;
const UPDATE_RUN = `
  UPDATE runs SET last_seq = $2 * ${EVENTS_PER_TURN}, turn = $2, state = 'SUCCEEDED', ended_at = now()
  WHERE id = $1::uuid`;

/** Reads of the same length from the end and from the middle of a log with this number of turns. */
const READS_OF = {
  "events, tail": (id: string) => `runs/${id}/events?tail=${SHORT_TURNS * EVENTS_PER_TURN - 1}`,
  "events, before": (id: string, turns: number) =>
    `runs/${id}/events?limit=20&before=${(turns * EVENTS_PER_TURN) / 2}`,
  "conversation, last steps": (id: string) => `runs/${id}/conversation?limit=2`,
  "conversation, before": (id: string, turns: number) =>
    `runs/${id}/conversation?limit=2&before=${id}:${Math.ceil(turns / 2)}`,
} as const;

/** P19: a page of a run with 50,000 events takes as long as the same page of a run with 50. */
export const longLogs: Figure = {
  names: ["P19"],
  measure: async ({ cleanup, folder, log, options, postgres }) => {
    const databaseUrl = await postgres.database("long_logs");
    const service = await startService(folder, databaseUrl);
    cleanup.defer(() => service.child.stop());
    const long = await addRun(service, databaseUrl, LONG_TURNS);
    const short = await addRun(service, databaseUrl, SHORT_TURNS);
    await query(databaseUrl, "VACUUM (ANALYZE)");
    log("P19: pages of a long log");
    const rows: Row[] = [];
    for (const [name, pathOf] of Object.entries(READS_OF)) {
      const target = (path: string) => {
        const headers = { ...service.headers, accept: "application/json" };
        return {
          url: service.url,
          request: { method: "GET" as const, path: `/api/v1/agent/${path}`, headers },
        };
      };
      const [ofLong, ofShort] = [target(pathOf(long, LONG_TURNS)), target(pathOf(short, SHORT_TURNS))];
      const medians: { readonly long: number; readonly short: number }[] = [];
      for (let turn = 0; turn < options.rounds; turn += 1) {
        const { others, subject } = await takeTurns(ofLong, { short: ofShort }, READS, WARM_UP_READS);
        medians.push({ long: medianOf(subject), short: medianOf(others.short) });
      }
      rows.push(rowOf(name, medians));
    }
    return rows;
  },
};

/** Adds an ended run whose log has this number of turns, of 10 events each. */
export async function addRun({ headers, url }: Service, databaseUrl: string, turns: number): Promise<string> {
  const response = await fetch(`${url}/api/v1/agent/runs`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Work for a long time." }),
  });
  const { run_id: id } = (await response.json()) as { readonly run_id: string };
  await query(databaseUrl, INSERT_EVENTS, [id, turns]);
  await query(databaseUrl, UPDATE_RUN, [id, turns]);
  return id;
}

function rowOf(what: string, medians: readonly { readonly long: number; readonly short: number }[]): Row {
  const ratio = spreadOf(medians.map(({ long, short }) => long / short));
  return {
    figure: "P19",
    what: `${what}, ${LONG_TURNS * EVENTS_PER_TURN} events and ${SHORT_TURNS * EVENTS_PER_TURN}`,
    ours: `${round(spreadOf(medians.map(({ long }) => long)).median)} ms`,
    floor: `${round(spreadOf(medians.map(({ short }) => short)).median)} ms`,
    ratio: formatSpread(ratio),
    goal: `≤ ${FLAT}`,
    verdict: ratio.median <= FLAT ? "reached" : "MISSED",
  };
}

function medianOf(latenciesMs: readonly number[]): number {
  return quantile(
    latenciesMs.toSorted((a, b) => a - b),
    0.5,
  );
}
