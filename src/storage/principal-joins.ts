import { defaultsIdOf, scopeText } from "../core/model/defaults/request-defaults.ts";
import { sealOwner } from "../core/model/secrets/secret.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import { answerOwner } from "../core/ports/stores/idempotency-store.ts";
import type {
  JoinResult,
  PersonAccounts,
  PrincipalJoin,
  PrincipalJoinStore,
  RebindTools,
} from "../core/ports/stores/principal-joins.ts";
import { nameSystemAuthor } from "./audit-log.ts";
import { statementsOf, type Tx } from "./database.ts";
import type { Principal as PrincipalRow } from "./generated/client.ts";
import { identityOf, principalOf } from "./people-rows.ts";
import { adapterOf } from "./people-store.ts";
import { moveReferences } from "./principal-references.ts";
import type { StoreDeps } from "./store-deps.ts";

type JoinedRow = Pick<PrincipalRow, "id" | "teamId"> & { readonly joinedInto: PrincipalRow["id"] };

interface JoinRequest {
  readonly accounts: PersonAccounts;
  readonly choose: Parameters<PrincipalJoinStore["join"]>[1];
  readonly tools: RebindTools;
}

export class PrismaPrincipalJoins implements PrincipalJoinStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async join(
    accounts: PersonAccounts,
    choose: Parameters<PrincipalJoinStore["join"]>[1],
    tools: RebindTools,
  ): Promise<JoinResult> {
    const { database, pubsub } = this.#deps;
    const found = await database.query((client) => findPrincipalIds(client, accounts));
    if (new Set(found.values()).size < 2) {
      return { isJoined: false, principalId: found.get(accounts.subjects[0] ?? "") };
    }
    const result = await database.transaction((tx) =>
      this.#chooseAndJoin(tx, [...found.values()], { accounts, choose, tools }),
    );
    if (result.isJoined) {
      pubsub.publish([CHANNELS.keys, CHANNELS.policies]);
    }
    return result;
  }

  async moveRest(tools: RebindTools): Promise<number> {
    const { database, pubsub } = this.#deps;
    // One that an administrator has enabled again keeps what it gets.
    const where = { joinedInto: { not: null }, disabled: true } as const;
    const rows = await database.query((client) => client.principal.findMany({ where }));
    let count = 0;
    for (const { id, joinedInto, teamId } of rows) {
      const row = joinedInto === null ? undefined : { id, joinedInto, teamId };
      count += row === undefined ? 0 : await database.query((client) => moveBound(client, row, tools));
    }
    count += rows.length === 0 ? 0 : await moveReferences(database, undefined);
    if (count > 0) {
      pubsub.publish([CHANNELS.keys, CHANNELS.policies]);
    }
    return count;
  }

  async #chooseAndJoin(
    tx: Tx,
    locked: readonly string[],
    { accounts, choose, tools }: JoinRequest,
  ): Promise<JoinResult> {
    await tx.$queryRaw`SELECT FROM principals WHERE id = ANY (${locked}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
    // Another join may have ended since.
    const found = await findPrincipalIds(tx, accounts);
    const [subject = ""] = accounts.subjects;
    const principalId = found.get(subject);
    const where = { id: { in: [...found.values()] } };
    const rows = await tx.principal.findMany({ where, include: { identities: true } });
    const join = choose(
      rows.map(({ identities: _links, ...row }) => principalOf(row)),
      rows.flatMap(({ identities }) => identities.map(identityOf)),
    );
    if (join === undefined) {
      return { isJoined: false, principalId };
    }
    await nameSystemAuthor(tx, adapterOf(subject));
    await this.#perform(tx, join, tools);
    return { isJoined: true, principalId: principalId === join.from.id ? join.into.id : principalId };
  }

  async #perform(tx: Tx, { from, into }: PrincipalJoin, tools: RebindTools): Promise<void> {
    const updatedAt = this.#deps.clock.now();
    const where = { OR: [{ id: from.id }, { joinedInto: from.id }] };
    await tx.principal.updateMany({ where, data: { joinedInto: into.id, disabled: true, updatedAt } });
    await moveBound(tx, { id: from.id, joinedInto: into.id, teamId: from.teamId }, tools);
    await moveReferences(statementsOf(tx), from.id);
  }
}

/** The principals of those accounts that have one. */
async function findPrincipalIds(client: Tx, { subjects, teamId }: PersonAccounts) {
  const links = await client.identity.findMany({ where: { teamId, subject: { in: [...subjects] } } });
  return new Map(links.map(({ principalId, subject }) => [subject, principalId]));
}

/** Moves the rows whose content is bound to their owner. What the other principal has too stays where it is. */
async function moveBound(client: Tx, joined: JoinedRow, tools: RebindTools): Promise<number> {
  return (
    (await moveSecrets(client, joined, tools)) +
    (await moveAnswers(client, joined, tools)) +
    (await moveDefaults(client, joined, tools))
  );
}

async function moveSecrets(
  client: Tx,
  { id: ownerId, joinedInto, teamId }: JoinedRow,
  { box }: RebindTools,
): Promise<number> {
  const kept = await client.secret.findMany({
    where: { teamId, ownerId: joinedInto },
    select: { name: true },
  });
  const where = { teamId, ownerId, name: { notIn: kept.map(({ name }) => name) } };
  let count = 0;
  for (const { id, name, sealed: before } of await client.secret.findMany({ where })) {
    const owners = [ownerId, joinedInto].map((owner) => sealOwner({ teamId, ownerId: owner, name }));
    const sealed = sealedAnew(box, before, owners);
    if (sealed !== undefined) {
      await client.secret.update({ where: { id }, data: { ownerId: joinedInto, sealed } });
      count += 1;
    }
  }
  return count;
}

/** The responses that a repeated request gets. Those with a secret are sealed. */
async function moveAnswers(
  client: Tx,
  { id: principalId, joinedInto }: JoinedRow,
  { box }: RebindTools,
): Promise<number> {
  const moved = await client.$executeRaw`
    UPDATE idempotent_responses a SET principal_id = ${joinedInto}::uuid
    WHERE principal_id = ${principalId}::uuid AND jsonb_typeof(body) <> 'string' AND NOT EXISTS (
      SELECT FROM idempotent_responses o WHERE o.principal_id = ${joinedInto}::uuid AND o.key = a.key)`;
  const rows = await client.$queryRaw<{ readonly key: string; readonly sealed: string }[]>`
    SELECT key, body #>> '{}' AS sealed FROM idempotent_responses a
    WHERE principal_id = ${principalId}::uuid AND jsonb_typeof(body) = 'string' AND NOT EXISTS (
      SELECT FROM idempotent_responses o WHERE o.principal_id = ${joinedInto}::uuid AND o.key = a.key)`;
  let count = moved;
  for (const { key, sealed: before } of rows) {
    const owners = [principalId, joinedInto].map((owner) => answerOwner({ principalId: owner, key }));
    const body = sealedAnew(box, before, owners);
    if (body !== undefined) {
      const where = { principalId_key: { principalId, key } };
      await client.idempotentResponse.update({ where, data: { principalId: joinedInto, body } });
      count += 1;
    }
  }
  return count;
}

/** The defaults of a person, whose id is made of the person. */
async function moveDefaults(
  client: Tx,
  { id, joinedInto, teamId }: JoinedRow,
  { digest }: RebindTools,
): Promise<number> {
  const scopeOf = (principalId: JoinedRow["id"]) => ({
    id: defaultsIdOf(digest, teamId, { principalId }),
    scope: scopeText({ principalId }),
  });
  const after = scopeOf(joinedInto);
  const hasOwn = (await client.requestDefaults.count({ where: { id: after.id } })) > 0;
  const where = { id: scopeOf(id).id };
  return hasOwn ? 0 : (await client.requestDefaults.updateMany({ where, data: after })).count;
}

/** Undefined: the value cannot be opened, because its secret key is gone. */
function sealedAnew(
  box: RebindTools["box"],
  sealed: string,
  [before = "", after = ""]: readonly string[],
): string | undefined {
  try {
    return box.seal(box.open(sealed, before), after);
  } catch {
    return undefined;
  }
}
