import type { StoredBytes, StoredKind } from "../core/upkeep/stored-bytes.ts";
import { withConnection } from "./connection.ts";

/** The size of stored bytes is known without reading them. Retries share their inputs. */
const MEASURE = `
  WITH used AS (
    SELECT kind, blob AS id FROM runs CROSS JOIN LATERAL (VALUES
      (CASE WHEN ended_at IS NULL THEN 'checkpoints' ELSE 'checkpoints_of_ended_runs' END)) AS kinds (kind)
      CROSS JOIN LATERAL (VALUES (checkpoint), (checkpoint_delta), (nullif(work_checkpoint, checkpoint))) AS ids (blob)
    WHERE checkpoint IS NOT NULL AND blob IS NOT NULL
    UNION ALL SELECT DISTINCT 'inputs', blob_id::text FROM run_inputs
    UNION ALL SELECT 'artifacts', blob_id::text FROM artifacts
    UNION ALL SELECT 'changes', blob_id::text FROM repository_changes)
  SELECT kind, sum(coalesce(size_bytes, pg_column_size(bytes)))::float8 AS bytes
    FROM used JOIN blobs ON blobs.id::text = used.id GROUP BY kind
  UNION ALL SELECT 'events', pg_total_relation_size('run_events')::float8`;

/** Reading some million rows takes longer than a request may. */
const MEASURE_LIMIT_MS = 10 * 60_000;
const OPTIONS = { applicationName: "errand stored bytes", queryLimitMs: MEASURE_LIMIT_MS };
const NONE: StoredBytes = {
  checkpoints: 0,
  checkpoints_of_ended_runs: 0,
  inputs: 0,
  artifacts: 0,
  changes: 0,
  events: 0,
};

interface Row {
  readonly kind: StoredKind;
  readonly bytes: number;
}

/** How much is stored for runs. Takes longer the more runs there are, on a connection that requests do not wait for. */
export async function measureStoredBytes(databaseUrl: string): Promise<StoredBytes> {
  const { rows } = await withConnection(databaseUrl, OPTIONS, (client) => client.query<Row>(MEASURE));
  return { ...NONE, ...Object.fromEntries(rows.map(({ bytes, kind }) => [kind, bytes])) };
}
