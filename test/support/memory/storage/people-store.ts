import { newId, type PrincipalId, type TeamId } from "../../../../src/core/basics/ids.ts";
import type { IdentityLink } from "../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { PeopleStore } from "../../../../src/core/ports/stores/people-stores.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

export class InMemoryPeopleStore implements PeopleStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
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
    return this.#database.transaction(({ tables, channels }) => {
      channels.push(CHANNELS.keys);
      tables.principals.set(principal.id, principal);
    });
  }

  change(
    teamId: TeamId,
    id: PrincipalId,
    decide: (principal: Principal, administrators: readonly Principal[]) => Principal,
  ): Promise<Principal | undefined> {
    return this.#database.transaction(({ tables: { principals }, channels }) => {
      const team = principals.values().filter((one) => one.teamId === teamId);
      const colleagues = [...team];
      const principal = colleagues.find((one) => one.id === id);
      if (principal === undefined) {
        return undefined;
      }
      const isOne = ({ administrator, disabled }: Principal) => administrator && !disabled;
      const changed = decide(principal, colleagues.filter(isOne));
      principals.set(id, changed);
      channels.push(CHANNELS.keys);
      return changed;
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
  const name = identityName(teamId, subject);
  const id = identities.get(name)?.principalId ?? newId<PrincipalId>(createdAt);
  const fresh = { id, teamId, type: "user", administrator: false, disabled: false, createdAt } as const;
  const known = principals.get(id) ?? fresh;
  const isNamed = displayName !== undefined && !hasOtherAccount(tables, id, subject);
  const principal = isNamed ? { ...known, displayName } : known;
  const link = { id: newId(createdAt), teamId, subject, principalId: id, createdAt };
  identities.set(name, identities.get(name) ?? link);
  principals.set(id, principal);
  return principal;
}

export function identityName(teamId: TeamId, subject: string): string {
  return `${teamId} ${subject}`;
}

function hasOtherAccount({ identities }: Tables, id: PrincipalId, subject: string): boolean {
  const isOther = (link: IdentityLink) => link.principalId === id && link.subject !== subject;
  return identities.values().some(isOther);
}
