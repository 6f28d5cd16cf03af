import { newId, type PrincipalId, type TeamId } from "../../core/ids.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { PeopleStore } from "../../core/ports/people.ts";
import type { MemoryStatements, Tx } from "./memory-database.ts";

export class MemoryPeopleStore implements PeopleStore {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  ensure(teamId: TeamId, subject: string, displayName: string | undefined): Promise<Principal> {
    return this.#database.transaction((tx) => ensurePrincipal(tx, teamId, subject, displayName));
  }

  getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]> {
    return this.#database.read(({ principals }) => [
      ...principals.values().filter(({ id }) => ids.includes(id)),
    ]);
  }

  list(teamId: TeamId): Promise<readonly Principal[]> {
    return this.#database.read(({ principals }) => [
      ...principals.values().filter((principal) => principal.teamId === teamId),
    ]);
  }

  put(principal: Principal): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.principals.set(principal.id, principal);
    });
  }
}

export function ensurePrincipal(
  { tables, now }: Tx,
  teamId: TeamId,
  subject: string,
  displayName: string | undefined,
): Principal {
  const { identities, principals } = tables;
  const createdAt = new Date(now);
  const name = `${teamId} ${subject}`;
  const id = identities.get(name) ?? newId<PrincipalId>(createdAt);
  const fresh = { id, teamId, type: "user", administrator: false, disabled: false, createdAt } as const;
  const known = principals.get(id) ?? fresh;
  const principal = displayName === undefined ? known : { ...known, displayName };
  identities.set(name, id);
  principals.set(id, principal);
  return principal;
}
