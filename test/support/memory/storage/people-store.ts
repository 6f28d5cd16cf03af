import { newId, type PrincipalId, type TeamId } from "../../../../src/core/basics/ids.ts";
import type { IdentityLink } from "../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { PeopleStore } from "../../../../src/core/ports/stores/people-stores.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

interface WantedAccount {
  readonly subject: string;
  readonly displayName: string | undefined;
  readonly aliases: readonly string[];
}

export class InMemoryPeopleStore implements PeopleStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  ensure(
    teamId: TeamId,
    subject: string,
    displayName: string | undefined,
    aliases: readonly string[] = [],
  ): Promise<Principal> {
    return this.#database.transaction((tx) => ensurePrincipal(tx, teamId, { subject, displayName, aliases }));
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
  { aliases, displayName, subject }: WantedAccount,
): Principal {
  const { identities, principals } = tables;
  const createdAt = new Date(now);
  const own = [subject, ...aliases];
  const known = own.flatMap((one) => identities.get(identityName(teamId, one))?.principalId ?? []);
  const [id = newId<PrincipalId>(createdAt)] = known;
  const fresh = { id, teamId, type: "user", administrator: false, disabled: false, createdAt } as const;
  const before = principals.get(id) ?? fresh;
  const isNamed = displayName !== undefined && !hasOtherAccount(tables, id, own);
  const principal = isNamed ? { ...before, displayName } : before;
  for (const one of own.slice(0, 2)) {
    const name = identityName(teamId, one);
    const link = { id: newId(createdAt), teamId, subject: one, principalId: id, createdAt };
    identities.set(name, identities.get(name) ?? link);
  }
  principals.set(id, principal);
  return principal;
}

export function identityName(teamId: TeamId, subject: string): string {
  return `${teamId} ${subject}`;
}

function hasOtherAccount({ identities }: Tables, id: PrincipalId, own: readonly string[]): boolean {
  const isOther = (link: IdentityLink) => link.principalId === id && !own.includes(link.subject);
  return identities.values().some(isOther);
}
