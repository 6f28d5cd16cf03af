import type { PrincipalId, RunId, TeamId } from "../core/ids.ts";
import type { ShareLink } from "../core/people/share-link.ts";
import type { ShareLinkStore } from "../core/ports/share-links.ts";
import type { Statements } from "./database.ts";
import type { ShareLink as ShareLinkRow } from "./generated/client.ts";

export class PrismaShareLinkStore implements ShareLinkStore {
  readonly #database: Statements;

  constructor(database: Statements) {
    this.#database = database;
  }

  async add(link: ShareLink, tokenHash: string): Promise<void> {
    const data = { ...link, tokenHash };
    await this.#database.query((client) => client.shareLink.create({ data }));
  }

  async findByHash(tokenHash: string): Promise<ShareLink | undefined> {
    const row = await this.#database.query((client) => client.shareLink.findUnique({ where: { tokenHash } }));
    return row === null ? undefined : linkOf(row);
  }

  async list(runId: RunId): Promise<readonly ShareLink[]> {
    const query = { where: { runId }, orderBy: { id: "asc" } } as const;
    return (await this.#database.query((client) => client.shareLink.findMany(query))).map(linkOf);
  }

  async remove(runId: RunId, id: string): Promise<boolean> {
    const removal = { where: { runId, id } };
    return (await this.#database.query((client) => client.shareLink.deleteMany(removal))).count > 0;
  }
}

function linkOf({ id, teamId, runId, creatorId, createdAt, expiresAt }: ShareLinkRow): ShareLink {
  return {
    id,
    teamId: teamId as TeamId,
    runId: runId as RunId,
    creatorId: creatorId as PrincipalId,
    createdAt,
    expiresAt,
  };
}
