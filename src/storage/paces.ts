import type { KeyedLimit } from "../core/ports/stores/outbox-store.ts";
import { closedPace, type PaceState, UNUSED } from "../core/threads/outbox/pace.ts";
import type { Tx } from "./database.ts";

interface PaceRow extends PaceState {
  readonly key: string;
  readonly now: number;
}

interface LockedPaces {
  /** Milliseconds since 1970 by the clock of the database, which is the same for all workers. */
  readonly now: number;
  /** In the order of the limits. */
  readonly states: readonly { readonly limit: KeyedLimit; readonly state: PaceState }[];
}

/** Locks the states of the limits until the end of the transaction. All transactions lock them in the same order. */
export async function lockPaces(tx: Tx, limits: readonly KeyedLimit[]): Promise<LockedPaces> {
  const keys = limits.map(({ key }) => key);
  const rows = await tx.$queryRaw<PaceRow[]>`
    INSERT INTO paces (key) SELECT key FROM unnest(${keys}::text[]) AS key ORDER BY key
    ON CONFLICT (key) DO UPDATE SET key = excluded.key
    RETURNING key, used_until AS "usedUntil", tentative_until AS "tentativeUntil", closed_until AS "closedUntil",
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;
  const states = limits.map((limit) => ({
    limit,
    state: rows.find(({ key }) => key === limit.key) ?? UNUSED,
  }));
  return { now: Math.max(0, ...rows.map(({ now }) => now)), states };
}

export async function storePaces(
  tx: Tx,
  limits: readonly KeyedLimit[],
  states: readonly PaceState[],
): Promise<void> {
  const rows = states.map(({ closedUntil, tentativeUntil, usedUntil }, index) => {
    return {
      key: limits[index]?.key,
      closed_until: closedUntil,
      tentative_until: tentativeUntil,
      used_until: usedUntil,
    };
  });
  await tx.$executeRaw`
    UPDATE paces SET used_until = row.used_until, tentative_until = row.tentative_until, closed_until = row.closed_until
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS row (key text, used_until float8, tentative_until float8, closed_until float8)
    WHERE paces.key = row.key`;
}

export async function closePaces(tx: Tx, limits: readonly KeyedLimit[], forMs: number): Promise<void> {
  if (limits.length === 0) {
    return;
  }
  const { now, states } = await lockPaces(tx, limits);
  const closed = states.map(({ limit, state }) => closedPace(limit, state, now + forMs));
  await storePaces(tx, limits, closed);
}

export function prunePaces(client: Pick<Tx, "$executeRaw">): Promise<number> {
  return client.$executeRaw`
    DELETE FROM paces WHERE greatest(used_until, tentative_until, closed_until)
      < extract(epoch FROM clock_timestamp())::float8 * 1000 - 3600000`;
}
