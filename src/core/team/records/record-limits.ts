import { lengthOf } from "../../basics/clean-text.ts";
import { AppError } from "../../basics/errors.ts";
import type { TeamRecord } from "../../model/people/team-record.ts";
import type { Storage } from "../../ports/stores/storage.ts";

/** What all records of one kind of a team may have, in characters of JSON. They are listed without paging. */
export const RECORDS_LENGTH_MAX = 16 * 2 ** 20;
/** The number of all records of one kind of a team. One member must not take the whole list or, by schedules, the queue. */
export const RECORDS_MAX = 300;

/** The kinds of records that a member writes, with their names in messages. */
const KINDS = {
  environments: "environments",
  mcpServers: "MCP servers",
  schedules: "schedules",
  secrets: "secrets",
} as const;
type Kind = keyof typeof KINDS;

/**
 * Refuses a record that a member writes if it does not fit. Otherwise one member could make a list that is too long for
 * the memory of the server. `storage` must be inside a transaction: until it ends, no other member of the team stores
 * a record. The lock comes first, because otherwise the list could lack what was stored meanwhile.
 */
export async function requireWithinLimits<K extends Kind>(
  storage: Pick<Storage, K | "teams">,
  kind: K,
  record: TeamRecord,
): Promise<void> {
  const { id, teamId } = record;
  await storage.teams.lock(teamId);
  const before = await storage[kind].find(teamId, id);
  const growth = lengthOf(record) - (before === undefined ? 0 : lengthOf(before));
  if (growth <= 0) {
    return;
  }
  const all = await storage[kind].list(teamId);
  if (before === undefined && all.length >= RECORDS_MAX) {
    throw new AppError("invalid_request", `The team has ${RECORDS_MAX} ${KINDS[kind]} already.`, {
      remedy: "Delete those that are not needed any more.",
    });
  }
  if (lengthOf(all) + growth <= RECORDS_LENGTH_MAX) {
    return;
  }
  const message = `The ${KINDS[kind]} of a team can have at most ${RECORDS_LENGTH_MAX / 2 ** 20} MiB together.`;
  throw new AppError("invalid_request", message, {
    remedy: "Make them shorter, or delete those that are not needed any more.",
  });
}
