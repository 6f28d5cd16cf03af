import type { TeamId } from "../../core/ids.ts";
import type { Team } from "../../core/people/team.ts";
import type { TeamStore } from "../../core/ports/people.ts";
import { Taken } from "../../core/ports/storage.ts";
import type { MemoryStatements } from "./memory-database.ts";

export class MemoryTeamStore implements TeamStore {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  find(id: TeamId): Promise<Team | undefined> {
    return this.#database.read(({ teams }) => teams.get(id));
  }

  /** Transactions wait for one another anyway. */
  async lock(): Promise<void> {}

  list(): Promise<readonly Team[]> {
    return this.#database.read(({ teams }) => [...teams.values()]);
  }

  put(team: Team): Promise<void> {
    return this.#database.transaction(({ tables: { teams } }) => {
      if (teams.values().some(({ id, name }) => name === team.name && id !== team.id))
        throw new Taken("name");
      teams.set(team.id, team);
    });
  }
}
