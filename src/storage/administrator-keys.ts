import { SCOPES } from "../core/people/api-key.ts";
import { FIRST_TEAM } from "../core/people/team.ts";
import type { AdministratorKeys } from "../core/ports/people.ts";
import { ensureIdentity } from "./people-store.ts";
import { KEYS_TOPIC, type StoreParts } from "./store-parts.ts";

/** The identity of whoever holds the installation's own key. */
const SUBJECT = "errand:administrator";
const NAME = "Administrator";
/** Tells the installation's own key from others that its administrator has made. */
const KEY_NAME = "The installation's own key";

export class PrismaAdministratorKeys implements AdministratorKeys {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async set(hash: string, hint: string): Promise<void> {
    const { clock, database, news } = this.#parts;
    await database.transaction(async (tx) => {
      const wanted = { teamId: FIRST_TEAM, subject: SUBJECT, displayName: NAME };
      const { id: principalId } = await ensureIdentity(tx, wanted, clock.now());
      await tx.principal.update({
        where: { id: principalId },
        data: { administrator: true, disabled: false },
      });
      await tx.apiKey.deleteMany({ where: { principalId, name: KEY_NAME, hash: { not: hash } } });
      const row = { hash, hint, principalId, name: KEY_NAME, scopes: [...SCOPES] };
      await tx.apiKey.createMany({ data: [row], skipDuplicates: true });
    });
    news.tell([KEYS_TOPIC]);
  }

  async exists(): Promise<boolean> {
    const where = {
      name: KEY_NAME,
      revokedAt: null,
      principal: { identities: { some: { teamId: FIRST_TEAM, subject: SUBJECT } } },
    };
    return (await this.#parts.database.query((client) => client.apiKey.count({ where }))) > 0;
  }
}
