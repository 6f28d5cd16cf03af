import { AppError } from "../core/basics/errors.ts";
import type { TeamId } from "../core/basics/ids.ts";
import type { ApiKey, KnownKey } from "../core/model/people/api-key.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { KeyStore } from "../core/ports/stores/people-stores.ts";
import type { Statements, Tx } from "./database.ts";
import { type ApiKey as ApiKeyRow, type Principal as PrincipalRow, Prisma } from "./generated/client.ts";
import { FIND_PRINCIPALS, keyOf, principalOf } from "./people-rows.ts";
import { selectList } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const PRUNED_MAX = 1_000;
const FIND_BY_HASH = `
  SELECT ${selectList(Object.values(Prisma.ApiKeyScalarFieldEnum))} FROM api_keys WHERE hash = $1`;
const TOUCH = `
  UPDATE api_keys SET last_used_at = $2
  WHERE id = $1::uuid AND (last_used_at IS NULL OR last_used_at < $2)`;

export class PrismaKeyStore implements KeyStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async findByHash(hash: string): Promise<KnownKey | undefined> {
    const { database } = this.#deps;
    const [key] = await database.rows<ApiKeyRow>({ text: FIND_BY_HASH, values: [hash] });
    if (key === undefined) {
      return undefined;
    }
    const values = [[key.principalId]];
    const [principal] = await database.rows<PrincipalRow>({ text: FIND_PRINCIPALS, values });
    return principal && { key: keyOf(key), principal: principalOf(principal) };
  }

  async add(key: ApiKey, hash: string): Promise<void> {
    const data = { ...key, hash, scopes: [...key.scopes] };
    await this.#deps.database.query((client) => client.apiKey.create({ data }));
  }

  async list(teamId: TeamId): Promise<readonly ApiKey[]> {
    const query = {
      where: { principal: { teamId } },
      orderBy: [{ createdAt: "desc" as const }, { id: "desc" as const }],
    };
    return (await this.#deps.database.query((client) => client.apiKey.findMany(query))).map(keyOf);
  }

  async change(
    teamId: TeamId,
    id: string,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<{ before: ApiKey; after: ApiKey } | undefined> {
    const { database, pubsub } = this.#deps;
    const changed = await database.transaction(async (tx) => {
      const before = await lockToChange(tx, teamId, id);
      if (before === undefined) {
        return undefined;
      }
      const after = decide(before);
      const { name, createdByKey = null, expiresAt = null, revokedAt = null } = after;
      await tx.apiKey.update({ where: { id }, data: { name, createdByKey, expiresAt, revokedAt } });
      return { before, after };
    });
    if (changed !== undefined) {
      pubsub.publish([CHANNELS.keys]);
    }
    return changed;
  }

  requireAlive(id: string): Promise<void> {
    return requireKeyAlive(this.#deps.database, id);
  }

  async touch(id: string, at: Date, hash?: string): Promise<void> {
    await this.#deps.database.rows({ text: TOUCH, values: [id, at] });
    if (hash === undefined) {
      return;
    }
    await this.#deps.database.query((client) => client.apiKey.update({ where: { id }, data: { hash } }));
  }

  async prune(): Promise<number> {
    const { clock, database } = this.#deps;
    const now = clock.now();
    return database.query(
      (client) => client.$executeRaw`
        DELETE FROM api_keys WHERE id IN (
          SELECT id FROM api_keys WHERE expires_at < ${now}::timestamptz - interval '30 days' LIMIT ${PRUNED_MAX})`,
    );
  }
}

/**
 * The keys that are valid now: not revoked or expired, and of principals that are not disabled. Locks their rows, so that
 * whatever ends a key waits for the end of the transaction. In a fixed order, so that two statements cannot wait for each
 * other.
 */
export function aliveKeys(isOneOf: string): string {
  return `
    SELECT api_keys.id FROM api_keys JOIN principals ON principals.id = principal_id
    WHERE api_keys.id ${isOneOf} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AND NOT disabled
    ORDER BY api_keys.id FOR SHARE`;
}

const FIND_ALIVE = aliveKeys("= $1::uuid");

export async function requireKeyAlive(statements: Pick<Statements, "rows">, id: string): Promise<void> {
  const alive = await statements.rows({ text: FIND_ALIVE, values: [id] });
  if (alive.length === 0) {
    throw new AppError("authentication_required", "The API key is not valid any more.");
  }
}

/** The key, locked for the transaction. A waiting transaction sees what the previous one stored. */
async function lockToChange(tx: Tx, teamId: TeamId, id: string): Promise<ApiKey | undefined> {
  await tx.$queryRaw`SELECT FROM api_keys WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  const row = await tx.apiKey.findFirst({ where: { id, principal: { teamId } } });
  return row === null ? undefined : keyOf(row);
}
