import { newId, type PrincipalId, type TeamId } from "../../../../src/core/basics/ids.ts";
import type { IdentityLink } from "../../../../src/core/model/people/identity.ts";
import type { IdentityStore } from "../../../../src/core/ports/stores/people-stores.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { identityName } from "./people-store.ts";

export class InMemoryIdentityStore implements IdentityStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  list(teamId: TeamId): Promise<readonly IdentityLink[]> {
    return this.#database.read(({ identities }) => [
      ...identities.values().filter((link) => link.teamId === teamId),
    ]);
  }

  find(teamId: TeamId, subject: string): Promise<IdentityLink | undefined> {
    return this.#database.read(({ identities }) => identities.get(identityName(teamId, subject)));
  }

  listAccount(subject: string): Promise<readonly IdentityLink[]> {
    return this.#database.read(({ identities }) => [
      ...identities.values().filter((link) => link.subject === subject),
    ]);
  }

  link(teamId: TeamId, subject: string, principalId: PrincipalId): Promise<IdentityLink> {
    return this.#database.transaction(({ tables: { identities }, now }) => {
      const createdAt = new Date(now);
      const fresh = { id: newId(createdAt), teamId, subject, principalId, createdAt };
      const name = identityName(teamId, subject);
      const link = { ...(identities.get(name) ?? fresh), principalId, linkedAt: createdAt };
      identities.set(name, link);
      return link;
    });
  }

  unlink(teamId: TeamId, id: string): Promise<boolean> {
    return this.#database.transaction(({ tables: { identities } }) => {
      const link = identities.values().find((one) => one.teamId === teamId && one.id === id);
      return link !== undefined && identities.delete(identityName(teamId, link.subject));
    });
  }
}
