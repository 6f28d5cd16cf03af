import { newId, type TeamId } from "../../../../src/core/basics/ids.ts";
import type { Installation } from "../../../../src/core/model/people/installation.ts";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import type { InstallationStore } from "../../../../src/core/ports/stores/people-stores.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemoryInstallationStore implements InstallationStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  ensure(adapter: string, externalId: string): Promise<Installation> {
    return this.#database.transaction(({ tables: { installations }, now }) => {
      const name = `${adapter} ${externalId}`;
      const createdAt = new Date(now);
      const fresh = {
        id: newId(createdAt),
        teamId: FIRST_TEAM,
        adapter,
        externalId,
        enabled: !installations.values().some((one) => one.adapter === adapter),
        createdAt,
      };
      const installation = installations.get(name) ?? fresh;
      installations.set(name, installation);
      return installation;
    });
  }

  list(teamId?: TeamId): Promise<readonly Installation[]> {
    return this.#database.read(({ installations }) => [
      ...installations.values().filter((one) => teamId === undefined || one.teamId === teamId),
    ]);
  }

  listOffered(teamId: TeamId): Promise<readonly Installation[]> {
    return this.#database.read(({ installations }) => [
      ...installations.values().filter(({ offeredTo }) => offeredTo === teamId),
    ]);
  }

  /** Transactions run one after another, so a lock is only a read. */
  lock(id: string): Promise<Installation | undefined> {
    return this.#database.read(({ installations }) => installations.values().find((one) => one.id === id));
  }

  update(installation: Installation): Promise<void> {
    return this.#database.transaction(({ tables: { installations } }) => {
      const name = `${installation.adapter} ${installation.externalId}`;
      installations.set(name, withProblem(installation, installations.get(name)?.problem));
    });
  }

  setProblem(
    { adapter, externalId }: Parameters<InstallationStore["setProblem"]>[0],
    problem: string | undefined,
  ): Promise<void> {
    return this.#database.transaction(({ tables: { installations } }) => {
      for (const [name, one] of installations) {
        if (one.adapter === adapter && (externalId === undefined || one.externalId === externalId)) {
          installations.set(name, withProblem(one, problem));
        }
      }
    });
  }
}

function withProblem({ problem: _, ...others }: Installation, problem: string | undefined): Installation {
  return problem === undefined ? others : { ...others, problem };
}
