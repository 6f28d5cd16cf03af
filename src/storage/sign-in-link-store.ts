import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { SignInLink, SignInLinkStore } from "../core/ports/stores/sign-in-store.ts";
import type { SignInLink as SignInLinkRow } from "./generated/client.ts";
import { Prisma } from "./generated/client.ts";
import { selectList, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const COLUMNS = selectList(Object.values(Prisma.SignInLinkScalarFieldEnum));
const OPEN = "token_hash = $1 AND used_at IS NULL AND expires_at > $2::timestamptz";
const FIND = `SELECT ${COLUMNS} FROM sign_in_links WHERE ${OPEN}`;
/** A second one waits for the first, and then finds the link used. */
const USE = `UPDATE sign_in_links SET used_at = $2 WHERE ${OPEN} RETURNING ${COLUMNS}`;
/** The number per statement, so that none reaches its time limit. */
const PRUNED_MAX = 5_000;

export class PrismaSignInLinkStore implements SignInLinkStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async add(link: SignInLink, tokenHash: string): Promise<boolean> {
    const data = { ...link, tokenHash };
    const { count } = await this.#deps.database.query((client) =>
      client.signInLink.createMany({ data, skipDuplicates: true }),
    );
    return count > 0;
  }

  findByHash(tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    return this.#first(FIND, tokenHash, now);
  }

  use(tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    return this.#first(USE, tokenHash, now);
  }

  async prune(): Promise<number> {
    const { clock, database } = this.#deps;
    const now = clock.now();
    return database.query(
      (client) => client.$executeRaw`
        DELETE FROM sign_in_links WHERE id IN (
          SELECT id FROM sign_in_links WHERE expires_at < ${now}::timestamptz LIMIT ${PRUNED_MAX})`,
    );
  }

  async #first(text: string, tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    const [row] = await this.#deps.database.rows<SignInLinkRow>({ text, values: [tokenHash, now] });
    return row && linkOf(row);
  }
}

function linkOf({ tokenHash: _hash, ...row }: SignInLinkRow): SignInLink {
  return withoutNulls<SignInLink>(row);
}
