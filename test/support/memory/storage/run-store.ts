import { AppError } from "../../../../src/core/basics/errors.ts";
import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { RunEvent, RunEventKind } from "../../../../src/core/model/runs/events.ts";
import type { FollowUp } from "../../../../src/core/model/runs/follow-up.ts";
import type { Lease, Run, RunDefinition } from "../../../../src/core/model/runs/run.ts";
import { requireWithinQuotas } from "../../../../src/core/model/usage/quota.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { RunChange } from "../../../../src/core/ports/stores/run-change.ts";
import type { RunPage, RunQuery } from "../../../../src/core/ports/stores/run-query.ts";
import type {
  OwnChange,
  RunAggregate,
  RunKey,
  RunStore,
} from "../../../../src/core/ports/stores/run-store.ts";
import { TeamAtQuota } from "../../../../src/core/ports/stores/storage.ts";
import {
  addNotices,
  bindThread,
  storeIdempotentResponse,
  storeInboxResult,
  threadsFor,
} from "./change-rows.ts";
import { queueRun, runningOf } from "./claim-store.ts";
import { deleteRun } from "./delete-run.ts";
import { removeDraft } from "./draft-comment-store.ts";
import { addFiles } from "./file-store.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import { quotaUses } from "./quota-store.ts";
import { listRuns } from "./run-list.ts";
import type { RunRow, Tables } from "./tables.ts";
import { ENDPOINTS } from "./webhooks/webhook-table.ts";
import { withinLength } from "./within-length.ts";

type Decide = (aggregate: RunAggregate) => RunChange | undefined;

export class InMemoryRunStore implements RunStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  create(origin: RunDefinition, change: RunChange): Promise<Run> {
    return this.#database.transaction((tx) => {
      const { apiKeyId } = change;
      requireWithinQuotas(quotaUses(tx.tables, origin.teamId, { at: origin.createdAt, apiKeyId }));
      const run = { ...origin, ...change.progress, updatedAt: origin.createdAt, lastSeq: 0 };
      return store(tx, { run, ...(apiKeyId && { apiKeyId }) }, structuredClone(change));
    });
  }

  async change(id: RunId, decide: Decide): Promise<Run> {
    const { run } = await this.#change(id, decide, undefined, [CHANNELS.attempt(id)]);
    return run;
  }

  changeOwn(id: RunId, decide: Decide, known: RunAggregate | undefined): Promise<OwnChange> {
    return this.#change(id, decide, known, []);
  }

  #change(
    id: RunId,
    decide: Decide,
    known: RunAggregate | undefined,
    channels: readonly string[],
  ): Promise<OwnChange> {
    return this.#database.transaction((tx) => {
      const row = rowOf(tx.tables, id);
      const current = aggregateOf(tx, row);
      const isKnown = known?.version === current.version && known.threads.length === 0;
      const change = decide(isKnown ? known : current);
      if (change === undefined) {
        return { run: row.run, next: current };
      }
      const run = {
        ...row.run,
        ...change.progress,
        ...change.details,
        ...(change.events.length > 0 && { updatedAt: laterOf(row.run.updatedAt, tx.now) }),
        lastSeq: row.run.lastSeq,
      };
      const max = change.lease?.runningMax;
      if (max !== undefined && runningOf(tx.tables, run.teamId) >= max) {
        throw new TeamAtQuota();
      }
      tx.channels.push(...channels);
      const stored = store(tx, leased({ ...row, run }, change.lease, tx.now), structuredClone(change));
      return { run: stored, next: aggregateOf(tx, rowOf(tx.tables, id)) };
    });
  }

  remove(id: RunId, check: (run: Run) => void): Promise<void> {
    return this.#database.transaction((tx) => {
      check(rowOf(tx.tables, id).run);
      deleteRun(tx.tables, id);
      tx.channels.push(CHANNELS.run(id), CHANNELS.attempt(id), CHANNELS.keys, CHANNELS.deletedRuns);
    });
  }

  getAggregate(id: RunId): Promise<RunAggregate> {
    return this.#database.transaction((tx) => aggregateOf(tx, rowOf(tx.tables, id)));
  }

  find(key: RunKey): Promise<Run | undefined> {
    return this.#database.read(({ runs }) => {
      if ("id" in key) {
        return runs.get(key.id)?.run;
      }
      if ("sessionId" in key) {
        return runs.values().find(({ run }) => run.sessionId === key.sessionId)?.run;
      }
      const { conversationId } = key;
      return listConversation(runs.values(), conversationId).at(-1);
    });
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#database.read(({ runs }) =>
      listRuns(
        runs.values().map(({ run }) => run),
        query,
      ),
    );
  }

  findTurnEnd(id: RunId): Promise<RunEvent | undefined> {
    return this.#database.read(({ events }) =>
      (events.get(id) ?? []).findLast(
        ({ body }) => body.kind === "turn.ended" && body.stopReason !== "cancelled",
      ),
    );
  }

  readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    return this.#database.read(({ events }) => {
      const later = (events.get(id) ?? []).slice(after);
      const found = later.filter(({ body }) => kinds === undefined || kinds.includes(body.kind));
      return withinLength(found.slice(0, limit), (event) => event);
    });
  }

  readEventsBefore(id: RunId, before: number, limit: number): Promise<readonly RunEvent[]> {
    return this.#database.read(({ events }) => {
      const earlier = (events.get(id) ?? []).slice(0, before - 1).reverse();
      return withinLength(earlier.slice(0, limit), (event) => event).toReversed();
    });
  }

  lastSeqBeforeTurn(id: RunId, turn: number): Promise<number> {
    return this.#database.read(
      ({ events }) => (events.get(id) ?? []).findLast((event) => event.turn < turn)?.seq ?? 0,
    );
  }
}

/** Clocks may go back; the time of the last update does not. */
function laterOf(updatedAt: Date, now: number): Date {
  return new Date(Math.max(updatedAt.getTime(), now));
}

/** Oldest first. */
function listConversation(rows: Iterable<RunRow>, conversationId: string): readonly Run[] {
  const runs = Array.from(rows, ({ run }) => run).filter((run) => run.conversationId === conversationId);
  return runs.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1));
}

function rowOf({ runs }: Tables, id: RunId): RunRow {
  const row = runs.get(id);
  if (row === undefined) {
    throw new AppError("resource_not_found", "There is no such run.");
  }
  return row;
}

function aggregateOf({ tables, now }: Tx, { run, leaseUntil, version }: RunRow): RunAggregate {
  const followUps = followUpsOf(tables, run.id).filter(({ withdrawnAt }) => withdrawnAt === undefined);
  return {
    run,
    waiting: followUps.filter(({ turn }) => turn === undefined),
    taken: followUps.filter(({ turn }) => turn === run.turn),
    threads: threadsFor(tables, run.id),
    leaseOver: leaseUntil !== undefined && leaseUntil < now,
    version: String(version),
  };
}

export function followUpsOf({ followUps }: Tables, runId: RunId): FollowUp[] {
  return [...followUps.values().filter((followUp) => followUp.runId === runId)].sort((a, b) => a.seq - b.seq);
}

function leased({ run, leaseUntil, ...others }: RunRow, grant: RunChange["lease"], now: number): RunRow {
  if (grant === undefined) {
    return { ...others, run, ...(leaseUntil === undefined ? {} : { leaseUntil }) };
  }
  const { lease: _given, ...free } = run;
  if (grant === null) {
    return { ...others, run: free };
  }
  const { token, worker, ttlMs } = grant;
  const lease: Lease = { token, worker };
  return { ...others, run: { ...free, lease }, leaseUntil: now + ttlMs };
}

function store(tx: Tx, row: RunRow, change: RunChange): Run {
  const { id, lastSeq } = row.run;
  const run = present({ ...row.run, lastSeq: lastSeq + change.events.length });
  queueRun(tx.tables, tx.now, tx.tables.runs.get(id)?.run, run);
  tx.tables.runs.set(id, { ...row, run, version: (row.version ?? 0) + 1 });
  addEvents(tx, run, lastSeq, change.events);
  addFollowUps(tx, id, change);
  addFiles(tx, id, change);
  if (change.binding !== undefined) {
    bindThread(tx, id, change.binding);
  }
  for (const threadId of change.cardsFromNow ?? []) {
    const thread = tx.tables.threads.get(threadId);
    tx.tables.cardless.delete(`${id} ${threadId}`);
    if (thread?.runId === id) {
      tx.tables.threads.set(threadId, { ...thread, showsCard: true });
    }
  }
  addNotices(tx, change.notices, id);
  for (const draftId of change.sentDrafts?.ids ?? []) {
    removeDraft(tx.tables, { ...change.sentDrafts, runId: id, id: draftId });
  }
  if (change.webhook !== undefined) {
    tx.tables.records.set(`${ENDPOINTS} ${change.webhook.id}`, change.webhook);
  }
  if (change.inboxResult !== undefined) {
    storeInboxResult(tx, change.inboxResult);
  }
  if (change.idempotentResponse !== undefined) {
    storeIdempotentResponse(tx, { ...change.idempotentResponse, runId: id });
  }
  tx.jobs.push(...change.jobs);
  tx.channels.push(CHANNELS.run(id), CHANNELS.log);
  if (change.isClaimable === true) {
    tx.channels.push(CHANNELS.runQueue);
  }
  return run;
}

function addEvents({ tables, now }: Tx, { id }: Run, lastSeq: number, added: RunChange["events"]): void {
  const before = tables.events.get(id)?.at(-1)?.at.getTime() ?? now;
  const at = new Date(Math.max(now, before));
  const events = added.map(({ turn, body }, index) => ({
    runId: id,
    seq: lastSeq + index + 1,
    turn,
    at,
    body,
  }));
  tables.events.set(id, [...(tables.events.get(id) ?? []), ...events]);
  const position = BigInt(tables.log.length);
  tables.log = [
    ...tables.log,
    ...events.map((event) => ({ event, position: { position, runId: id, seq: event.seq } })),
  ];
}

function addFollowUps(
  { tables }: Tx,
  runId: RunId,
  { changedFollowUps = [], followUps, takenFollowUps: takes }: RunChange,
): void {
  for (const followUp of changedFollowUps) {
    tables.followUps.set(followUp.id, followUp);
  }
  const lastSeq = followUpsOf(tables, runId).at(-1)?.seq ?? 0;
  for (const [index, followUp] of followUps.entries()) {
    tables.followUps.set(followUp.id, { ...followUp, seq: lastSeq + index + 1 });
  }
  for (const id of takes?.ids ?? []) {
    const followUp = tables.followUps.get(id);
    if (followUp !== undefined && takes !== undefined) {
      tables.followUps.set(id, { ...followUp, turn: takes.turn });
    }
  }
}

/** Removes undefined members, because a database's null is read as an absent member. */
function present(run: Run): Run {
  return Object.fromEntries(Object.entries(run).filter(([, value]) => value !== undefined)) as unknown as Run;
}
