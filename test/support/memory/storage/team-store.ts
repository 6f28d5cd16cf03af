import type { TeamId } from "../../../../src/core/basics/ids.ts";
import type { Team } from "../../../../src/core/model/people/team.ts";
import type { TeamStore } from "../../../../src/core/ports/stores/people-stores.ts";
import { UniqueConflict } from "../../../../src/core/ports/stores/storage.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemoryTeamStore implements TeamStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  find(id: TeamId): Promise<Team | undefined> {
    return this.#database.read(({ teams }) => teams.get(id));
  }

  /** Nothing to do, because transactions run one after another. */
  async lock(): Promise<void> {}

  list(): Promise<readonly Team[]> {
    return this.#database.read(({ teams }) => [...teams.values()]);
  }

  put(team: Team): Promise<void> {
    return this.#database.transaction(({ tables: { teams } }) => {
      if (teams.values().some(({ id, name }) => name === team.name && id !== team.id)) {
        throw new UniqueConflict("name");
      }
      teams.set(team.id, team);
    });
  }
}
