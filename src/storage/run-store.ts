import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { RunId } from "../core/basics/ids.ts";
import type { RunEvent, RunEventKind } from "../core/model/runs/events.ts";
import type { Run, RunDefinition } from "../core/model/runs/run.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { RunChange } from "../core/ports/stores/run-change.ts";
import type { RunPage, RunQuery } from "../core/ports/stores/run-query.ts";
import type { OwnChange, RunAggregate, RunKey, RunStore } from "../core/ports/stores/run-store.ts";
import { UniqueConflict } from "../core/ports/stores/storage.ts";
import { nameAuthor } from "./audit-log.ts";
import type { Batcher } from "./batcher.ts";
import {
  addFollowUps,
  addNotices,
  bindThread,
  storeIdempotentResponse,
  storeInboxResult,
} from "./change-rows.ts";
import { requireRoom } from "./claim-store.ts";
import { type Statements, statementsOf, type Tx } from "./database.ts";
import { deleteRun } from "./delete-run.ts";
import { eventsBeforeStatement, eventsStatement, lastSeqStatement, turnEndsOf } from "./event-pages.ts";
import { addFiles, replaceChanges } from "./file-store.ts";
import type { RunEvent as RunEventRow, Run as RunRow } from "./generated/client.ts";
import { insertJobs } from "./insert-jobs.ts";
import { insertRuns, insertsOf, type NewRunRows } from "./insert-runs.ts";
import { requireKeyAlive } from "./key-store.ts";
import { requireQuotas } from "./quota-store.ts";
import { lockRun, readAggregate } from "./run-aggregate.ts";
import { listedRunOf, runOf } from "./run-columns.ts";
import {
  completeRows,
  cutPage,
  FIND_SIMILARITY,
  type FoundRow,
  type FrequentPair,
  findStatement,
  frequentStatement,
  listStatement,
  type NewestUpdate,
  needsEnd,
  newestStatement,
  pageOf,
  readsOf,
} from "./run-list.ts";
import { eventOf } from "./run-rows.ts";
import { requireEditableLink } from "./share-link-store.ts";
import { requireSignInOpen } from "./sign-in-store.ts";
import type { StoreDeps } from "./store-deps.ts";
import { updateDetails, updateRun } from "./update-run.ts";
import { endpointColumns } from "./webhooks/webhook-rows.ts";

export class PrismaRunStore implements RunStore {
  readonly #deps: StoreDeps;
  readonly #inserts: Batcher<NewRunRows, boolean>;
  readonly #reads: Batcher<RunId, RunRow | undefined>;
  readonly #turnEnds: Batcher<RunId, RunEventRow | undefined>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#inserts = insertsOf(deps.database, deps.jobInsert.sql);
    this.#reads = readsOf(deps.database);
    this.#turnEnds = turnEndsOf(deps.database);
  }

  async create(origin: RunDefinition, change: RunChange): Promise<Run> {
    const { database, jobInsert } = this.#deps;
    const rows = { origin, change, jobs: jobInsert.rowsOf(change.jobs) };
    const isTried = isAlone(change);
    const isMade =
      (isTried && (await this.#inserts.do(rows))) ||
      (await database.transaction((tx) => this.#insert(tx, rows, isTried)));
    if (!isMade) {
      await this.#requireKey(database, change);
      throw new UniqueConflict("idempotencyKey");
    }
    this.#publish(origin.id, change);
    return createdRun(origin, change);
  }

  /**
   * Also for what a new run stores beside its row, and for a team with quotas, which a first try does not store. Throws if
   * one of the quotas is used up.
   */
  async #insert(tx: Tx, rows: NewRunRows, isTried: boolean): Promise<boolean> {
    const { change, origin } = rows;
    const statements = statementsOf(tx);
    const { sql } = this.#deps.jobInsert;
    const isMade =
      (!isTried && (await insertRuns(statements, sql, [rows])).size > 0) ||
      (await this.#insertChecked(statements, rows));
    if (isMade) {
      await this.#storeBeside(tx, origin.id, change);
    }
    return isMade;
  }

  async #insertChecked(statements: Statements, rows: NewRunRows): Promise<boolean> {
    await requireQuotas(statements, rows.origin, rows.change);
    return (await insertRuns(statements, this.#deps.jobInsert.sql, [rows], "checked")).size > 0;
  }

  async change(id: RunId, decide: Decide): Promise<Run> {
    const { by, run } = await this.#change(id, decide);
    if (by !== undefined) {
      this.#publish(id, by, [CHANNELS.attempt(id)]);
    }
    return run;
  }

  async changeOwn(id: RunId, decide: Decide, known: RunAggregate | undefined): Promise<OwnChange> {
    const { by, next, run } = await this.#change(id, decide, known);
    if (by !== undefined) {
      this.#publish(id, by);
    }
    return defined({ run, next });
  }

  /** Concurrent changes of a run are rare. After one, the row is locked before the run is read. */
  async #change(id: RunId, decide: Decide, known?: RunAggregate): Promise<Changed> {
    const { database } = this.#deps;
    const changed =
      (known && (await this.#tryKnown(known, decide))) ??
      (await this.#tryChange(database, await readAggregate(database, id), decide)) ??
      (await database.transaction(async (tx) => {
        const statements = statementsOf(tx);
        await lockRun(statements, id);
        return this.#tryChange(statements, await readAggregate(statements, id), decide);
      }));
    if (changed === undefined) {
      throw new AppError("resource_unavailable", "The run has changed meanwhile.");
    }
    return changed;
  }

  /**
   * Only a stored change proves that the run was as known. Threads change without their run, so a run that has some is read.
   */
  async #tryKnown(known: RunAggregate, decide: Decide): Promise<Changed | undefined> {
    if (known.threads.length > 0) {
      return undefined;
    }
    let change: RunChange | undefined;
    try {
      change = decide(known);
    } catch {
      return undefined;
    }
    return change && this.#tryChange(this.#deps.database, known, () => change);
  }

  /** Undefined when another transaction has changed the run since it was read; then nothing is stored. */
  async #tryChange(
    statements: Statements,
    aggregate: RunAggregate,
    decide: Decide,
  ): Promise<Changed | undefined> {
    const change = decide(aggregate);
    if (change === undefined) {
      return { run: aggregate.run, next: aggregate };
    }
    const stored = await this.#store(statements, aggregate, change);
    if (stored === undefined) {
      await this.#requireKey(statements, change);
    }
    return stored && { run: stored.run, by: change, next: nextOf(aggregate, change, stored) };
  }

  /** Tells why nothing was stored, if it was the caller's key, sign-in or share link. */
  async #requireKey(statements: Statements, { apiKeyId, shareLinkId, signInId }: RunChange): Promise<void> {
    if (apiKeyId !== undefined) {
      await requireKeyAlive(statements, apiKeyId);
    }
    if (signInId !== undefined) {
      await requireSignInOpen(statements, signInId);
    }
    if (shareLinkId !== undefined) {
      await requireEditableLink(statements, shareLinkId);
    }
  }

  async #store(
    statements: Statements,
    aggregate: RunAggregate,
    change: RunChange,
  ): Promise<Stored | undefined> {
    const at = this.#deps.clock.now();
    const { idempotentResponse: answer, jobs } = change;
    const isLimited = change.lease?.runningMax !== undefined;
    const isPlain = isAlone(change) && answer === undefined && jobs.length === 0;
    if (isPlain && !isLimited && change.author === undefined) {
      return updateRun(statements, aggregate, change, at);
    }
    return statements.transaction(async (tx) => {
      await nameAuthor(tx, change.author);
      const stored = await updateRun(statementsOf(tx), aggregate, change, at);
      if (stored === undefined) {
        return undefined;
      }
      await requireRoom(statementsOf(tx), stored.run.teamId, change.lease);
      await this.#storeCaused(tx, stored.run.id, change);
      return { ...stored, run: { ...stored.run, ...change.details } };
    });
  }

  async remove(id: RunId, check: (run: Run) => void): Promise<void> {
    const { database, pubsub } = this.#deps;
    await database.transaction(async (tx) => {
      await lockRun(statementsOf(tx), id);
      const { run } = await readAggregate(statementsOf(tx), id);
      check(run);
      await deleteRun(tx, run);
    });
    // Open streams of the run end, and its share links leave the caches.
    pubsub.publish([CHANNELS.run(id), CHANNELS.attempt(id), CHANNELS.keys, CHANNELS.deletedRuns]);
  }

  getAggregate(id: RunId): Promise<RunAggregate> {
    return readAggregate(this.#deps.database, id);
  }

  async find(key: RunKey): Promise<Run | undefined> {
    const row = "id" in key ? await this.#reads.do(key.id) : await this.#findOne(key);
    return row === undefined ? undefined : runOf(row);
  }

  async #findOne(key: Parameters<typeof findStatement>[0]): Promise<RunRow | undefined> {
    const [row] = await this.#deps.database.rows<RunRow>(findStatement(key));
    return row;
  }

  async list(query: RunQuery): Promise<RunPage> {
    const { database } = this.#deps;
    const { metadata, similarText } = query.filters;
    if (similarText !== undefined && (await database.rows(FIND_SIMILARITY)).length === 0) {
      return { runs: [] };
    }
    // Read before the page, because runs updated after the page was read must be after the end.
    const [end] = needsEnd(query) ? await database.rows<NewestUpdate>(newestStatement(query)) : [];
    const frequent =
      metadata === undefined ? [] : await database.rows<FrequentPair>(frequentStatement(metadata));
    const frequentPairs = new Set(frequent.map(({ pair }) => pair));
    const found = await database.rows<FoundRow>(listStatement(query, frequentPairs));
    const page = cutPage(found, query);
    const rows = await completeRows(page, query, database);
    const last = found.length > page.length ? page.at(-1) : undefined;
    return pageOf(rows.map(listedRunOf), query, last, end?.newest?.toISOString());
  }

  async findTurnEnd(id: RunId): Promise<RunEvent | undefined> {
    const row = await this.#turnEnds.do(id);
    return row && eventOf(row);
  }

  async readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    const rows = await this.#deps.database.rows<RunEventRow>(eventsStatement(id, after, limit, kinds));
    return rows.map(eventOf);
  }

  async readEventsBefore(id: RunId, before: number, limit: number): Promise<readonly RunEvent[]> {
    const rows = await this.#deps.database.rows<RunEventRow>(eventsBeforeStatement(id, before, limit));
    return rows.map(eventOf);
  }

  async lastSeqBeforeTurn(id: RunId, turn: number): Promise<number> {
    const [row] = await this.#deps.database.rows<{ seq: number }>(lastSeqStatement(id, turn));
    return row?.seq ?? 0;
  }

  async #storeCaused(tx: Tx, runId: RunId, change: RunChange): Promise<void> {
    await this.#storeBeside(tx, runId, change);
    if (change.idempotentResponse !== undefined) {
      await storeIdempotentResponse(tx, { ...change.idempotentResponse, runId });
    }
    await insertJobs(tx, this.#deps.jobInsert, change.jobs);
  }

  async #storeBeside(tx: Tx, runId: RunId, change: RunChange): Promise<void> {
    const { artifacts = [], cardsFromNow = [], inputs = [] } = change;
    await addFollowUps(tx, runId, change);
    if (cardsFromNow.length > 0) {
      const shown = { showsCard: true };
      const threadIds = [...cardsFromNow];
      await tx.threadRun.updateMany({ where: { runId, threadId: { in: threadIds } }, data: shown });
      await tx.thread.updateMany({ where: { runId, id: { in: threadIds } }, data: shown });
    }
    if (artifacts.length + inputs.length > 0) {
      await addFiles(tx, runId, { artifacts, inputs });
    }
    if (change.changes !== undefined) {
      await replaceChanges(tx, runId, change.changes);
    }
    if (change.binding !== undefined) {
      await bindThread(tx, runId, change.binding);
    }
    await addNotices(tx, change.notices, runId);
    if (change.details !== undefined) {
      await updateDetails(tx, runId, change.details);
    }
    if (change.sentDrafts !== undefined) {
      const { authorId, ids } = change.sentDrafts;
      await tx.draftComment.deleteMany({ where: { runId, authorId, id: { in: [...ids] } } });
    }
    if (change.webhook !== undefined) {
      await tx.webhookEndpoint.create({ data: endpointColumns(change.webhook) });
    }
    if (change.inboxResult !== undefined) {
      await storeInboxResult(tx, change.inboxResult);
    }
  }

  #publish(id: RunId, change: RunChange, others: readonly string[] = []): void {
    this.#deps.pubsub.publish([
      CHANNELS.run(id),
      ...others,
      CHANNELS.log,
      ...(change.isClaimable === true ? [CHANNELS.runQueue] : []),
      ...change.jobs.map(({ kind }) => CHANNELS.jobs(kind)),
    ]);
  }
}

type Decide = (aggregate: RunAggregate) => RunChange | undefined;

type Stored = Pick<RunAggregate, "run" | "version">;

interface Changed {
  readonly run: Run;
  /** Undefined when nothing had to change. */
  readonly by?: RunChange;
  readonly next: RunAggregate | undefined;
}

/** The aggregate after a change. Undefined: the change may have changed more of it than the run. */
function nextOf(aggregate: RunAggregate, change: RunChange, stored: Stored): RunAggregate | undefined {
  const { binding, cardsFromNow = [], changedFollowUps = [], details, followUps, takenFollowUps } = change;
  const lists = [cardsFromNow, changedFollowUps, followUps];
  const isOnlyRun =
    [binding, details, takenFollowUps].every((other) => other === undefined) &&
    lists.every((list) => list.length === 0) &&
    stored.run.turn === aggregate.run.turn;
  return isOnlyRun ? { ...aggregate, ...stored } : undefined;
}

/** Whether the change affects only the run: its row, its log, its idempotent response and its jobs. */
function isAlone(change: RunChange): boolean {
  const {
    artifacts = [],
    binding,
    cardsFromNow = [],
    followUps,
    inputs = [],
    notices,
    inboxResult: result,
    takenFollowUps: takes,
  } = change;
  const lists = [artifacts, cardsFromNow, followUps, change.changedFollowUps ?? [], inputs, notices];
  const others = [binding, change.changes, change.details, change.sentDrafts, result, takes, change.webhook];
  return lists.every((list) => list.length === 0) && others.every((other) => other === undefined);
}

/** The run as it would be read back. */
function createdRun(origin: RunDefinition, { events, progress }: RunChange): Run {
  return { ...origin, ...progress, updatedAt: origin.createdAt, lastSeq: events.length };
}
