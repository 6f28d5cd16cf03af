import { newId, type PrincipalId } from "../core/ids.ts";
import type { Principal } from "../core/people/principal.ts";
import type { PeopleStore } from "../core/ports/storage.ts";
import type { Tx } from "./database.ts";
import type { Principal as PrincipalRow } from "./generated/client.ts";
import type { StoreParts } from "./store-parts.ts";

/** The identity of whoever holds the installation's own key. */
const ADMINISTRATOR = "errand:administrator";

export class PrismaPeopleStore implements PeopleStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async ensure(subject: string, displayName: string | undefined): Promise<Principal> {
    const known = await this.#bySubject(subject);
    if (known !== undefined && (displayName === undefined || known.displayName === displayName)) return known;
    if (known !== undefined) return this.#rename(known.id, displayName);
    return this.#parts.database.transaction((tx) =>
      makeIdentity(tx, subject, displayName, this.#parts.clock.now()),
    );
  }

  async getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]> {
    const where = { id: { in: [...ids] } };
    const rows = await this.#parts.database.query((client) => client.principal.findMany({ where }));
    return rows.map(principalOf);
  }

  async findByKeyHash(hash: string): Promise<Principal | undefined> {
    const row = await this.#parts.database.query((client) =>
      client.apiKey.findUnique({ where: { hash }, include: { principal: true } }),
    );
    return row === null ? undefined : principalOf(row.principal);
  }

  async setAdministratorKey(keyHash: string): Promise<void> {
    await this.#parts.database.transaction(async (tx) => {
      const { id } = await makeIdentity(tx, ADMINISTRATOR, "Administrator", this.#parts.clock.now());
      await tx.principal.update({ where: { id }, data: { administrator: true } });
      await tx.apiKey.deleteMany({ where: { principalId: id, hash: { not: keyHash } } });
      await tx.apiKey.createMany({ data: [{ hash: keyHash, principalId: id }], skipDuplicates: true });
    });
  }

  async hasAdministratorKey(): Promise<boolean> {
    const where = { principal: { identities: { some: { subject: ADMINISTRATOR } } } };
    return (await this.#parts.database.query((client) => client.apiKey.count({ where }))) > 0;
  }

  async #bySubject(subject: string): Promise<Principal | undefined> {
    const row = await this.#parts.database.query((client) =>
      client.identity.findUnique({ where: { subject }, include: { principal: true } }),
    );
    return row === null ? undefined : principalOf(row.principal);
  }

  async #rename(id: PrincipalId, displayName: string | undefined): Promise<Principal> {
    const data = { displayName: displayName ?? null };
    return principalOf(
      await this.#parts.database.query((client) => client.principal.update({ where: { id }, data })),
    );
  }
}

/** The first message of an account makes its principal; of two first ones at once, the second takes the first's. */
async function makeIdentity(
  tx: Tx,
  subject: string,
  displayName: string | undefined,
  now: Date,
): Promise<Principal> {
  const id = newId(now);
  const row = { id, type: "user", displayName: displayName ?? null };
  await tx.principal.create({ data: row });
  const { count } = await tx.identity.createMany({
    data: [{ subject, principalId: id }],
    skipDuplicates: true,
  });
  if (count === 0) await tx.principal.delete({ where: { id } });
  const identity = await tx.identity.findUniqueOrThrow({ where: { subject }, include: { principal: true } });
  return principalOf(identity.principal);
}

function principalOf(row: PrincipalRow): Principal {
  const { displayName, email, photoUrl, administrator } = row;
  return {
    id: row.id as PrincipalId,
    type: row.type as Principal["type"],
    administrator,
    ...(displayName === null ? {} : { displayName }),
    ...(email === null ? {} : { email }),
    ...(photoUrl === null ? {} : { photoUrl }),
  };
}
