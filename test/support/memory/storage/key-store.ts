import { randomUUID } from "node:crypto";
import { AppError } from "../../../../src/core/basics/errors.ts";
import type { TeamId } from "../../../../src/core/basics/ids.ts";
import { type ApiKey, isAlive, type KnownKey, SCOPES } from "../../../../src/core/model/people/api-key.ts";
import { ADMINISTRATOR_SUBJECT } from "../../../../src/core/model/people/identity.ts";
import type { Principal } from "../../../../src/core/model/people/principal.ts";
import { FIRST_TEAM } from "../../../../src/core/model/people/team.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { AdministratorKeys, KeyStore } from "../../../../src/core/ports/stores/people-stores.ts";
import type { InMemoryStatements, Tx } from "./in-memory-database.ts";
import { ensurePrincipal, identityName } from "./people-store.ts";

const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
const KEY_NAME = "The installation's own key";

export class InMemoryKeyStore implements KeyStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  findByHash(hash: string): Promise<KnownKey | undefined> {
    return this.#database.read(({ keys, principals }) => {
      const key = keys.get(hash);
      const principal = key && principals.get(key.principalId);
      return key && principal && { key, principal };
    });
  }

  add(key: ApiKey, hash: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.keys.set(hash, key);
    });
  }

  list(teamId: TeamId): Promise<readonly ApiKey[]> {
    return this.#database.read(({ keys, principals }) =>
      [...keys.values().filter(({ principalId }) => principals.get(principalId)?.teamId === teamId)].sort(
        (a, b) => b.createdAt.getTime() - a.createdAt.getTime(),
      ),
    );
  }

  change(
    teamId: TeamId,
    id: string,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<{ before: ApiKey; after: ApiKey } | undefined> {
    return this.#database.transaction((tx) => {
      const { keys, principals } = tx.tables;
      const before = keys.values().find((key) => key.id === id);
      if (before === undefined || principals.get(before.principalId)?.teamId !== teamId) {
        return undefined;
      }
      const after = decide(before);
      replace(tx, id, () => after);
      return { before, after };
    });
  }

  requireAlive(id: string): Promise<void> {
    return this.#database.transaction(({ now, tables }) => {
      const key = tables.keys.values().find((one) => one.id === id);
      const principal = key && tables.principals.get(key.principalId);
      if (!key || !principal || !isAlive({ key, principal }, new Date(now))) {
        throw new AppError("authentication_required", "The API key is not valid any more.");
      }
    });
  }

  touch(id: string, at: Date, hash?: string): Promise<void> {
    return this.#database.transaction((tx) => {
      const { keys } = tx.tables;
      replace(tx, id, (key) => {
        const isNewer = key.lastUsedAt === undefined || key.lastUsedAt < at;
        return isNewer ? { ...key, lastUsedAt: at } : key;
      });
      const [known, key] = keys.entries().find(([, one]) => one.id === id) ?? [];
      if (hash === undefined || known === undefined || key === undefined) {
        return;
      }
      keys.delete(known);
      keys.set(hash, key);
    });
  }

  prune(): Promise<number> {
    return this.#database.transaction(({ now, tables: { keys } }) => {
      const old = [...keys].filter(([, { expiresAt }]) => expiresAt && expiresAt.getTime() < now - KEPT_MS);
      for (const [hash] of old) {
        keys.delete(hash);
      }
      return old.length;
    });
  }
}

export class InMemoryAdministratorKeys implements AdministratorKeys {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  set(hash: string, hint: string, formerHashes: readonly string[] = []): Promise<void> {
    return this.#database.transaction((tx) => {
      const principal = administrator(tx);
      const { keys } = tx.tables;
      const own = [...keys].filter(([, key]) => isOwn(key, principal));
      for (const [known] of own) {
        keys.delete(known);
      }
      const [, same] = own.find(([known]) => known === hash || formerHashes.includes(known)) ?? [];
      if (same === undefined) {
        addOwn(tx, principal, hash, hint);
      } else {
        keys.set(hash, same);
      }
    });
  }

  setFirst(hash: string, hint: string): Promise<boolean> {
    return this.#database.transaction((tx) => {
      const principal = administrator(tx);
      if (tx.tables.keys.values().some((key) => isOwn(key, principal))) {
        return false;
      }
      addOwn(tx, principal, hash, hint);
      return true;
    });
  }

  exists(): Promise<boolean> {
    return this.#database.read(({ identities, keys }) => {
      const link = identities.get(identityName(FIRST_TEAM, ADMINISTRATOR_SUBJECT));
      return keys.values().some((key) => link !== undefined && isOwn(key, { id: link.principalId }));
    });
  }
}

function administrator(tx: Tx): Principal {
  const known = ensurePrincipal(tx, FIRST_TEAM, {
    subject: ADMINISTRATOR_SUBJECT,
    displayName: "Administrator",
    aliases: [],
  });
  const principal = { ...known, administrator: true, disabled: false };
  tx.tables.principals.set(principal.id, principal);
  return principal;
}

function isOwn({ createdBy, principalId }: ApiKey, { id }: Pick<Principal, "id">): boolean {
  return createdBy === undefined && principalId === id;
}

function addOwn({ tables, now }: Tx, { id: principalId }: Principal, hash: string, hint: string): void {
  const made = { id: randomUUID(), principalId, createdAt: new Date(now) };
  tables.keys.set(hash, { ...made, name: KEY_NAME, hint, scopes: SCOPES });
}

function replace({ tables, channels }: Tx, id: string, change: (key: ApiKey) => ApiKey): void {
  channels.push(CHANNELS.keys);
  for (const [hash, key] of tables.keys) {
    if (key.id === id) {
      tables.keys.set(hash, change(key));
    }
  }
}
