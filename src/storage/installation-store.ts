import { defined } from "../core/basics/defined.ts";
import { newId, type TeamId } from "../core/basics/ids.ts";
import type { Installation } from "../core/model/people/installation.ts";
import { FIRST_TEAM } from "../core/model/people/team.ts";
import type { InstallationStore } from "../core/ports/stores/people-stores.ts";
import { nameSystemAuthor } from "./audit-log.ts";
import type { Installation as InstallationRow, Prisma } from "./generated/client.ts";
import { withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";

export class PrismaInstallationStore implements InstallationStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async ensure(adapter: string, externalId: string): Promise<Installation> {
    return (await this.#find(adapter, externalId)) ?? this.#make(adapter, externalId);
  }

  async list(teamId?: TeamId): Promise<readonly Installation[]> {
    return this.#listWhere(teamId === undefined ? {} : { teamId });
  }

  async listOffered(teamId: TeamId): Promise<readonly Installation[]> {
    return this.#listWhere({ offeredTo: teamId });
  }

  async lock(id: string): Promise<Installation | undefined> {
    return this.#deps.database.transaction(async (tx) => {
      await tx.$queryRaw`SELECT FROM installations WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
      const row = await tx.installation.findUnique({ where: { id } });
      return row === null ? undefined : installationOf(row);
    });
  }

  async update({ id, teamId, name, enabled, offeredTo }: Installation): Promise<void> {
    const updatedAt = this.#deps.clock.now();
    const data = { teamId, name: name ?? null, enabled, offeredTo: offeredTo ?? null, updatedAt };
    await this.#deps.database.query((client) => client.installation.update({ where: { id }, data }));
  }

  async setProblem(
    { adapter, externalId }: Parameters<InstallationStore["setProblem"]>[0],
    problem: string | undefined,
  ): Promise<void> {
    // A row that has it already is not written again.
    const isOther =
      problem === undefined
        ? { problem: { not: null } }
        : { OR: [{ problem: null }, { problem: { not: problem } }] };
    const where = { adapter, ...defined({ externalId }), ...isOther };
    await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      await tx.installation.updateMany({ where, data: { problem: problem ?? null } });
    });
  }

  async #listWhere(where: Prisma.InstallationWhereInput): Promise<readonly Installation[]> {
    const query = { where, orderBy: { id: "asc" } } as const;
    const rows = await this.#deps.database.query((client) => client.installation.findMany(query));
    return rows.map(installationOf);
  }

  async #find(adapter: string, externalId: string): Promise<Installation | undefined> {
    const where = { adapter_externalId: { adapter, externalId } };
    const row = await this.#deps.database.query((client) => client.installation.findUnique({ where }));
    return row === null ? undefined : installationOf(row);
  }

  async #make(adapter: string, externalId: string): Promise<Installation> {
    await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      // Locked, because otherwise two simultaneous ones could both be the first.
      await tx.$queryRaw`SELECT FROM teams WHERE id = ${FIRST_TEAM}::uuid FOR NO KEY UPDATE`;
      // Those that administrators have connected do not count: a variable can configure one beside them.
      const configured = { adapter, sealedCredentials: null, organizationId: null };
      const enabled = (await tx.installation.count({ where: configured })) === 0;
      const id = newId(this.#deps.clock.now());
      const row = { id, teamId: FIRST_TEAM, adapter, externalId, enabled };
      await tx.installation.createMany({ data: [row], skipDuplicates: true });
    });
    const made = await this.#find(adapter, externalId);
    if (made === undefined) {
      throw new Error("An installation that was just made is gone.");
    }
    return made;
  }
}

function installationOf({
  organizationId: _organization,
  sealedCredentials: _sealed,
  updatedAt: _updated,
  ...row
}: InstallationRow): Installation {
  return withoutNulls<Installation>(row);
}
