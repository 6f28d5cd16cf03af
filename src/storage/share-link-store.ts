import { AppError } from "../core/basics/errors.ts";
import type { RunId } from "../core/basics/ids.ts";
import type { ShareLink } from "../core/model/people/share-link.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { ShareLinkStore } from "../core/ports/stores/share-link-store.ts";
import type { Statements } from "./database.ts";
import { Prisma, type ShareLink as ShareLinkRow } from "./generated/client.ts";
import { aliveKeys } from "./key-store.ts";
import { selectList, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const FIND_BY_HASH = `
  SELECT ${selectList(Object.values(Prisma.ShareLinkScalarFieldEnum))} FROM share_links
  WHERE token_hash = $1
    AND (key_id IS NULL OR EXISTS (
      SELECT FROM api_keys
      WHERE id = key_id AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > $2::timestamptz)))`;
/** How long an expired link is still listed. */
export const KEPT_MS = 30 * 24 * 3_600_000;
/** The number per statement, so that none reaches its time limit. */
const PRUNED_MAX = 5_000;

/**
 * The link with this id, if its guests may write now. Locks what that depends on, so that whatever ends their right waits
 * for the end of the transaction.
 */
export function editableLink(id: string): string {
  const key = aliveKeys(`= (SELECT key_id FROM share_links WHERE id = ${id})`);
  return `
    SELECT share_links.id FROM share_links
      JOIN principals ON principals.id = share_links.creator_id JOIN teams ON teams.id = share_links.team_id
    WHERE share_links.id = ${id} AND share_links.expires_at > now() AND NOT disabled
      AND access = 'EDITOR' AND sharing = 'editor'
      AND (key_id IS NULL OR key_id IN (SELECT id FROM (${key}) AS alive_key))
    FOR SHARE OF share_links, principals, teams`;
}

const FIND_EDITABLE = editableLink("$1::uuid");

export async function requireEditableLink(statements: Pick<Statements, "rows">, id: string): Promise<void> {
  const links = await statements.rows({ text: FIND_EDITABLE, values: [id] });
  if (links.length === 0) {
    throw new AppError("not_authorized", "This share link does not allow follow-ups any more.");
  }
}

export class PrismaShareLinkStore implements ShareLinkStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async add(link: ShareLink, tokenHash: string): Promise<void> {
    const data = { ...link, tokenHash };
    await this.#deps.database.query((client) => client.shareLink.create({ data }));
  }

  async findByHash(tokenHash: string): Promise<ShareLink | undefined> {
    const { clock, database } = this.#deps;
    const values = [tokenHash, clock.now()];
    const [row] = await database.rows<ShareLinkRow>({ text: FIND_BY_HASH, values });
    return row && linkOf(row);
  }

  async rehash(id: string, tokenHash: string): Promise<void> {
    const update = { where: { id }, data: { tokenHash } };
    await this.#deps.database.query((client) => client.shareLink.updateMany(update));
  }

  async list(runId: RunId): Promise<readonly ShareLink[]> {
    const query = { where: { runId }, orderBy: { id: "asc" } } as const;
    return (await this.#deps.database.query((client) => client.shareLink.findMany(query))).map(linkOf);
  }

  async remove(runId: RunId, id: string): Promise<boolean> {
    const removal = { where: { runId, id } };
    const { database, pubsub } = this.#deps;
    const { count } = await database.query((client) => client.shareLink.deleteMany(removal));
    if (count > 0) {
      pubsub.publish([CHANNELS.keys]);
    }
    return count > 0;
  }

  async prune(): Promise<number> {
    const { clock, database } = this.#deps;
    const overSince = new Date(clock.now().getTime() - KEPT_MS);
    return database.query(
      (client) => client.$executeRaw`
        DELETE FROM share_links WHERE id IN (
          SELECT id FROM share_links WHERE expires_at < ${overSince}::timestamptz LIMIT ${PRUNED_MAX})`,
    );
  }
}

function linkOf({ tokenHash: _hash, ...row }: ShareLinkRow): ShareLink {
  return withoutNulls<ShareLink>(row);
}
