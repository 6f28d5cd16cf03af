import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Bench, Figure } from "../bench.ts";
import { ratioRow, valueRow } from "../report.ts";
import { startService } from "../setup/service.ts";
import { ratioOf, spreadOf } from "../statistics.ts";

const LENGTHS = { long: 20_000, short: 20 } as const;
const MEMBERS = 5;
const CLAIMS = 15;
const TURNS = 20;
const GOALS = {
  turns: { reach: 2, aim: 1, wants: "less" },
  time: { reach: 1.5, aim: 1.2, wants: "less" },
} as const;

const NEW_TEAM = "INSERT INTO teams (id, name, sharing, created_at) VALUES ($1::uuid, $2, 'off', now())";
/** A claim reads the queue, not the runs. */
const QUEUE = `
  INSERT INTO run_queue (run_id, team_id, principal_id, class, host, queued_at)
  SELECT gen_random_uuid(), $1::uuid, md5('member' || number % $3)::uuid, 4, '', now() + number * interval '1 millisecond'
  FROM generate_series(1, $2::int) AS number`;
const CLAIM = "SELECT next_id AS id FROM reserve_next_run(NULL, NULL, '{}')";
const TEAM = "SELECT team_id AS team FROM run_queue WHERE run_id = $1::uuid";
const RELEASE = "UPDATE run_queue SET reserved_until = NULL WHERE reserved_until IS NOT NULL";

/**
 * P24: whether a claim takes longer in a long queue of one team than in a short one, and how many claims it takes until a run
 * that another team adds to the long queue is claimed.
 */
export const fairQueue: Figure = {
  names: ["P24"],
  measure: async (bench) => {
    bench.log(`P24: claims with ${LENGTHS.long} queued runs`);
    const long = await queueOf(bench, "long");
    const short = await queueOf(bench, "short");
    const times: Record<keyof typeof LENGTHS, number[]> = { long: [], short: [] };
    // The first round warms up.
    for (let round = 0; round <= bench.options.rounds; round += 1) {
      const inTurn = { long: await medianMs(long), short: await medianMs(short) };
      if (round > 0) {
        times.long.push(inTurn.long);
        times.short.push(inTurn.short);
      }
    }
    const ratio = ratioOf(times.long, times.short);
    const spreads = { ours: spreadOf(times.long), floor: spreadOf(times.short), ratio };
    const turns = spreadOf([await claimsUntilAnother(long)]);
    return [
      ratioRow({ figure: "P24", what: "a claim among 20,000 queued runs and 20" }, spreads, GOALS.time, "ms"),
      valueRow(
        { figure: "P24", what: "the run of another team is claimed after" },
        turns,
        GOALS.turns,
        "claims",
      ),
    ];
  },
};

async function queueOf({ cleanup, folder, postgres }: Bench, name: keyof typeof LENGTHS): Promise<pg.Client> {
  const databaseUrl = await postgres.database(`queue_${name}`);
  const { child } = await startService(folder, databaseUrl);
  await child.stop();
  // As on the connections of the service.
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: "bench",
    options: "-c jit=off",
  });
  await client.connect();
  cleanup.defer(() => client.end());
  await addRuns(client, LENGTHS[name]);
  await client.query("ANALYZE run_queue");
  return client;
}

async function addRuns(client: pg.Client, count: number): Promise<string> {
  const team = randomUUID();
  await client.query(NEW_TEAM, [team, team]);
  await client.query(QUEUE, [team, count, MEMBERS]);
  return team;
}

async function medianMs(client: pg.Client): Promise<number> {
  const timesMs: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (let count = 0; count < CLAIMS; count += 1) {
      const begunMs = performance.now();
      await client.query({ name: "claim", text: CLAIM });
      timesMs.push(performance.now() - begunMs);
    }
    await client.query(RELEASE);
  }
  return spreadOf(timesMs).median;
}

async function claimsUntilAnother(client: pg.Client): Promise<number> {
  await client.query(CLAIM);
  const another = await addRuns(client, 1);
  for (let count = 1; count <= LENGTHS.long; count += 1) {
    const { rows: claimed } = await client.query<{ id: string }>(CLAIM);
    const { rows } = await client.query<{ team: string }>(TEAM, [claimed[0]?.id]);
    if (rows[0]?.team === another) {
      return count;
    }
  }
  return Number.POSITIVE_INFINITY;
}
