import { AppError } from "../core/basics/errors.ts";
import type { AppCredentials, UnconnectedWorkspace } from "../core/ports/stores/app-installations.ts";
import type { UnconnectedPlace } from "../core/ports/stores/inbox-store.ts";
import type { Tx } from "./database.ts";
import { insertJobs } from "./insert-jobs.ts";
import type { JobInsert } from "./store-deps.ts";

/** Older messages are not processed again, because nobody waits for their answers. */
const TAKEN_UP = "1 hour";
/** How long a workspace without an installation is listed after its last message. */
const LISTED = "7 days";

/**
 * Messages from workspaces without an installation. The lock lets no message slip between the moment in which a worker
 * finds no installation and the one in which an administrator makes it.
 */
async function lock(tx: Tx): Promise<void> {
  await tx.$executeRaw`LOCK TABLE unconnected_events IN SHARE ROW EXCLUSIVE MODE`;
}

/** Throws if the workspace was connected meanwhile, so that the event is processed again at once. */
export async function noteUnconnected(tx: Tx, inboxId: string, place: UnconnectedPlace): Promise<void> {
  const { adapter, externalId, organizationId } = place;
  await lock(tx);
  if ((await findCredentials(tx, adapter, [externalId, organizationId])) !== undefined) {
    throw new AppError("resource_unavailable", "The workspace was connected meanwhile.", { retryable: true });
  }
  await tx.$executeRaw`DELETE FROM unconnected_events WHERE received_at < now() - ${LISTED}::interval`;
  await tx.$executeRaw`
    INSERT INTO unconnected_events (inbox_id, adapter, external_id, organization_id, received_at)
    SELECT id, adapter, ${externalId}, ${organizationId ?? null}::text, received_at FROM inbox_events
    WHERE id = ${inboxId}::uuid ON CONFLICT DO NOTHING`;
}

/** Lets the messages of the last hour be processed, now that there is a token for their workspace or organization. */
export async function takeUpEvents(
  tx: Tx,
  { adapter, externalId }: Pick<AppCredentials, "adapter" | "externalId">,
  jobInsert: JobInsert,
): Promise<void> {
  await lock(tx);
  const events = await tx.$queryRaw<{ orderingKey: string }[]>`
    WITH waiting AS (
      DELETE FROM unconnected_events
      WHERE adapter = ${adapter} AND ${externalId} IN (external_id, organization_id) RETURNING inbox_id)
    UPDATE inbox_events SET disposition = NULL, reason = NULL, completed_at = NULL, body_kept_since = NULL, failures = 0
    WHERE id IN (SELECT inbox_id FROM waiting) AND disposition = 'failed' AND body <> ''
      AND received_at > now() - ${TAKEN_UP}::interval
    RETURNING ordering_key AS "orderingKey"`;
  const keys = new Set(events.map(({ orderingKey }) => orderingKey));
  await insertJobs(
    tx,
    jobInsert,
    Array.from(keys, (key) => ({ kind: "inbox", key })),
  );
}

/** Without those that a variable or an organization has connected since. */
export async function listUnconnected(
  client: Pick<Tx, "$queryRaw">,
  adapter: string,
): Promise<readonly UnconnectedWorkspace[]> {
  return client.$queryRaw<UnconnectedWorkspace[]>`
    SELECT adapter, external_id AS "externalId", max(received_at) AS "lastReceivedAt"
    FROM unconnected_events AS event
    WHERE adapter = ${adapter} AND received_at > now() - ${LISTED}::interval AND NOT EXISTS (
      SELECT FROM installations AS known
      WHERE known.adapter = event.adapter AND known.external_id = event.external_id AND known.problem IS NULL)
    GROUP BY adapter, external_id ORDER BY "lastReceivedAt" DESC`;
}

/** The credentials of the first of these installations that has any, or whose organization has any. */
export async function findCredentials(
  client: Pick<Tx, "$queryRaw">,
  adapter: string,
  externalIds: readonly (string | undefined)[],
): Promise<AppCredentials | undefined> {
  const wanted = externalIds.filter((id) => id !== undefined);
  const rows = await client.$queryRaw<AppCredentials[]>`
    SELECT owner.adapter, owner.external_id AS "externalId", owner.name, owner.sealed_credentials AS sealed
    FROM unnest(${wanted}::text[]) WITH ORDINALITY AS wanted (id, place)
    JOIN installations AS found ON found.adapter = ${adapter} AND found.external_id = wanted.id
    JOIN installations AS owner ON owner.adapter = ${adapter} AND owner.sealed_credentials IS NOT NULL
      AND owner.external_id IN (found.external_id, found.organization_id)
    ORDER BY place, owner.external_id = found.external_id DESC LIMIT 1`;
  return rows[0];
}
