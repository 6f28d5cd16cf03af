import { lengthOf } from "../clean-text.ts";
import { AppError } from "../errors.ts";
import type { RecordStore, TeamRecord } from "./record-store.ts";

/** What all records of one kind of a team may have, in characters of JSON. They are listed without paging. */
export const RECORDS_LENGTH_MAX = 16 * 2 ** 20;

/**
 * Refuses a record that a member writes if it does not fit. Otherwise one member could make a list that is too long for
 * the memory of the server. `kind` is its name in the plural, and `before` the record that it replaces.
 */
export async function requireRoom<R extends TeamRecord>(
  records: Pick<RecordStore<R>, "list">,
  kind: string,
  record: R,
  before?: R,
): Promise<void> {
  const growth = lengthOf(record) - (before === undefined ? 0 : lengthOf(before));
  if (growth <= 0 || lengthOf(await records.list(record.teamId)) + growth <= RECORDS_LENGTH_MAX) {
    return;
  }
  const message = `The ${kind} of a team can have at most ${RECORDS_LENGTH_MAX / 2 ** 20} MiB together.`;
  throw new AppError("invalid_request", message, {
    remedy: "Make them shorter, or delete those that are not needed any more.",
  });
}
