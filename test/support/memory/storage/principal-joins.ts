import { defaultsIdOf, scopeText } from "../../../../src/core/model/defaults/request-defaults.ts";
import type { TeamRecord } from "../../../../src/core/model/people/team-record.ts";
import { type Secret, sealOwner } from "../../../../src/core/model/secrets/secret.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import { answerOwner } from "../../../../src/core/ports/stores/idempotency-store.ts";
import type {
  JoinResult,
  PersonAccounts,
  PrincipalJoin,
  PrincipalJoinStore,
  RebindTools,
} from "../../../../src/core/ports/stores/principal-joins.ts";
import { answerName } from "./change-rows.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import { identityName } from "./people-store.ts";
import type { Tables } from "./tables.ts";

/** Names the other principal everywhere except in the log. */
export class InMemoryPrincipalJoins implements PrincipalJoinStore {
  readonly #database: InMemoryStatements;
  readonly #joins: PrincipalJoin[] = [];

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  join(
    { subjects, teamId }: PersonAccounts,
    choose: Parameters<PrincipalJoinStore["join"]>[1],
    tools: RebindTools,
  ): Promise<JoinResult> {
    return this.#database.transaction(({ channels, tables }) => {
      const all = [...tables.identities.values()].filter((link) => link.teamId === teamId);
      const ids = new Set(
        all.filter(({ subject }) => subjects.includes(subject)).map(({ principalId }) => principalId),
      );
      const join = choose(
        [...tables.principals.values()].filter(({ id }) => ids.has(id)),
        all.filter(({ principalId }) => ids.has(principalId)),
      );
      if (join !== undefined) {
        channels.push(CHANNELS.keys, CHANNELS.policies);
        moveAll(tables, join, tools);
        this.#joins.push(join);
      }
      const [subject = ""] = subjects;
      const { principalId } = tables.identities.get(identityName(teamId, subject)) ?? {};
      return { isJoined: join !== undefined, principalId };
    });
  }

  moveRest(tools: RebindTools): Promise<number> {
    return this.#database.transaction(({ tables }) =>
      this.#joins.reduce((count, join) => count + moveAll(tables, join, tools), 0),
    );
  }
}

const MOVED = [
  "runs",
  "followUps",
  "identities",
  "keys",
  "shareLinks",
  "draftComments",
  "signIns",
  "signInLinks",
  "deviceCodes",
  "webhooks",
] as const;

/** Returns how many runs, keys and such were moved. */
function moveAll(tables: Tables, join: PrincipalJoin, tools: RebindTools): number {
  const { from, into } = join;
  let count = 0;
  for (const name of MOVED) {
    const rows: Map<string, unknown> = tables[name];
    for (const [key, row] of rows) {
      const moved = renamed(row, from.id, into.id);
      count += moved === row ? 0 : 1;
      rows.set(key, moved);
    }
  }
  tables.principals.set(from.id, { ...from, disabled: true });
  for (const [name, answer] of tables.answers) {
    const [before, after] = [from, into].map(({ id }) => answerOwner({ ...answer, principalId: id }));
    const isSealed = typeof answer.body === "string" && answer.principalId === from.id;
    const body = isSealed
      ? tools.box.seal(tools.box.open(String(answer.body), before ?? ""), after ?? "")
      : answer.body;
    const moved = { ...answer, principalId: into.id, body };
    if (answer.principalId === from.id && !tables.answers.has(answerName(moved))) {
      tables.answers.delete(name);
      tables.answers.set(answerName(moved), moved);
    }
  }
  for (const [name, record] of tables.records) {
    tables.records.set(name, movedRecord(record, join, tools, [...tables.records.values()]));
  }
  return count;
}

type NamedRecord = TeamRecord &
  Partial<Pick<Secret, "sealed" | "ownerId" | "name">> & { readonly scope?: string };

function movedRecord(
  record: NamedRecord,
  { from, into }: PrincipalJoin,
  { box, digest }: RebindTools,
  others: readonly NamedRecord[],
): TeamRecord {
  const { name = "", ownerId, scope, sealed, teamId } = record;
  const moved = renamed(record, from.id, into.id);
  const isNameTaken = others.some((other) => other.ownerId === into.id && other.name === name);
  if (sealed !== undefined && ownerId === from.id && isNameTaken) {
    return record;
  }
  if (sealed !== undefined && ownerId === from.id) {
    const [before, after] = [from, into].map(({ id }) => sealOwner({ teamId, ownerId: id, name }));
    return { ...moved, sealed: box.seal(box.open(sealed, before ?? ""), after ?? "") } as TeamRecord;
  }
  const person = { principalId: into.id };
  return scope === scopeText({ principalId: from.id })
    ? ({ ...moved, id: defaultsIdOf(digest, teamId, person), scope: scopeText(person) } as TeamRecord)
    : moved;
}

/** The value with the other id instead of the first. */
function renamed<T>(value: T, before: string, after: string): T {
  const change = (part: unknown): unknown => {
    if (part === before) {
      return after;
    }
    if (Array.isArray(part)) {
      const changed = part.map(change);
      return changed.some((one, index) => one !== part[index]) ? changed : part;
    }
    if (typeof part !== "object" || part === null || Object.getPrototypeOf(part) !== Object.prototype) {
      return part;
    }
    const changed = Object.entries(part).map(([name, member]) => [name, change(member)] as const);
    const isSame = changed.every(([name, member]) => member === part[name as keyof typeof part]);
    return isSame ? part : Object.fromEntries(changed);
  };
  return change(value) as T;
}
