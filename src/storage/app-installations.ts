import { newId, type TeamId } from "../core/basics/ids.ts";
import { CHANNELS } from "../core/ports/pubsub.ts";
import type {
  AppCredentials,
  AppInstallations,
  ConnectedWorkspace,
  Installer,
  UnconnectedWorkspace,
} from "../core/ports/stores/app-installations.ts";
import { nameSystemAuthor } from "./audit-log.ts";
import type { Tx } from "./database.ts";
import { withoutNulls } from "./rows.ts";
import type { StoreDeps } from "./store-deps.ts";
import { findCredentials, listUnconnected, takeUpEvents } from "./unconnected-events.ts";

/** How long an administrator may stay at the platform. */
const ATTEMPT_MS = 10 * 60_000;
const REMOVED = "The app was removed there. Install it again.";

export class PrismaAppInstallations implements AppInstallations {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async find(adapter: string, externalIds: readonly string[]): Promise<AppCredentials | undefined> {
    return this.#deps.database.query((client) => findCredentials(client, adapter, externalIds));
  }

  async isAny(adapter: string): Promise<boolean> {
    const query = { where: { adapter, sealedCredentials: { not: null } }, select: { id: true } };
    return (await this.#deps.database.query((client) => client.installation.findFirst(query))) !== null;
  }

  async connect(
    { adapter, externalId, name, sealed: sealedCredentials }: AppCredentials,
    teamId: TeamId,
  ): Promise<boolean> {
    const isConnected = await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      const now = this.#deps.clock.now();
      const made = { id: newId(now), teamId, adapter, externalId, name: name ?? null };
      await tx.installation.createMany({ data: [{ ...made, enabled: false }], skipDuplicates: true });
      const known = await lockRow(tx, adapter, externalId);
      if (known === undefined || (known.inUse && known.teamId !== teamId)) {
        return false;
      }
      const data = { teamId, enabled: true, sealedCredentials, organizationId: null, offeredTo: null };
      await tx.installation.update({
        where: { id: known.id },
        data: { ...data, problem: null, updatedAt: now, ...(name === undefined ? {} : { name }) },
      });
      await tx.installation.updateMany({
        where: { adapter, organizationId: externalId },
        data: { problem: null },
      });
      await takeUpEvents(tx, { adapter, externalId }, this.#deps.jobInsert);
      return true;
    });
    if (isConnected) {
      this.#deps.pubsub.publish([CHANNELS.jobs("inbox")]);
    }
    return isConnected;
  }

  async renew({ adapter, externalId, sealed: sealedCredentials }: AppCredentials): Promise<void> {
    const where = { adapter, externalId, sealedCredentials: { not: null } };
    await this.#deps.database.query((client) =>
      client.installation.updateMany({ where, data: { sealedCredentials } }),
    );
  }

  async cover(adapter: string, externalId: string, organizationId: string): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      const owner = await lockRow(tx, adapter, organizationId);
      if (owner === undefined) {
        return;
      }
      const { enabled, teamId } = owner;
      const row = { id: newId(this.#deps.clock.now()), teamId, adapter, externalId, enabled, organizationId };
      await tx.installation.createMany({ data: [row], skipDuplicates: true });
      // Nobody uses an installation that is off. One of another team stays as it is.
      const uncovered = { adapter, externalId, sealedCredentials: null, organizationId: null };
      await tx.installation.updateMany({
        where: { ...uncovered, enabled: false },
        data: { teamId, enabled, organizationId, problem: null },
      });
      await tx.installation.updateMany({
        where: { ...uncovered, teamId },
        data: { organizationId, problem: null },
      });
    });
  }

  async uncover(adapter: string, externalId: string, organizationId: string): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      await tx.installation.updateMany({
        where: { adapter, externalId, organizationId },
        data: { organizationId: null, problem: REMOVED },
      });
    });
  }

  async listConnected(adapter: string): Promise<readonly ConnectedWorkspace[]> {
    const where = { adapter, sealedCredentials: { not: null } };
    const query = { where, select: { externalId: true, name: true }, orderBy: { id: "asc" } } as const;
    const rows = await this.#deps.database.query((client) => client.installation.findMany(query));
    return rows.map((row) => withoutNulls<ConnectedWorkspace>(row));
  }

  async listUnconnected(adapter: string): Promise<readonly UnconnectedWorkspace[]> {
    return this.#deps.database.query((client) => listUnconnected(client, adapter));
  }

  async disconnect(adapter: string, externalId: string): Promise<void> {
    await this.#deps.database.transaction(async (tx) => {
      await nameSystemAuthor(tx, `adapter:${adapter}`);
      await tx.installation.updateMany({
        where: { adapter, externalId, sealedCredentials: { not: null } },
        data: { sealedCredentials: null, problem: REMOVED },
      });
      await tx.installation.updateMany({
        where: { adapter, organizationId: externalId, sealedCredentials: null },
        data: { problem: REMOVED },
      });
    });
  }

  async begin({
    adapter,
    principalId,
    stateHash,
    teamId,
  }: Parameters<AppInstallations["begin"]>[0]): Promise<void> {
    const now = this.#deps.clock.now();
    const expiresAt = new Date(now.getTime() + ATTEMPT_MS);
    await this.#deps.database.transaction(async (tx) => {
      await tx.installationAttempt.deleteMany({ where: { expiresAt: { lt: now } } });
      await tx.installationAttempt.create({ data: { adapter, principalId, stateHash, teamId, expiresAt } });
    });
  }

  async take(adapter: string, stateHash: string): Promise<Installer | undefined> {
    const now = this.#deps.clock.now();
    const rows = await this.#deps.database.transaction(
      (tx) => tx.$queryRaw<Installer[]>`
        DELETE FROM installation_attempts
        WHERE adapter = ${adapter} AND state_hash = ${stateHash} AND expires_at > ${now}
        RETURNING team_id AS "teamId", principal_id AS "principalId"`,
    );
    return rows[0];
  }
}

interface LockedRow {
  readonly id: string;
  readonly teamId: TeamId;
  readonly enabled: boolean;
  readonly inUse: boolean;
}

async function lockRow(tx: Tx, adapter: string, externalId: string): Promise<LockedRow | undefined> {
  const rows = await tx.$queryRaw<LockedRow[]>`
    SELECT id, team_id AS "teamId", enabled,
      enabled OR sealed_credentials IS NOT NULL AS "inUse" FROM installations
    WHERE adapter = ${adapter} AND external_id = ${externalId} FOR NO KEY UPDATE`;
  return rows[0];
}
