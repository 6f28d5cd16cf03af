import type { PrincipalId, RunId, TeamId } from "../core/ids.ts";
import type { ShareLink } from "../core/people/share-link.ts";
import { TOPICS } from "../core/ports/news.ts";
import type { ShareLinkStore } from "../core/ports/share-links.ts";
import type { ShareLink as ShareLinkRow } from "./generated/client.ts";
import type { StoreParts } from "./store-parts.ts";

export class PrismaShareLinkStore implements ShareLinkStore {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async add(link: ShareLink, tokenHash: string): Promise<void> {
    const data = { ...link, tokenHash };
    await this.#parts.database.query((client) => client.shareLink.create({ data }));
  }

  async findByHash(tokenHash: string): Promise<ShareLink | undefined> {
    const row = await this.#parts.database.query((client) =>
      client.shareLink.findUnique({ where: { tokenHash } }),
    );
    return row === null ? undefined : linkOf(row);
  }

  async list(runId: RunId): Promise<readonly ShareLink[]> {
    const query = { where: { runId }, orderBy: { id: "asc" } } as const;
    return (await this.#parts.database.query((client) => client.shareLink.findMany(query))).map(linkOf);
  }

  async remove(runId: RunId, id: string): Promise<boolean> {
    const removal = { where: { runId, id } };
    const { database, news } = this.#parts;
    const { count } = await database.query((client) => client.shareLink.deleteMany(removal));
    if (count > 0) news.tell([TOPICS.keys]);
    return count > 0;
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
