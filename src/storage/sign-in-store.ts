import { defined } from "../core/basics/defined.ts";
import { AppError } from "../core/basics/errors.ts";
import type { SignIn } from "../core/model/people/sign-in.ts";
import type { KnownSignIn } from "../core/model/people/sign-in-holder.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type {
  ClaimedRenewal,
  SignInLink,
  SignInLinkStore,
  SignInOwner,
  SignInSecrets,
  SignInStore,
} from "../core/ports/stores/sign-in-store.ts";
import type { Statements } from "./database.ts";
import {
  type Principal as PrincipalRow,
  Prisma,
  type SignInLink as SignInLinkRow,
  type SignIn as SignInRow,
} from "./generated/client.ts";
import { FIND_PRINCIPALS, keyOf, principalOf } from "./people-rows.ts";
import { selectList, withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

const COLUMNS = selectList(Object.values(Prisma.SignInScalarFieldEnum));
const FIND_BY_HASH = `SELECT ${COLUMNS} FROM sign_ins WHERE token_hash = $1`;
const LIST_OPEN = `
  SELECT ${COLUMNS} FROM sign_ins
  WHERE team_id = $1::uuid AND ($2::uuid IS NULL OR principal_id = $2::uuid)
    AND ended_at IS NULL AND expires_at > $3::timestamptz
    AND EXISTS (SELECT FROM principals WHERE id = principal_id AND NOT disabled)
    AND (key_id IS NULL OR EXISTS (
      SELECT FROM api_keys
      WHERE id = key_id AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > $3::timestamptz)))
  ORDER BY last_seen_at DESC, id DESC LIMIT $4`;
const TOUCH = "UPDATE sign_ins SET last_seen_at = $2 WHERE id = $1::uuid AND last_seen_at < $2";
const CLAIM = `
  WITH due AS (
    SELECT id AS due_id, renew_after IS NOT NULL AS "isRepeated" FROM sign_ins
    WHERE sealed_renewal IS NOT NULL AND ended_at IS NULL AND expires_at > $1::timestamptz
      AND coalesce(proven_at, created_at) <= $2::timestamptz
      AND (renew_after IS NULL OR renew_after <= $1::timestamptz)
    ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED)
  UPDATE sign_ins SET renew_after = $3::timestamptz FROM due WHERE id = due_id
  RETURNING ${COLUMNS}, "isRepeated"`;
/** The number per statement, so that none reaches its time limit. */
const PRUNED_MAX = 5_000;

export class PrismaSignInStore implements SignInStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** Of two concurrent sign-ins of one attempt, the second waits for the first. */
  async add(signIn: SignIn, secrets: SignInSecrets): Promise<boolean> {
    const data = [{ ...signIn, ...secrets }];
    const { count } = await this.#deps.database.query((client) =>
      client.signIn.createMany({ data, skipDuplicates: true }),
    );
    return count > 0;
  }

  async findByHash(tokenHash: string): Promise<KnownSignIn | undefined> {
    const { database } = this.#deps;
    const [row] = await database.rows<SignInRow>({ text: FIND_BY_HASH, values: [tokenHash] });
    if (row === undefined) {
      return undefined;
    }
    const { keyId, principalId } = row;
    const [principal] = await database.rows<PrincipalRow>({ text: FIND_PRINCIPALS, values: [[principalId]] });
    const key =
      keyId === null
        ? null
        : await database.query((client) => client.apiKey.findUnique({ where: { id: keyId } }));
    return (
      principal &&
      defined({
        signIn: signInOf(row),
        principal: principalOf(principal),
        key: key === null ? undefined : keyOf(key),
      })
    );
  }

  async listOpen({ principalId, teamId }: SignInOwner, now: Date, limit: number): Promise<readonly SignIn[]> {
    const values = [teamId, principalId ?? null, now, limit];
    return (await this.#deps.database.rows<SignInRow>({ text: LIST_OPEN, values })).map(signInOf);
  }

  async end(
    { ids, principalId, teamId }: SignInOwner & { readonly ids?: readonly string[] },
    at: Date,
  ): Promise<number> {
    const { database, pubsub } = this.#deps;
    const whose = defined({ teamId, principalId, id: ids === undefined ? undefined : { in: [...ids] } });
    const change = { where: { ...whose, endedAt: null }, data: { endedAt: at, sealedRenewal: null } };
    const { count } = await database.query((client) => client.signIn.updateMany(change));
    if (count > 0) {
      pubsub.publish([CHANNELS.keys]);
    }
    return count;
  }

  requireOpen(id: string): Promise<void> {
    return requireSignInOpen(this.#deps.database, id);
  }

  async touch(id: string, at: Date): Promise<void> {
    await this.#deps.database.rows({ text: TOUCH, values: [id, at] });
  }

  async claimRenewals(at: Parameters<SignInStore["claimRenewals"]>[0]): Promise<readonly ClaimedRenewal[]> {
    const rows = await this.#deps.database.rows<SignInRow & { isRepeated: boolean }>({
      text: CLAIM,
      values: [at.now, at.provenBefore, at.until, at.limit],
    });
    return rows.map(({ isRepeated, ...row }) => ({
      signIn: signInOf(row),
      sealedRenewal: row.sealedRenewal ?? "",
      isRepeated,
    }));
  }

  async renewed(
    id: string,
    { provenAt, sealedRenewal }: Parameters<SignInStore["renewed"]>[1],
  ): Promise<void> {
    const isOver = provenAt !== undefined || sealedRenewal === undefined;
    const data = defined({
      sealedRenewal: sealedRenewal ?? null,
      provenAt,
      renewAfter: isOver ? null : undefined,
    });
    const change = { where: { id, endedAt: null }, data };
    const { count } = await this.#deps.database.query((client) => client.signIn.updateMany(change));
    if (count > 0 && sealedRenewal === undefined) {
      this.#deps.pubsub.publish([CHANNELS.keys]);
    }
  }

  async postponeProof(id: string, now: Date, until: Date): Promise<boolean> {
    const isFree = { OR: [{ renewAfter: null }, { renewAfter: { lte: now } }] };
    const change = { where: { id, endedAt: null, ...isFree }, data: { renewAfter: until } };
    return (await this.#deps.database.query((client) => client.signIn.updateMany(change))).count > 0;
  }

  async prune(): Promise<number> {
    const { clock, database } = this.#deps;
    const now = clock.now();
    return database.query(
      (client) => client.$executeRaw`
        DELETE FROM sign_ins WHERE id IN (
          SELECT id FROM sign_ins WHERE expires_at < ${now}::timestamptz LIMIT ${PRUNED_MAX})`,
    );
  }
}

/** Locks the row, so that ending the sign-in waits for the end of the transaction. */
const FIND_OPEN =
  "SELECT id FROM sign_ins WHERE id = $1::uuid AND ended_at IS NULL AND expires_at > now() FOR SHARE";

export async function requireSignInOpen(statements: Pick<Statements, "rows">, id: string): Promise<void> {
  const open = await statements.rows({ text: FIND_OPEN, values: [id] });
  if (open.length === 0) {
    throw new AppError("authentication_required", "The sign-in has ended.", { remedy: "Sign in again." });
  }
}

function signInOf({ attemptHash: _attempt, sealedRenewal, tokenHash: _hash, ...row }: SignInRow): SignIn {
  return withoutNulls<SignIn>({ ...row, isRenewable: sealedRenewal === null ? null : true });
}

const LINK_COLUMNS = selectList(Object.values(Prisma.SignInLinkScalarFieldEnum));
const OPEN_LINK = "token_hash = $1 AND used_at IS NULL AND expires_at > $2::timestamptz";
const FIND_LINK = `SELECT ${LINK_COLUMNS} FROM sign_in_links WHERE ${OPEN_LINK}`;
/** A second one waits for the first, and then finds the link used. */
const USE_LINK = `UPDATE sign_in_links SET used_at = $2 WHERE ${OPEN_LINK} RETURNING ${LINK_COLUMNS}`;

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
    return this.#first(FIND_LINK, tokenHash, now);
  }

  use(tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    return this.#first(USE_LINK, tokenHash, now);
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
