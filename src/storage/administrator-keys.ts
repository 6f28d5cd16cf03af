import { SCOPES } from "../core/model/people/api-key.ts";
import { ADMINISTRATOR_SUBJECT } from "../core/model/people/identity.ts";
import { FIRST_TEAM } from "../core/model/people/team.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { AdministratorKeys } from "../core/ports/stores/people-stores.ts";
import { nameSystemAuthor } from "./audit-log.ts";
import type { Tx } from "./database.ts";
import { ensureIdentity } from "./people-store.ts";
import type { StoreDeps } from "./store-deps.ts";

const NAME = "Administrator";
const KEY_NAME = "The installation's own key";

/** Whether this is already the one key of an enabled administrator. */
const IS_SET = `
  SELECT id FROM principals
  WHERE id = (SELECT principal_id FROM identities WHERE team_id = $1::uuid AND subject = $2)
    AND administrator AND NOT disabled
    AND ARRAY (SELECT hash FROM api_keys WHERE principal_id = principals.id AND created_by IS NULL) = ARRAY [$3]`;
const EXISTS = `
  SELECT id FROM api_keys
  WHERE principal_id = (SELECT principal_id FROM identities WHERE team_id = $1::uuid AND subject = $2)
    AND created_by IS NULL LIMIT 1`;
/** No group and no identity provider decides about the server's own account. */
const ENABLED = { administrator: true, disabled: false, roleFromGroup: false, suspendedAt: null };
const ADMINISTRATOR = [FIRST_TEAM, ADMINISTRATOR_SUBJECT];

export class PrismaAdministratorKeys implements AdministratorKeys {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Nearly every start finds the key unchanged. */
  async set(hash: string, hint: string, formerHashes: readonly string[] = []): Promise<void> {
    if (await this.#isThere(IS_SET, [...ADMINISTRATOR, hash])) {
      return;
    }
    await this.#deps.database.transaction(async (tx) => {
      const principalId = await this.#administrator(tx);
      const former = { ...ownKeyOf(principalId), hash: { in: [...formerHashes] } };
      await tx.apiKey.updateMany({ where: former, data: { hash } });
      await tx.apiKey.deleteMany({ where: { ...ownKeyOf(principalId), hash: { not: hash } } });
      await addOwnKey(tx, principalId, hash, hint);
    });
    this.#deps.pubsub.publish([CHANNELS.keys]);
  }

  /** The second process waits for the first at the administrator's row, and then sees its key. */
  async setFirst(hash: string, hint: string): Promise<boolean> {
    return this.#deps.database.transaction(async (tx) => {
      const principalId = await this.#administrator(tx);
      if ((await tx.apiKey.count({ where: ownKeyOf(principalId) })) > 0) {
        return false;
      }
      await addOwnKey(tx, principalId, hash, hint);
      return true;
    });
  }

  exists(): Promise<boolean> {
    return this.#isThere(EXISTS, ADMINISTRATOR);
  }

  async #isThere(text: string, values: readonly string[]): Promise<boolean> {
    return (await this.#deps.database.rows({ text, values })).length > 0;
  }

  /** Creates or enables the administrator. Its row is locked until the end of the transaction. */
  async #administrator(tx: Tx): Promise<string> {
    await nameSystemAuthor(tx, "start");
    const wanted = { teamId: FIRST_TEAM, subject: ADMINISTRATOR_SUBJECT, displayName: NAME };
    const { id } = await ensureIdentity(tx, wanted, this.#deps.clock.now());
    await tx.principal.update({ where: { id }, data: ENABLED });
    return id;
  }
}

/** The administrator may have other keys, which have a creator. */
function ownKeyOf(principalId: string) {
  return { principalId, createdBy: null };
}

async function addOwnKey(tx: Tx, principalId: string, hash: string, hint: string): Promise<void> {
  const row = { hash, hint, principalId, name: KEY_NAME, scopes: [...SCOPES] };
  await tx.apiKey.createMany({ data: [row], skipDuplicates: true });
}
