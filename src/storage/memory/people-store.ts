import { newId, type PrincipalId } from "../../core/ids.ts";
import type { Principal } from "../../core/people/principal.ts";
import type { PeopleStore } from "../../core/ports/storage.ts";
import type { MemoryDatabase, Tx } from "./memory-database.ts";

const ADMINISTRATOR = "errand:administrator";

export class MemoryPeopleStore implements PeopleStore {
  readonly #database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.#database = database;
  }

  ensure(subject: string, displayName: string | undefined): Promise<Principal> {
    return this.#database.transaction((tx) => ensurePrincipal(tx, subject, displayName));
  }

  getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]> {
    return this.#database.read(({ principals }) => [
      ...principals.values().filter(({ id }) => ids.includes(id)),
    ]);
  }

  findByKeyHash(hash: string): Promise<Principal | undefined> {
    return this.#database.read(({ keys, principals }) => {
      const id = keys.get(hash);
      return id === undefined ? undefined : principals.get(id);
    });
  }

  setAdministratorKey(keyHash: string): Promise<void> {
    return this.#database.transaction((tx) => {
      const { keys, principals } = tx.tables;
      const principal = ensurePrincipal(tx, ADMINISTRATOR, "Administrator");
      principals.set(principal.id, { ...principal, administrator: true });
      for (const [hash, id] of keys) if (id === principal.id) keys.delete(hash);
      keys.set(keyHash, principal.id);
    });
  }

  hasAdministratorKey(): Promise<boolean> {
    return this.#database.read(({ keys, identities }) => {
      const administrator = identities.get(ADMINISTRATOR);
      return keys.values().some((id) => id === administrator);
    });
  }
}

function ensurePrincipal({ tables, now }: Tx, subject: string, displayName: string | undefined): Principal {
  const { identities, principals } = tables;
  const id = identities.get(subject) ?? newId<PrincipalId>(new Date(now));
  const known = principals.get(id) ?? { id, type: "user", administrator: false };
  const principal = displayName === undefined ? known : { ...known, displayName };
  identities.set(subject, id);
  principals.set(id, principal);
  return principal;
}
