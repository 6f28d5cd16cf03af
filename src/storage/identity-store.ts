import type { PrincipalId, TeamId } from "../core/basics/ids.ts";
import type { IdentityLink } from "../core/model/people/identity.ts";
import type { IdentityStore } from "../core/ports/stores/people-stores.ts";
import type { Statements } from "./database.ts";
import { identityOf } from "./people-rows.ts";

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
