import type { Clock } from "../core/basics/clock.ts";
import { type Check, type Finding, fail, ok, warn } from "../core/ports/check.ts";
import type { Statements } from "./database.ts";
import { listMigrations } from "./migrations.ts";

/** Each request needs several statements one after another. */
const SLOW_MS = 50;
/** The median counts, because a busy moment of the machine delays one statement and not the others. */
const TRIES = 3;
const OLDEST_VERSION = 15;
/** Platforms' signatures are refused when they are five minutes old; times in lists look wrong before that. */
const SKEW_WARN_MS = 2_000;
const SKEW_FAIL_MS = 60_000;

const REMEDY = "Run the database near this process, and look what keeps it busy.";
const EMBEDDED_REMEDY =
  "The embedded database shares this machine with the agents: set a lower ERRAND_CONCURRENCY, or use a faster machine.";

export function databaseChecks(
  database: Statements,
  clock: Clock,
  { isEmbedded }: { readonly isEmbedded: boolean },
): readonly Check[] {
  return [
    { name: "database", run: () => lookAtDatabase(database, clock, isEmbedded ? EMBEDDED_REMEDY : REMEDY) },
    { name: "migrations", run: () => lookAtMigrations(database) },
    { name: "clock", run: () => lookAtClocks(database, clock) },
    { name: "webhooks", run: () => lookAtWebhooks(database) },
  ];
}

async function lookAtDatabase(database: Statements, clock: Clock, slowRemedy: string): Promise<Finding> {
  const latencies: number[] = [];
  let version = "unknown";
  for (let tries = 0; tries < TRIES; tries += 1) {
    const began = clock.now().getTime();
    const [row] = await database.query(
      (client) =>
        client.$queryRaw<{ version: string }[]>`SELECT current_setting('server_version') AS version`,
    );
    latencies.push(clock.now().getTime() - began);
    version = row?.version ?? version;
  }
  const latencyMs = latencies.toSorted((a, b) => a - b)[(TRIES - 1) / 2] ?? 0;
  if (Number.parseInt(version, 10) < OLDEST_VERSION) {
    return fail(`PostgreSQL ${version} is too old.`, `Use PostgreSQL ${OLDEST_VERSION} or newer.`);
  }
  if (latencyMs > SLOW_MS) {
    return warn(`PostgreSQL ${version} took ${latencyMs} ms to answer.`, slowRemedy);
  }
  return ok(`PostgreSQL ${version} answered in ${latencyMs} ms.`);
}

async function lookAtMigrations(database: Statements): Promise<Finding> {
  const applied = await database.query(
    (client) => client.$queryRaw<{ name: string }[]>`
      SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  const names = new Set(applied.map(({ name }) => name));
  const ours = await listMigrations();
  const missing = ours.filter((name) => !names.has(name));
  if (missing.length > 0) {
    return fail(`Not applied: ${missing.join(", ")}.`, "Restart: migrations are applied at the start.");
  }
  const newer = names.size - ours.length;
  if (newer > 0) {
    return warn(
      `The database is ${newer} migrations ahead: a newer version has been started on it.`,
      "Bring this process to the same version.",
    );
  }
  return ok(`All ${ours.length} are applied.`);
}

/** Compares the database's clock with the middle of the query. */
async function lookAtClocks(database: Statements, clock: Clock): Promise<Finding> {
  const began = clock.now().getTime();
  const [row] = await database.query(
    (client) => client.$queryRaw<{ ms: number }[]>`
      SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`,
  );
  const middle = (began + clock.now().getTime()) / 2;
  const skewMs = Math.round(Math.abs((row?.ms ?? middle) - middle));
  if (skewMs < SKEW_WARN_MS) {
    return ok("This process and the database agree about the time.");
  }
  const report = skewMs < SKEW_FAIL_MS ? warn : fail;
  return report(
    `The clocks of this process and of the database are ${Math.round(skewMs / 1_000)} s apart.`,
    "Have both machines keep the time, by NTP or the like.",
  );
}

async function lookAtWebhooks(database: Statements): Promise<Finding> {
  const where = { enabled: false, disabledReason: { not: null } };
  const count = await database.query((client) => client.webhookEndpoint.count({ where }));
  if (count === 0) {
    return ok("No endpoint was switched off for its failures.");
  }
  return warn(
    `${count} endpoints were switched off, since they failed for too long.`,
    "Have their teams repair them and switch them on again; what was missed can be replayed.",
  );
}
