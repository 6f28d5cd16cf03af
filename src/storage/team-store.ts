import type { TeamId } from "../core/basics/ids.ts";
import type { Team } from "../core/model/people/team.ts";
import type { TeamStore } from "../core/ports/stores/people-stores.ts";
import { UniqueConflict } from "../core/ports/stores/storage.ts";
import type { Statements } from "./database.ts";
import type { Team as TeamRow } from "./generated/client.ts";
import { isNameTaken } from "./record-store.ts";

export class PrismaTeamStore implements TeamStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async find(id: TeamId): Promise<Team | undefined> {
    const row = await this.#database.query((client) => client.team.findUnique({ where: { id } }));
    return row === null ? undefined : teamOf(row);
  }

  async lock(id: TeamId): Promise<void> {
    await this.#database.query(
      (client) => client.$queryRaw`SELECT FROM teams WHERE id = ${id}::uuid FOR NO KEY UPDATE`,
    );
  }

  async list(): Promise<readonly Team[]> {
    const rows = await this.#database.query((client) => client.team.findMany({ orderBy: { id: "asc" } }));
    return rows.map(teamOf);
  }

  async put({ id, name, sharing, createdAt }: Team): Promise<void> {
    const [create, update] = [
      { id, name, sharing, createdAt },
      { name, sharing, updatedAt: new Date() },
    ];
    try {
      await this.#database.query((client) => client.team.upsert({ where: { id }, create, update }));
    } catch (error) {
      throw isNameTaken(error) ? new UniqueConflict("name") : error;
    }
  }
}

function teamOf({ id, name, sharing, createdAt }: TeamRow): Team {
  return { id, name, sharing, createdAt };
}
