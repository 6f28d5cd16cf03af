import type { TeamId } from "../../../../src/core/basics/ids.ts";
import type { TeamRecord } from "../../../../src/core/model/people/team-record.ts";
import type { RecordStore } from "../../../../src/core/ports/stores/record-store.ts";
import { UniqueConflict } from "../../../../src/core/ports/stores/storage.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

/** An in-memory fake of a table of records. */
export class InMemoryRecordStore<R extends TeamRecord> implements RecordStore<R> {
  readonly #database: InMemoryStatements;
  readonly #kind: string;
  readonly #uniqueName: ((record: R) => string) | undefined;
  readonly #topics: readonly string[];

  /**
   * `uniqueName`: the name that no two records of a team may share, if the table has such an index. `topics`: the
   * channels that are notified when a record was stored or removed.
   */
  constructor(
    database: InMemoryStatements,
    kind: string,
    uniqueName?: (record: R) => string,
    channels: readonly string[] = [],
  ) {
    this.#database = database;
    this.#kind = kind;
    this.#uniqueName = uniqueName;
    this.#topics = channels;
  }

  add(record: R): Promise<void> {
    return this.#database.transaction((tx) => {
      this.#requireFree(tx, record);
      this.#put(tx, record);
    });
  }

  find(teamId: TeamId, id: string): Promise<R | undefined> {
    return this.#database.read((tables) => this.#ofTeam(tables, teamId).find((record) => record.id === id));
  }

  list(teamId: TeamId): Promise<readonly R[]> {
    return this.#database.read((tables) =>
      this.#ofTeam(tables, teamId).sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime()),
    );
  }

  replace(record: R, seenAt?: Date): Promise<boolean> {
    return this.#database.transaction((tx) => {
      const known = this.#ofTeam(tx.tables, record.teamId).find(({ id }) => id === record.id);
      if (known === undefined) {
        return false;
      }
      if (seenAt !== undefined && known.updatedAt.getTime() !== seenAt.getTime()) {
        return false;
      }
      this.#requireFree(tx, record);
      this.#put(tx, record);
      return true;
    });
  }

  remove(teamId: TeamId, id: string): Promise<boolean> {
    return this.#database.transaction(({ tables, channels }) => {
      const isThere = this.#ofTeam(tables, teamId).some((record) => record.id === id);
      if (isThere) {
        channels.push(...this.#topics);
      }
      return isThere && tables.records.delete(this.#place(id));
    });
  }

  #ofTeam({ records }: Tables, teamId: TeamId): R[] {
    const mine = records.entries().filter(([place]) => place.startsWith(`${this.#kind} `));
    // Only this store adds records of its kind.
    return [...mine.map(([, record]) => record as R)].filter((record) => record.teamId === teamId);
  }

  #requireFree({ tables }: Tx, record: R): void {
    const name = this.#uniqueName?.(record);
    if (name === undefined) {
      return;
    }
    const others = this.#ofTeam(tables, record.teamId).filter(({ id }) => id !== record.id);
    if (others.some((other) => this.#uniqueName?.(other) === name)) {
      throw new UniqueConflict("name");
    }
  }

  #put({ tables, channels }: Tx, record: R): void {
    channels.push(...this.#topics);
    tables.records.set(this.#place(record.id), record);
  }

  #place(id: string): string {
    return `${this.#kind} ${id}`;
  }
}
