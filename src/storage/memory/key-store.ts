import { randomUUID } from "node:crypto";
import type { TeamId } from "../../core/ids.ts";
import { type ApiKey, type KeyHolder, SCOPES } from "../../core/people/api-key.ts";
import { FIRST_TEAM } from "../../core/people/team.ts";
import type { AdministratorKeys, KeyStore } from "../../core/ports/people.ts";
import type { MemoryStatements, Tx } from "./memory-database.ts";
import { ensurePrincipal } from "./people-store.ts";

const SUBJECT = "errand:administrator";
const KEY_NAME = "The installation's own key";

export class MemoryKeyStore implements KeyStore {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  findByHash(hash: string): Promise<KeyHolder | undefined> {
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

  update({ id, name, expiresAt, revokedAt }: ApiKey): Promise<void> {
    return this.#database.transaction((tx) => {
      replace(tx, id, ({ expiresAt: _end, revokedAt: _revoked, ...key }) => ({
        ...key,
        name,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(revokedAt === undefined ? {} : { revokedAt }),
      }));
    });
  }

  touch(id: string, at: Date): Promise<void> {
    return this.#database.transaction((tx) => {
      replace(tx, id, (key) => {
        const isNewer = key.lastUsedAt === undefined || key.lastUsedAt < at;
        return isNewer ? { ...key, lastUsedAt: at } : key;
      });
    });
  }
}

export class MemoryAdministratorKeys implements AdministratorKeys {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  set(hash: string, hint: string): Promise<void> {
    return this.#database.transaction((tx) => {
      const { keys, principals } = tx.tables;
      const principal = ensurePrincipal(tx, FIRST_TEAM, SUBJECT, "Administrator");
      principals.set(principal.id, { ...principal, administrator: true });
      for (const [known, { name }] of keys) if (name === KEY_NAME) keys.delete(known);
      const whose = { principalId: principal.id, createdAt: new Date(tx.now) };
      keys.set(hash, { id: randomUUID(), name: KEY_NAME, hint, scopes: SCOPES, ...whose });
    });
  }

  exists(): Promise<boolean> {
    return this.#database.read(({ keys }) => keys.values().some(({ name }) => name === KEY_NAME));
  }
}

function replace({ tables, topics }: Tx, id: string, change: (key: ApiKey) => ApiKey): void {
  topics.push("keys");
  for (const [hash, key] of tables.keys) if (key.id === id) tables.keys.set(hash, change(key));
}
