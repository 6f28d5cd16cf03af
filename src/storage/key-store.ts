import type { TeamId } from "../core/ids.ts";
import type { ApiKey, KeyHolder } from "../core/people/api-key.ts";
import type { KeyStore } from "../core/ports/people.ts";
import { keyOf, principalOf } from "./people-rows.ts";
import { KEYS_TOPIC, type StoreParts } from "./store-parts.ts";

export class PrismaKeyStore implements KeyStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async findByHash(hash: string): Promise<KeyHolder | undefined> {
    const row = await this.#parts.database.query((client) =>
      client.apiKey.findUnique({ where: { hash }, include: { principal: true } }),
    );
    return row === null ? undefined : { key: keyOf(row), principal: principalOf(row.principal) };
  }

  async add(key: ApiKey, hash: string): Promise<void> {
    const data = { ...key, hash, scopes: [...key.scopes] };
    await this.#parts.database.query((client) => client.apiKey.create({ data }));
  }

  async list(teamId: TeamId): Promise<readonly ApiKey[]> {
    const query = { where: { principal: { teamId } }, orderBy: { createdAt: "desc" } } as const;
    return (await this.#parts.database.query((client) => client.apiKey.findMany(query))).map(keyOf);
  }

  async update({ id, name, expiresAt, revokedAt }: ApiKey): Promise<void> {
    const { database, news } = this.#parts;
    const data = { name, expiresAt: expiresAt ?? null, revokedAt: revokedAt ?? null };
    await database.query((client) => client.apiKey.update({ where: { id }, data }));
    news.tell([KEYS_TOPIC]);
  }

  async touch(id: string, at: Date, hash?: string): Promise<void> {
    const isOlder = { OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: at } }] };
    await this.#parts.database.query((client) =>
      client.apiKey.updateMany({ where: { id, ...isOlder }, data: { lastUsedAt: at } }),
    );
    if (hash === undefined) return;
    await this.#parts.database.query((client) => client.apiKey.update({ where: { id }, data: { hash } }));
  }
}
