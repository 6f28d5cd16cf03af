import { defined } from "../core/basics/defined.ts";
import type { RunId } from "../core/basics/ids.ts";
import type { ChangedDetails } from "../core/model/runs/run.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import type { RunAggregate } from "../core/ports/stores/run-store.ts";
import type { Statements, Tx } from "./database.ts";
import type { Run as RunRow } from "./generated/client.ts";
import { SEARCH_TEXT } from "./insert-runs.ts";
import { aliveKeys } from "./key-store.ts";
import { toJson } from "./rows.ts";
import { columnTypes, PROGRESS_COLUMNS, pairsOf, RUN_COLUMNS, runOf, valuesOf } from "./run-columns.ts";
import { editableLink } from "./share-link-store.ts";

const CHANGED = PROGRESS_COLUMNS.map(({ name }) => `${name} = given.${name}`);

/**
 * Processes of the previous release judge a lease by `runs.lease_expires_at`, which is not renewed. No attempt lasts so
 * long. If only such processes are left, they take the run of a lost worker after this time.
 */
const FOR_PREVIOUS_RELEASE = "interval '1 day'";

interface LeaseParts {
  readonly columns: readonly string[];
  /** Common table expressions before and after the update of the run. */
  readonly before?: string;
  readonly after?: string;
  readonly condition?: string;
}

/**
 * Leases expire by the database's clock, which all workers share. A renewal writes only `run_leases`, so that the version
 * of the run does not show it: the lock waits for a renewal in another transaction, and then reads what it stored.
 */
const LEASES: Readonly<Record<"kept" | "granted" | "dropped", LeaseParts>> = {
  kept: { columns: [] },
  granted: {
    columns: [
      "lease_token = given.lease_token",
      "lease_worker = given.lease_worker",
      `lease_expires_at = clock_timestamp() + ${FOR_PREVIOUS_RELEASE}`,
    ],
    after: `
  leased AS (
    INSERT INTO run_leases (run_id, token, expires_at)
    SELECT changed.id, given.lease_token, clock_timestamp() + given.lease_ms * interval '1 millisecond'
    FROM changed, given
    ON CONFLICT (run_id) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at),`,
  },
  dropped: {
    columns: ["lease_token = NULL", "lease_worker = NULL", "lease_expires_at = NULL"],
    before: `
  lease AS MATERIALIZED (
    SELECT run_leases.* FROM run_leases, given WHERE given.if_lease_is_over AND run_id = given.id FOR UPDATE OF run_leases),`,
    condition: `
      AND NOT EXISTS (SELECT FROM lease WHERE token = runs.lease_token AND expires_at >= clock_timestamp())`,
    after: `
  released AS (DELETE FROM run_leases USING changed WHERE run_id = changed.id),`,
  },
};

/**
 * `updated_at` changes only together with an event and never moves backwards, although the clocks of two processes
 * differ. Otherwise pagination could return a run twice.
 */
const UPDATED = `
  updated_at = CASE WHEN given.events = '[]' THEN runs.updated_at ELSE greatest(runs.updated_at, given.at) END`;

/**
 * The run's newest event before this change. No event is dated before it, although `now()` is when a transaction began:
 * it may have waited for the change of another one, and the clock of the database may have been set back.
 */
const NEWEST = `
  LATERAL (
    SELECT max(at) AS at FROM run_events
    WHERE run_id = changed.id AND seq = changed.last_seq - jsonb_array_length(given.events)) AS newest`;

/**
 * Everything depends on the run being unchanged since the decision, and on the API key and the sign-in of the caller.
 * Otherwise nothing is stored.
 */
const statement = ({ after = "", before = "", columns, condition = "" }: LeaseParts) => `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_record($1) AS given (
      id uuid, version xid, at timestamptz, ${columnTypes(PROGRESS_COLUMNS)},
      events jsonb, api_key_id uuid, sign_in_id uuid, share_link_id uuid, lease_token uuid, lease_worker text, lease_ms int,
      if_lease_is_over boolean)),
  alive AS MATERIALIZED (${aliveKeys("= (SELECT api_key_id FROM given)")}),
  signed_in AS MATERIALIZED (
    SELECT id FROM sign_ins WHERE id = (SELECT sign_in_id FROM given) AND ended_at IS NULL AND expires_at > now() FOR SHARE),
  shared AS MATERIALIZED (${editableLink("(SELECT share_link_id FROM given)")}),${before}
  changed AS (
    UPDATE runs SET ${[...CHANGED, ...columns].join(", ")},
      ${UPDATED}, last_seq = last_seq + jsonb_array_length(given.events)
    FROM given WHERE runs.id = given.id AND runs.xmin = given.version
      AND (given.api_key_id IS NULL OR given.api_key_id IN (SELECT id FROM alive))
      AND (given.sign_in_id IS NULL OR given.sign_in_id IN (SELECT id FROM signed_in))
      AND (given.share_link_id IS NULL OR given.share_link_id IN (SELECT id FROM shared))${condition}
    RETURNING runs.*, runs.xmin::text AS version),${after}
  logged AS (
    INSERT INTO run_events (run_id, seq, turn, at, kind, body)
    SELECT changed.id, event.seq, event.turn, greatest(now(), newest.at), event.body ->> 'kind', event.body
    FROM changed, given, ${NEWEST}, jsonb_to_recordset(given.events) AS event (seq int, turn int, body jsonb))
  SELECT ${RUN_COLUMNS}, version FROM changed`;
const TEXTS = {
  kept: statement(LEASES.kept),
  granted: statement(LEASES.granted),
  dropped: statement(LEASES.dropped),
} as const;

/**
 * Stores the change of a run with its events as one statement. Returns the changed run and its new version; undefined, and nothing is
 * stored, when the run has changed since the decision, its lease was renewed, the API key of the caller was revoked, or
 * its sign-in has ended.
 */
export async function updateRun(
  statements: Pick<Statements, "rows">,
  { run, version }: RunAggregate,
  change: RunChange,
  at: Date,
): Promise<Pick<RunAggregate, "run" | "version"> | undefined> {
  const { apiKeyId, events, ifLeaseIsOver, lease, progress, shareLinkId, signInId } = change;
  const sent = {
    ...valuesOf(PROGRESS_COLUMNS, progress),
    id: run.id,
    version,
    at,
    events: events.map(({ turn, body }, index) => ({ seq: run.lastSeq + index + 1, turn, body })),
    api_key_id: apiKeyId,
    sign_in_id: signInId,
    share_link_id: shareLinkId,
    lease_token: lease?.token,
    lease_worker: lease?.worker,
    lease_ms: lease?.ttlMs,
    if_lease_is_over: ifLeaseIsOver,
  };
  const text = TEXTS[lease === undefined ? "kept" : lease === null ? "dropped" : "granted"];
  const [row] = await statements.rows<RunRow & Pick<RunAggregate, "version">>({
    text,
    values: [JSON.stringify(sent)],
  });
  return row && { run: runOf(row), version: row.version };
}

const SEARCH_TEXT_OF_RUN = `
  UPDATE run_search_texts SET text = ${SEARCH_TEXT} FROM runs WHERE run_id = runs.id AND run_id = $1::uuid`;

/** Stores changed details, with what the list searches and filters by. The caller has locked the run. */
export async function updateDetails(
  tx: Tx,
  id: RunId,
  { metadata, prompt, title }: ChangedDetails,
): Promise<void> {
  const data = {
    ...defined({ prompt, title }),
    ...(metadata === undefined ? {} : { metadata: toJson(metadata), metadataPairs: [...pairsOf(metadata)] }),
  };
  await tx.run.updateMany({ where: { id }, data });
  if (title !== undefined || prompt !== undefined) {
    await tx.$executeRawUnsafe(SEARCH_TEXT_OF_RUN, id);
  }
}
