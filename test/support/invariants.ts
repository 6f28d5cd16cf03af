import type { Client } from "pg";
import { withConnection } from "../../src/storage/connection.ts";
import { findLeakedCanaries } from "./invariants-canaries.ts";
import { findJoblessWork } from "./invariants-jobs.ts";
import { findBrokenLogs } from "./invariants-log.ts";
import { findStrayAgents } from "./invariants-processes.ts";
import { findWrongThreads, type ThreadReader } from "./invariants-threads.ts";
import { waitFor } from "./wait-for.ts";

export { githubThreads, slackThreads, type ThreadReader } from "./invariants-threads.ts";

export interface CheckedSystem {
  readonly databaseUrl: string;
  /** The requests that were answered with 2xx: the ids of created runs, and webhook deliveries. */
  readonly acknowledged?: {
    readonly runIds?: readonly string[];
    readonly deliveries?: readonly { readonly adapter: string; readonly deliveryId: string }[];
  };
  /**
   * The threads as users see them: `slackThreads(slack)`, `githubThreads(github)`. Without them I4 is not checked.
   */
  readonly threads?: readonly ThreadReader[];
  /** A part of an agent's command line that its child processes do not have. */
  readonly agentMarker?: string;
  /** Secrets that the service got and that may appear nowhere. */
  readonly canaries?: readonly string[];
  /** Answers of the API and the output of all processes, which are searched for canaries. */
  readonly responses?: readonly string[];
  /**
   * How long a lost run may stay in a moving state after its lease expired. Default: a minute (docs/reliability.md).
   */
  readonly leaseGraceMs?: number;
  /** How long unfinished work (a delivery, a process being killed) may take to finish. */
  readonly patienceMs?: number;
}

const DEMO_AGENT = "agents/demo/main.ts";
const LEASE_GRACE_MS = 60_000;
const PATIENCE_MS = 15_000;

/**
 * Checks the seven invariants that hold after every fault (docs/reliability.md), in the database, the emulated
 * services and the processes of this machine:
 *
 * - I1 every acknowledged create has its run, every acknowledged webhook its disposition;
 * - I2 runs change state only by the transition table, and only a follow-up takes a run out of an ended state;
 * - I3 the events of a run are 1, 2, 3 …, their times never go back, and they replay to its state;
 * - I4 a thread that shows cards has one per run, in the run's state; each end is shown once;
 * - I5 at most one agent lives per run, and none for a run that no worker works on;
 * - I6 no canary is stored, printed, answered, posted or given to an agent;
 * - I7 everything that waits is in a queue, and every moving run has a lease.
 *
 * Throws one error that names every violation.
 */
export async function checkInvariants(system: CheckedSystem): Promise<void> {
  let violations: readonly string[] = [];
  const isWhole = async () => {
    violations = await findViolations(system);
    return violations.length === 0;
  };
  const { patienceMs = PATIENCE_MS } = system;
  await waitFor(isWhole, { what: "the invariants", timeoutMs: patienceMs, everyMs: 100 }).catch(
    (failed: Error) => {
      throw violations.length === 0 ? failed : new Error(`Violated:\n${violations.join("\n")}`);
    },
  );
}

async function findViolations(system: CheckedSystem): Promise<readonly string[]> {
  const { acknowledged = {}, agentMarker = DEMO_AGENT, canaries = [], responses = [], threads = [] } = system;
  const session = { applicationName: "errand invariants", queryLimitMs: 30_000 };
  return withConnection(system.databaseUrl, session, async (client) => {
    // One snapshot for all tables, because a run may change between two queries.
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const found = [
      await findLost(client, acknowledged),
      await findBrokenLogs(client),
      await findWrongThreads(client, threads),
      await findStrayAgents(client, agentMarker),
      await findLeakedCanaries(client, canaries, [
        ...responses,
        ...threads.flatMap((reader) => reader.texts()),
      ]),
      await findJoblessWork(client, system.leaseGraceMs ?? LEASE_GRACE_MS),
    ];
    await client.query("COMMIT");
    return found.flat();
  });
}

async function findLost(
  client: Client,
  { runIds = [], deliveries = [] }: NonNullable<CheckedSystem["acknowledged"]>,
): Promise<readonly string[]> {
  const runs = await client.query<{ id: string }>(
    `SELECT asked.id FROM unnest($1::text[]) AS asked(id)
      WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = asked.id::uuid)`,
    [runIds],
  );
  const events = await client.query<{ adapter: string; delivery_id: string }>(
    `SELECT asked.adapter, asked.delivery_id FROM unnest($1::text[], $2::text[]) AS asked(adapter, delivery_id)
      WHERE NOT EXISTS (SELECT 1 FROM inbox_events e
        WHERE e.adapter = asked.adapter AND e.delivery_id = asked.delivery_id AND e.disposition IS NOT NULL)`,
    [deliveries.map(({ adapter }) => adapter), deliveries.map(({ deliveryId }) => deliveryId)],
  );
  return [
    ...runs.rows.map(({ id }) => `I1 run ${id} was acknowledged and is not there`),
    ...events.rows.map(
      ({ adapter, delivery_id }) =>
        `I1 ${adapter} delivery ${delivery_id} was acknowledged and has no disposition`,
    ),
  ];
}
