import { defined } from "../core/basics/defined.ts";
import type { InboxEntry, InboxList, InboxQuery } from "../core/ports/stores/inbox-store.ts";
import type { Statements } from "./database.ts";
import type { Prisma } from "./generated/client.ts";
import { withoutNulls } from "./rows.ts";

const RECENT_EVENTS = 10_000;

/** The body is left out, because it may contain anything. */
const SHOWN = {
  id: true,
  seq: true,
  adapter: true,
  name: true,
  receivedAt: true,
  disposition: true,
  reason: true,
  runId: true,
} as const;

export class PrismaInboxList implements InboxList {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(query: InboxQuery): Promise<readonly InboxEntry[]> {
    const { limit: take } = query;
    const rows = await this.#database.query((client) =>
      client.inboxEvent.findMany({ where: whereOf(query), orderBy: { seq: "desc" }, take, select: SHOWN }),
    );
    return rows.map(eventOf);
  }

  /** Bounded, because no index has the adapter: an adapter without events would read the whole table. */
  async lastReceivedAt(adapter: string): Promise<Date | undefined> {
    const [row] = await this.#database.query(
      (client) => client.$queryRaw<{ last: Date | null }[]>`
        SELECT max(received_at) AS last FROM (
          SELECT adapter, received_at FROM inbox_events ORDER BY seq DESC LIMIT ${RECENT_EVENTS}) AS recent
        WHERE adapter = ${adapter}`,
    );
    return row?.last ?? undefined;
  }

  async find(viewer: Visibility, id: string): Promise<InboxEntry | undefined> {
    const where = { ...visibleTo(viewer), id };
    const row = await this.#database.query((client) => client.inboxEvent.findFirst({ where, select: SHOWN }));
    return row === null ? undefined : eventOf(row);
  }
}

type Visibility = Pick<InboxQuery, "teamId" | "withUnknownTeam">;

function visibleTo({ teamId, withUnknownTeam }: Visibility): Prisma.InboxEventWhereInput {
  return withUnknownTeam ? { OR: [{ teamId }, { teamId: null }] } : { teamId };
}

function eventOf({
  disposition,
  runId,
  ...row
}: Prisma.InboxEventGetPayload<{ select: typeof SHOWN }>): InboxEntry {
  return withoutNulls<InboxEntry>({
    ...row,
    disposition,
    runId,
  });
}

function whereOf({ teamId, withUnknownTeam, disposition, adapter, runId, before }: InboxQuery) {
  const where: Prisma.InboxEventWhereInput = {
    ...visibleTo({ teamId, withUnknownTeam }),
    ...defined({ disposition, adapter, runId, seq: before === undefined ? undefined : { lt: before } }),
  };
  return where;
}
