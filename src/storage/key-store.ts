import type { TeamId } from "../core/ids.ts";
import type { ApiKey, KeyHolder } from "../core/people/api-key.ts";
import type { KeyStore } from "../core/ports/people.ts";
import { type ApiKey as ApiKeyRow, type Principal as PrincipalRow, Prisma } from "./generated/client.ts";
import { FIND_PRINCIPALS, keyOf, principalOf } from "./people-rows.ts";
import { selected } from "./run-columns.ts";
import { KEYS_TOPIC, type StoreParts } from "./store-parts.ts";

const FIND_BY_HASH = `
  SELECT ${selected(Object.values(Prisma.ApiKeyScalarFieldEnum))} FROM api_keys WHERE hash = $1`;
const TOUCH = `
  UPDATE api_keys SET last_used_at = $2
  WHERE id = $1::uuid AND (last_used_at IS NULL OR last_used_at < $2)`;

export class PrismaKeyStore implements KeyStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async findByHash(hash: string): Promise<KeyHolder | undefined> {
    const { database } = this.#parts;
    const [key] = await database.rows<ApiKeyRow>({ text: FIND_BY_HASH, values: [hash] });
    if (key === undefined) return undefined;
    const values = [[key.principalId]];
    const [principal] = await database.rows<PrincipalRow>({ text: FIND_PRINCIPALS, values });
    return principal && { key: keyOf(key), principal: principalOf(principal) };
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
    await this.#parts.database.rows({ text: TOUCH, values: [id, at] });
    if (hash === undefined) return;
    await this.#parts.database.query((client) => client.apiKey.update({ where: { id }, data: { hash } }));
  }
}
