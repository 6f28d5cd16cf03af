import type { Client } from "pg";
import { StartupError } from "../core/basics/errors.ts";
import { type Migration, recordApplied, recordStarted } from "./migration-history.ts";

/** The one migration that has replaced all migrations up to `LAST_FORMER`, and leads to the same schema. */
const INIT = "20261127000000_init";
const LAST_FORMER = "20261126152800_renew_sign_ins";
/** The last commit with the former migrations. */
const LAST_FORMER_COMMIT = "4b6f5a6a";

/**
 * Returns the applied migrations without the former ones. A database that has all of these gets the record of `INIT`;
 * the next migration converts its rows of older shapes. Throws `StartupError` for a database that has only some of the
 * former migrations. Both rules end with the release after 0.2.0, which is the first
 * that has them.
 */
export async function adoptFormerHistory(
  client: Client,
  applied: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): Promise<ReadonlyMap<string, string>> {
  const init = migrations.find(({ name }) => name === INIT);
  if (init === undefined || ![...applied.keys()].some(isFormer)) {
    return applied;
  }
  if (!applied.has(LAST_FORMER)) {
    throw new StartupError(
      `This database is of an older version: start Errand once at the commit ${LAST_FORMER_COMMIT}, which brings the database up to date, and then this version`,
    );
  }
  if (!applied.has(INIT)) {
    await recordApplied(client, await recordStarted(client, init));
  }
  const kept = [...applied].filter(([name]) => !isFormer(name));
  return new Map([[INIT, init.checksum], ...kept]);
}

/** Whether a migration is one of those that `INIT` has replaced. */
export function isFormer(name: string): boolean {
  return name < INIT;
}
