import type { TeamId } from "../core/basics/ids.ts";
import type { TeamRecord } from "../core/model/people/team-record.ts";
import type { RecordStore } from "../core/ports/stores/record-store.ts";
import { UniqueConflict } from "../core/ports/stores/storage.ts";
import type { Statements, Tx } from "./database.ts";
import { Prisma } from "./generated/client.ts";

interface Count {
  readonly count: number;
}
interface RecordKey {
  readonly teamId: string;
  readonly id: string;
  readonly updatedAt?: Date;
  readonly runId?: null;
}

/** The methods of a Prisma table that are used here. */
export interface RecordTable<Row, Columns> {
  createMany(args: { data: Columns[]; skipDuplicates: true }): Promise<Count>;
  findFirst(args: { where: RecordKey }): Promise<Row | null>;
  findMany(args: {
    where: Omit<RecordKey, "id">;
    orderBy: [{ createdAt: "asc" }, { id: "asc" }];
  }): Promise<Row[]>;
  updateMany(args: { where: RecordKey; data: Columns }): Promise<Count>;
  deleteMany(args: { where: RecordKey }): Promise<Count>;
}

export interface RecordMapping<R extends TeamRecord, Row, Columns> {
  table(client: Tx): NoInfer<RecordTable<Row, Columns>>;
  columnsOf(record: R): Columns;
  recordOf(row: Row): R;
  /** Which rows of the table `find` and `list` read. Default: all. */
  readonly listed?: Pick<RecordKey, "runId">;
}

/** Stores records of one kind in their table. Each kind maps its own rows; the rest is shared. */
export class PrismaRecordStore<R extends TeamRecord, Row, Columns> implements RecordStore<R> {
  readonly #database: Statements;
  readonly #mapping: RecordMapping<R, Row, Columns>;
  readonly #changed: () => void;

  /** `changed` is called when something was stored or removed. */
  constructor(
    database: Statements,
    mapping: RecordMapping<R, Row, Columns>,
    changed: () => void = () => undefined,
  ) {
    this.#database = database;
    this.#mapping = mapping;
    this.#changed = changed;
  }

  async add(record: R): Promise<void> {
    const data = [this.#mapping.columnsOf(record)];
    const { count } = await this.#ask((table) => table.createMany({ data, skipDuplicates: true }));
    if (count === 0) {
      throw new UniqueConflict("name");
    }
    this.#changed();
  }

  async find(teamId: TeamId, id: string): Promise<R | undefined> {
    const row = await this.#ask((table) =>
      table.findFirst({ where: { ...this.#mapping.listed, teamId, id } }),
    );
    return row === null ? undefined : this.#mapping.recordOf(row);
  }

  async list(teamId: TeamId): Promise<readonly R[]> {
    const rows = await this.#ask((table) =>
      table.findMany({
        where: { ...this.#mapping.listed, teamId },
        orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      }),
    );
    return rows.map((row) => this.#mapping.recordOf(row));
  }

  async replace(record: R, seenAt?: Date): Promise<boolean> {
    const key = { teamId: record.teamId, id: record.id };
    const where = seenAt === undefined ? key : { ...key, updatedAt: seenAt };
    const data = this.#mapping.columnsOf(record);
    try {
      return this.#publishIfChanged(await this.#ask((table) => table.updateMany({ where, data })));
    } catch (error) {
      throw isNameTaken(error) ? new UniqueConflict("name") : error;
    }
  }

  async remove(teamId: TeamId, id: string): Promise<boolean> {
    return this.#publishIfChanged(await this.#ask((table) => table.deleteMany({ where: { teamId, id } })));
  }

  #publishIfChanged({ count }: Count): boolean {
    if (count > 0) {
      this.#changed();
    }
    return count > 0;
  }

  #ask<T>(question: (table: RecordTable<Row, Columns>) => Promise<T>): Promise<T> {
    return this.#database.query((client) => question(this.#mapping.table(client)));
  }
}

/** `changed` is called when something was stored or removed. */
export function recordStore<R extends TeamRecord, Row, Columns>(
  database: Statements,
  mapping: RecordMapping<R, Row, Columns>,
  changed?: () => void,
): RecordStore<R> {
  return new PrismaRecordStore(database, mapping, changed);
}

/** Whether a write met a unique index. For a table with one such index, that is its name. */
export function isNameTaken(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";
}
