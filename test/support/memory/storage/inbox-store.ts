import type { AskedEvent, InboxResult } from "../../../../src/core/ports/stores/inbox-store.ts";
import {
  EARLY_REPLY_MS,
  type InboxStore,
  type MessageResult,
  type ThreadNotices,
} from "../../../../src/core/ports/stores/inbox-store.ts";
import type { InboxEvent } from "../../../../src/core/ports/thread-adapter.ts";
import { addNotices, endAsked, makeThread, storeInboxResult } from "./change-rows.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import { IDLE_MS } from "./lease-store.ts";

export class InMemoryInboxStore implements InboxStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  put(event: InboxEvent): Promise<boolean> {
    return this.#database.transaction(({ tables, jobs, now }) => {
      const { adapter, deliveryId } = event;
      const isKnown = tables.inbox
        .values()
        .some(({ event: known }) => known.adapter === adapter && known.deliveryId === deliveryId);
      if (isKnown) {
        return false;
      }
      const seq = BigInt(tables.inbox.size + 1);
      tables.inbox.set(event.id, { event: { ...event, receivedAt: new Date(now) }, seq, failures: 0 });
      jobs.push({ kind: "inbox", key: event.orderingKey, afterMs: event.collectMs ?? 0 });
      return true;
    });
  }

  isRepeated(id: string): Promise<boolean> {
    return this.#database.read(({ inbox }) => {
      const row = inbox.get(id);
      return inbox
        .values()
        .some(
          ({ disposition, event, seq }) =>
            row !== undefined &&
            disposition === undefined &&
            seq > row.seq &&
            event.orderingKey === row.event.orderingKey &&
            event.name === row.event.name &&
            event.body === row.event.body,
        );
    });
  }

  isTaken(dedupeKey: string): Promise<boolean> {
    return this.#database.read(({ meanings }) => meanings.has(dedupeKey));
  }

  next(orderingKey: string): Promise<InboxEvent | undefined> {
    return this.#database.read(({ inbox }) => {
      const isOpen = (row: { event: InboxEvent; disposition?: string }) =>
        row.event.orderingKey === orderingKey && row.disposition === undefined;
      return inbox.values().find(isOpen)?.event;
    });
  }

  listResultsOf(messageId: string): Promise<readonly MessageResult[]> {
    return this.#database.read(({ inbox }) =>
      [...inbox].flatMap(([inboxId, { disposition, revision, runId }]) =>
        disposition === undefined || revision?.messageId !== messageId
          ? []
          : [{ inboxId, disposition, version: revision.version, ...(runId === undefined ? {} : { runId }) }],
      ),
    );
  }

  complete(result: InboxResult, threadNotices?: ThreadNotices): Promise<void> {
    return this.#database.transaction((tx) => {
      storeInboxResult(tx, result);
      if (threadNotices !== undefined) {
        insertNotices(tx, threadNotices);
      }
    });
  }

  findAsked(id: string): Promise<AskedEvent | undefined> {
    return this.#database.read(({ inbox }) => {
      const row = inbox.get(id);
      return row?.disposition === "asked" ? askedOf(row) : undefined;
    });
  }

  listWaitingWith(id: string): Promise<readonly AskedEvent[]> {
    return this.#database.read(({ inbox }) =>
      [...inbox.values()].flatMap((row) =>
        row.disposition === "asked" && row.waitsWith === id ? [askedOf(row)] : [],
      ),
    );
  }

  listAsked(ageMs: number, limit: number): Promise<readonly AskedEvent[]> {
    return this.#database.read(({ inbox }, now) => {
      const asked = [...inbox.values()].filter(({ disposition }) => disposition === "asked");
      const old = asked.filter(({ event }) => event.receivedAt.getTime() < now - ageMs);
      return old.slice(0, limit).map(askedOf);
    });
  }

  listAskedIn(threadId: string): Promise<readonly AskedEvent[]> {
    return this.#database.read(({ deliveries, inbox }) => {
      const said = [...deliveries.values()].filter((delivery) => delivery.threadId === threadId);
      const keys = new Set(said.map(({ messageKey }) => messageKey));
      return [...inbox.values()].flatMap((row) =>
        row.disposition === "asked" && keys.has(`choice:${row.waitsWith ?? row.event.id}`)
          ? [askedOf(row)]
          : [],
      );
    });
  }

  giveUpAsked(id: string, reason: string, threadNotices?: ThreadNotices): Promise<boolean> {
    return this.#database.transaction((tx) => {
      const isEnded = endAsked(tx, id, { reason });
      if (isEnded && threadNotices !== undefined) {
        insertNotices(tx, threadNotices);
      }
      return isEnded;
    });
  }

  retry(id: string): Promise<boolean> {
    return this.#database.transaction(({ jobs, tables }) => {
      const row = tables.inbox.get(id);
      if (row?.disposition !== "failed" || row.event.body === "") {
        return false;
      }
      const { bodyKeptSince: _since, disposition: _disposition, reason: _reason, ...open } = row;
      tables.inbox.set(id, { ...open, failures: 0 });
      jobs.push({ kind: "inbox", key: row.event.orderingKey });
      return true;
    });
  }

  countFailure(id: string, error: string): Promise<number> {
    return this.#database.transaction(({ tables }) => {
      const row = tables.inbox.get(id);
      if (row === undefined) {
        throw new Error("A failure of an event that is not there was to be counted.");
      }
      const failures = row.failures + 1;
      tables.inbox.set(id, { ...row, failures, reason: error });
      return failures;
    });
  }

  noteFailure(id: string, error: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      const row = tables.inbox.get(id);
      if (row !== undefined) {
        tables.inbox.set(id, { ...row, reason: error });
      }
    });
  }

  pruneBodies(keptMs: number): Promise<number> {
    return this.#database.transaction(({ now, tables: { inbox } }) => {
      const old = [...inbox].filter(([, { bodyKeptSince = now, disposition }]) => {
        const age = now - bodyKeptSince;
        return age > EARLY_REPLY_MS && disposition !== "asked" && (disposition === "ignored" || age > keptMs);
      });
      for (const [id, { bodyKeptSince: _since, ...row }] of old) {
        inbox.set(id, { ...row, event: { ...row.event, body: "" } });
      }
      return old.length;
    });
  }

  listOpenOrderingKeys(limit: number): Promise<readonly string[]> {
    return this.#database.read(({ inbox }, now) => {
      const open = [...inbox.values()].filter(({ disposition }) => disposition === undefined);
      const old = open.filter(({ event }) => event.receivedAt.getTime() < now - IDLE_MS);
      return [...new Set(old.map(({ event }) => event.orderingKey))].slice(0, limit);
    });
  }
}

function askedOf({ event, waitsWith }: { event: InboxEvent; waitsWith?: string | undefined }): AskedEvent {
  return waitsWith === undefined ? event : { ...event, waitsWith };
}

function insertNotices(tx: Tx, { notices, once, thread }: ThreadNotices): void {
  if (once !== undefined && tx.tables.meanings.has(once)) {
    return;
  }
  if (once !== undefined) {
    tx.tables.meanings.add(once);
  }
  makeThread(tx, thread);
  addNotices(
    tx,
    structuredClone(notices).map((notice) => ({ threadId: thread.id, notice })),
  );
  tx.jobs.push({ kind: "deliver", key: thread.id });
}
