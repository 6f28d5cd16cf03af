import { newId, type PrincipalId, type TeamId } from "../core/basics/ids.ts";
import type { IdentityLink } from "../core/model/people/identity.ts";
import type { Principal } from "../core/model/people/principal.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type { IdentityStore, PeopleStore } from "../core/ports/stores/people-stores.ts";
import { nameSystemAuthor } from "./audit-log.ts";
import type { Statements, Tx } from "./database.ts";
import type { Principal as PrincipalRow } from "./generated/client.ts";
import { FIND_PRINCIPALS, identityOf, principalColumns, principalOf } from "./people-rows.ts";
import type { StoreDeps } from "./store-deps.ts";

export class PrismaPeopleStore implements PeopleStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async ensure(
    teamId: TeamId,
    subject: string,
    displayName: string | undefined,
    aliases: readonly string[] = [],
  ): Promise<Principal> {
    const known = await this.#bySubject(teamId, subject);
    const [whole] = aliases;
    const isComplete = whole === undefined || (await this.#bySubject(teamId, whole)) !== undefined;
    if (known === undefined || !isComplete) {
      const wanted = { teamId, subject, displayName, aliases };
      return this.#deps.database.transaction(async (tx) => {
        await nameSystemAuthor(tx, adapterOf(subject));
        return ensureIdentity(tx, wanted, this.#deps.clock.now());
      });
    }
    return displayName === undefined || known.displayName === displayName
      ? known
      : this.#rename(known, displayName, [subject, ...aliases]);
  }

  async getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]> {
    const rows = await this.#deps.database.rows<PrincipalRow>({ text: FIND_PRINCIPALS, values: [ids] });
    return rows.map(principalOf);
  }

  async list(teamId: TeamId): Promise<readonly Principal[]> {
    const query = { where: { teamId }, orderBy: { id: "asc" } } as const;
    return (await this.#deps.database.query((client) => client.principal.findMany(query))).map(principalOf);
  }

  async put(principal: Principal): Promise<void> {
    const { id, ...columns } = principalColumns(principal);
    const update = { ...columns, updatedAt: this.#deps.clock.now() };
    await this.#deps.database.query((client) =>
      client.principal.upsert({ where: { id }, create: { id, ...columns }, update }),
    );
    this.#deps.pubsub.publish([CHANNELS.keys]);
  }

  async change(
    teamId: TeamId,
    id: PrincipalId,
    decide: (principal: Principal, administrators: readonly Principal[]) => Principal,
  ): Promise<Principal | undefined> {
    const changed = await this.#deps.database.transaction(async (tx) => {
      const locked = await lockToChange(tx, teamId, id);
      const principal = locked.find((one) => one.id === id);
      if (principal === undefined) {
        return undefined;
      }
      const administrators = locked.filter(({ administrator, disabled }) => administrator && !disabled);
      const after = decide(principal, administrators);
      const { id: _same, ...columns } = principalColumns(after);
      await tx.principal.update({ where: { id }, data: { ...columns, updatedAt: this.#deps.clock.now() } });
      return after;
    });
    if (changed !== undefined) {
      this.#deps.pubsub.publish([CHANNELS.keys]);
    }
    return changed;
  }

  async #bySubject(teamId: TeamId, subject: string): Promise<Principal | undefined> {
    const where = { teamId_subject: { teamId, subject } };
    const row = await this.#deps.database.query((client) =>
      client.identity.findUnique({ where, include: { principal: true } }),
    );
    return row === null ? undefined : principalOf(row.principal);
  }

  async #rename(known: Principal, displayName: string, own: readonly string[]): Promise<Principal> {
    const where = { principalId: known.id, subject: { notIn: [...own] } };
    if ((await this.#deps.database.query((client) => client.identity.count({ where }))) > 0) {
      return known;
    }
    const change = { where: { id: known.id }, data: { displayName } };
    return this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, adapterOf(own[0] ?? ""));
      return principalOf(await tx.principal.update(change));
    });
  }
}

/** How audit entries name the adapter of an account. */
export function adapterOf(subject: string): string {
  return `adapter:${subject.slice(0, subject.indexOf(":"))}`;
}

/**
 * The principal and the administrators of its team. The lock of the team lets one transaction at a time change principals
 * of it, and a waiting one sees what the previous one stored. The administrators are not locked: every write with a key
 * of one of them shares its row until it ends (`aliveKeys`), so two such writes would wait for each other.
 */
async function lockToChange(tx: Tx, teamId: TeamId, id: PrincipalId): Promise<readonly Principal[]> {
  await tx.$queryRaw`SELECT FROM teams WHERE id = ${teamId}::uuid FOR NO KEY UPDATE`;
  await tx.$queryRaw`SELECT FROM principals WHERE id = ${id}::uuid AND team_id = ${teamId}::uuid FOR NO KEY UPDATE`;
  const where = { teamId, OR: [{ id }, { administrator: true, disabled: false }] };
  return (await tx.principal.findMany({ where })).map(principalOf);
}

interface WantedIdentity {
  readonly teamId: TeamId;
  readonly subject: string;
  readonly displayName: string | undefined;
  readonly aliases?: readonly string[];
}

/**
 * The first message of an account creates its principal, unless one of its aliases has one. Of two simultaneous first
 * messages, the second uses the principal of the first.
 */
export async function ensureIdentity(
  tx: Tx,
  { aliases = [], displayName, subject, teamId }: WantedIdentity,
  now: Date,
): Promise<Principal> {
  const made = newId<PrincipalId>(now);
  const wanted = { teamId, principalId: (await findPrincipalId(tx, teamId, [subject, ...aliases])) ?? made };
  if (wanted.principalId === made) {
    await tx.principal.create({
      data: { id: made, teamId, type: "user", displayName: displayName ?? null },
    });
  }
  const [whole = subject] = aliases;
  await tx.identity.createMany({ data: [{ ...wanted, subject: whole }], skipDuplicates: true });
  const principalId = (await findPrincipalId(tx, teamId, [whole])) ?? made;
  await tx.identity.createMany({ data: [{ teamId, subject, principalId }], skipDuplicates: true });
  const where = { teamId_subject: { teamId, subject } };
  const { principal } = await tx.identity.findUniqueOrThrow({ where, include: { principal: true } });
  if (wanted.principalId === made && principal.id !== made && principalId !== made) {
    await tx.principal.delete({ where: { id: made } });
  }
  return principalOf(principal);
}

/** The principal of the first of these accounts that has one. */
async function findPrincipalId(
  tx: Tx,
  teamId: TeamId,
  subjects: readonly string[],
): Promise<PrincipalId | undefined> {
  const rows = await tx.identity.findMany({ where: { teamId, subject: { in: [...subjects] } } });
  return subjects.flatMap((subject) => rows.find((row) => row.subject === subject)?.principalId ?? [])[0];
}

export class PrismaIdentityStore implements IdentityStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async list(teamId: TeamId): Promise<readonly IdentityLink[]> {
    const rows = await this.#database.query((client) =>
      client.identity.findMany({ where: { teamId }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
    );
    return rows.map(identityOf);
  }

  async find(teamId: TeamId, subject: string): Promise<IdentityLink | undefined> {
    const where = { teamId_subject: { teamId, subject } };
    const row = await this.#database.query((client) => client.identity.findUnique({ where }));
    return row === null ? undefined : identityOf(row);
  }

  async listAccount(subject: string): Promise<readonly IdentityLink[]> {
    const rows = await this.#database.query((client) =>
      client.identity.findMany({ where: { subject }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
    );
    return rows.map(identityOf);
  }

  async link(teamId: TeamId, subject: string, principalId: PrincipalId): Promise<IdentityLink> {
    const where = { teamId_subject: { teamId, subject } };
    const linkedAt = new Date();
    const create = { teamId, subject, principalId, linkedAt };
    return identityOf(
      await this.#database.query((client) =>
        client.identity.upsert({ where, create, update: { principalId, linkedAt } }),
      ),
    );
  }

  async unlink(teamId: TeamId, id: string): Promise<boolean> {
    const removal = { where: { teamId, id } };
    return (await this.#database.query((client) => client.identity.deleteMany(removal))).count > 0;
  }
}
