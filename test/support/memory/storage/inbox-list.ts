import type { InboxEntry, InboxQuery } from "../../../../src/core/ports/stores/inbox-store.ts";
import type { InboxRow, Tables } from "./tables.ts";

export function listInbox({ inbox }: Tables, query: InboxQuery): readonly InboxEntry[] {
  const found = [...inbox.values()].filter((row) => isAsked(row, query));
  return found
    .toSorted((a, b) => Number(b.seq - a.seq))
    .slice(0, query.limit)
    .map(eventOf);
}

export function findInboxEvent(
  { inbox }: Tables,
  { teamId, withUnknownTeam }: Pick<InboxQuery, "teamId" | "withUnknownTeam">,
  id: string,
): InboxEntry | undefined {
  const row = inbox.get(id);
  const isVisible = row?.teamId === teamId || (row?.teamId === undefined && withUnknownTeam);
  return row !== undefined && isVisible ? eventOf(row) : undefined;
}

function isAsked(row: InboxRow, query: InboxQuery): boolean {
  const { adapter = row.event.adapter, before, disposition = row.disposition, runId = row.runId } = query;
  const isTheirs = row.teamId === query.teamId || (row.teamId === undefined && query.withUnknownTeam);
  const isOfThat = row.event.adapter === adapter && row.runId === runId;
  return (
    isTheirs &&
    isOfThat &&
    (row.disposition ?? null) === (disposition ?? null) &&
    (before === undefined || row.seq < before)
  );
}

function eventOf({
  event: { id, adapter, name, receivedAt },
  seq,
  disposition,
  reason,
  runId,
}: InboxRow): InboxEntry {
  return {
    ...{ id, seq, adapter, name, receivedAt },
    ...(disposition === undefined ? {} : { disposition }),
    ...(reason === undefined ? {} : { reason }),
    ...(runId === undefined ? {} : { runId }),
  };
}
