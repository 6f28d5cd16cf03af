import { SCOPES } from "../core/people/api-key.ts";
import { ADMINISTRATOR_SUBJECT } from "../core/people/identity.ts";
import { FIRST_TEAM } from "../core/people/team.ts";
import type { AdministratorKeys } from "../core/ports/people.ts";
import type { Tx } from "./database.ts";
import { ensureIdentity } from "./people-store.ts";
import { KEYS_TOPIC, type StoreParts } from "./store-parts.ts";

const NAME = "Administrator";
const KEY_NAME = "The installation's own key";

export class PrismaAdministratorKeys implements AdministratorKeys {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async set(hash: string, hint: string): Promise<void> {
    await this.#parts.database.transaction(async (tx) => {
      const principalId = await this.#administrator(tx);
      await tx.apiKey.deleteMany({ where: { ...ownKeyOf(principalId), hash: { not: hash } } });
      await addOwnKey(tx, principalId, hash, hint);
    });
    this.#parts.news.tell([KEYS_TOPIC]);
  }

  /** Who comes second waits for the first at the administrator's row, and then sees the first's key. */
  async setFirst(hash: string, hint: string): Promise<boolean> {
    return this.#parts.database.transaction(async (tx) => {
      const principalId = await this.#administrator(tx);
      if ((await tx.apiKey.count({ where: ownKeyOf(principalId) })) > 0) return false;
      await addOwnKey(tx, principalId, hash, hint);
      return true;
    });
  }

  async exists(): Promise<boolean> {
    const principal = { identities: { some: { teamId: FIRST_TEAM, subject: ADMINISTRATOR_SUBJECT } } };
    const where = { createdBy: null, principal };
    return (await this.#parts.database.query((client) => client.apiKey.count({ where }))) > 0;
  }

  /** Made, or made able again; its row is locked until the end of the transaction. */
  async #administrator(tx: Tx): Promise<string> {
    const wanted = { teamId: FIRST_TEAM, subject: ADMINISTRATOR_SUBJECT, displayName: NAME };
    const { id } = await ensureIdentity(tx, wanted, this.#parts.clock.now());
    await tx.principal.update({ where: { id }, data: { administrator: true, disabled: false } });
    return id;
  }
}

/** Its administrator may have other keys: those have been made by somebody. */
function ownKeyOf(principalId: string) {
  return { principalId, createdBy: null };
}

async function addOwnKey(tx: Tx, principalId: string, hash: string, hint: string): Promise<void> {
  const row = { hash, hint, principalId, name: KEY_NAME, scopes: [...SCOPES] };
  await tx.apiKey.createMany({ data: [row], skipDuplicates: true });
}
