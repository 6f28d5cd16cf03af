import { AppError } from "../core/errors.ts";
import type { RunId } from "../core/ids.ts";
import { type RunKey, type RunStore, type RunSubject, Taken } from "../core/ports/storage.ts";
import type { RunEvent, RunEventKind } from "../core/runs/events.ts";
import type { Run, RunOrigin } from "../core/runs/run.ts";
import type { RunChange } from "../core/runs/run-change.ts";
import type { RunPage, RunQuery } from "../core/runs/run-query.ts";
import { addNotices, bindThread, rememberAnswer, settleEvent } from "./change-rows.ts";
import { statementsOf, type Tx } from "./database.ts";
import { addFiles } from "./file-store.ts";
import type { Run as RunRow } from "./generated/client.ts";
import { insertRuns, insertsOf, isAllInserted, jobStatements, type NewRunRows } from "./insert-runs.ts";
import {
  type FrequentPair,
  findStatement,
  frequentStatement,
  listStatement,
  pageOf,
  readsOf,
} from "./run-list.ts";
import { eventOf, followUpOf, json, progressColumns, runOf, threadOf } from "./run-rows.ts";
import type { StoreParts } from "./store-parts.ts";
import type { Together } from "./together.ts";

export class PrismaRunStore implements RunStore {
  readonly #parts: StoreParts;
  readonly #inserts: Together<NewRunRows, boolean>;
  readonly #reads: Together<string, RunRow | undefined>;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#inserts = insertsOf(parts.database);
    this.#reads = readsOf(parts.database);
  }

  async create(origin: RunOrigin, change: RunChange): Promise<Run> {
    const { database, sendJobs } = this.#parts;
    const rows = { origin, change, jobs: await jobStatements(sendJobs, change.jobs) };
    const isMade = isAllInserted(change)
      ? await this.#inserts.do(rows)
      : await database.transaction(async (tx) => {
          const made = await insertRuns(statementsOf(tx), [rows]);
          if (made.size > 0) await this.#storeBeside(tx, origin.id, change);
          return made.size > 0;
        });
    if (!isMade) throw new Taken("answer");
    this.#tell(origin.id, change);
    return createdRun(origin, change);
  }

  async change(id: RunId, decide: (subject: RunSubject) => RunChange | undefined): Promise<Run> {
    const { run, change } = await this.#parts.database.transaction(async (tx) => {
      const subject = await lock(tx, id);
      const change = decide(subject);
      if (change === undefined) return { run: subject.run, change };
      await this.#update(tx, subject.run, change);
      await this.#storeCaused(tx, id, subject.run.lastSeq, change);
      return { run: runOf(await tx.run.findUniqueOrThrow({ where: { id } })), change };
    });
    if (change !== undefined) this.#tell(id, change);
    return run;
  }

  async find(key: RunKey): Promise<Run | undefined> {
    const row = "id" in key ? await this.#reads.do(key.id) : await this.#findOne(key);
    return row === undefined ? undefined : runOf(row);
  }

  async #findOne(key: Parameters<typeof findStatement>[0]): Promise<RunRow | undefined> {
    const [row] = await this.#parts.database.rows<RunRow>(findStatement(key));
    return row;
  }

  async list(query: RunQuery): Promise<RunPage> {
    const { database } = this.#parts;
    const { metadata } = query.filters;
    const found =
      metadata === undefined ? [] : await database.rows<FrequentPair>(frequentStatement(metadata));
    const frequentPairs = new Set(found.map(({ pair }) => pair));
    const rows = await database.rows<RunRow>(listStatement(query, frequentPairs));
    return pageOf(rows.map(runOf), query);
  }

  async readEvents(
    id: RunId,
    after: number,
    limit: number,
    kinds?: readonly RunEventKind[],
  ): Promise<readonly RunEvent[]> {
    const where = { runId: id, seq: { gt: after }, ...(kinds && { kind: { in: [...kinds] } }) };
    const rows = await this.#parts.database.query((client) =>
      client.runEvent.findMany({ where, orderBy: { seq: "asc" }, take: limit }),
    );
    return rows.map(eventOf);
  }

  async #update(tx: Tx, run: Run, change: RunChange): Promise<void> {
    // The row is locked; that the state is still the one decided upon is checked once more, since everything
    // hangs on it.
    const { count } = await tx.run.updateMany({
      where: { id: run.id, state: run.state },
      data: {
        ...progressColumns(change.progress),
        updatedAt: this.#parts.clock.now(),
        lastSeq: { increment: change.events.length },
      },
    });
    if (count !== 1) throw new AppError("conflict", "The run has changed meanwhile.");
    await setLease(tx, run.id, change.lease);
  }

  async #storeCaused(tx: Tx, runId: RunId, lastSeq: number, change: RunChange): Promise<void> {
    await addEvents(tx, runId, lastSeq, change.events);
    await this.#storeBeside(tx, runId, change);
    if (change.answer !== undefined) await rememberAnswer(tx, change.answer);
    await this.#parts.sendJobs(tx, change.jobs);
  }

  async #storeBeside(tx: Tx, runId: RunId, change: RunChange): Promise<void> {
    await addFollowUps(tx, runId, change);
    await addFiles(tx, runId, change);
    if (change.binding !== undefined) await bindThread(tx, runId, change.binding);
    await addNotices(tx, change.notices);
    if (change.settlement !== undefined) await settleEvent(tx, change.settlement);
  }

  #tell(id: RunId, change: RunChange): void {
    this.#parts.news.tell([`run:${id}`, "log", ...change.jobs.map(({ kind }) => `jobs:${kind}`)]);
  }
}

/** As it would be read back. */
function createdRun(origin: RunOrigin, { events, progress }: RunChange): Run {
  return { ...origin, ...progress, updatedAt: origin.createdAt, lastSeq: events.length };
}

async function lock(tx: Tx, id: RunId): Promise<RunSubject> {
  const locked = await tx.$queryRaw<{ over: boolean }[]>`
    SELECT coalesce(lease_expires_at < clock_timestamp(), false) AS over
    FROM runs WHERE id = ${id}::uuid FOR UPDATE`;
  const leaseOver = locked[0]?.over;
  if (leaseOver === undefined) throw new AppError("resource_not_found", "There is no such run.");
  const row = await tx.run.findUniqueOrThrow({
    where: { id },
    include: { threads: { include: { thread: true } } },
  });
  const open = { OR: [{ turn: null }, { turn: row.turn }], runId: id };
  const followUps = (await tx.followUp.findMany({ where: open, orderBy: { seq: "asc" } })).map(followUpOf);
  return {
    run: runOf(row),
    waiting: followUps.filter(({ turn }) => turn === undefined),
    taken: followUps.filter(({ turn }) => turn !== undefined),
    threads: row.threads.map(({ thread }) => threadOf(thread)),
    leaseOver,
  };
}

/** A lease runs by the database's clock, which all workers share. */
async function setLease(tx: Tx, id: RunId, lease: RunChange["lease"]): Promise<void> {
  if (lease === undefined) return;
  if (lease === null) {
    await tx.run.update({
      where: { id },
      data: { leaseToken: null, leaseWorker: null, leaseExpiresAt: null },
    });
    return;
  }
  await tx.$executeRaw`
    UPDATE runs SET lease_token = ${lease.token}::uuid, lease_worker = ${lease.worker},
      lease_expires_at = clock_timestamp() + ${lease.ttlMs}::int * interval '1 millisecond'
    WHERE id = ${id}::uuid`;
}

async function addEvents(tx: Tx, runId: RunId, lastSeq: number, events: RunChange["events"]): Promise<void> {
  if (events.length === 0) return;
  await tx.runEvent.createMany({
    data: events.map(({ turn, body }, index) => ({
      runId,
      seq: lastSeq + index + 1,
      turn,
      kind: body.kind,
      body: json(body),
    })),
  });
}

async function addFollowUps(tx: Tx, runId: RunId, { followUps, takes }: RunChange): Promise<void> {
  if (followUps.length > 0) {
    const { _max } = await tx.followUp.aggregate({ where: { runId }, _max: { seq: true } });
    const lastSeq = _max.seq ?? 0;
    await tx.followUp.createMany({
      data: followUps.map((row, index) => ({ ...row, seq: lastSeq + index + 1 })),
    });
  }
  if (takes === undefined) return;
  await tx.followUp.updateMany({ where: { id: { in: [...takes.ids] } }, data: { turn: takes.turn } });
}
