import type { RunId } from "../../core/ids.ts";
import type { ShareLink } from "../../core/people/share-link.ts";
import { TOPICS } from "../../core/ports/news.ts";
import type { ShareLinkStore } from "../../core/ports/share-links.ts";
import type { MemoryStatements } from "./memory-database.ts";

export class MemoryShareLinkStore implements ShareLinkStore {
  readonly #database: MemoryStatements;

  constructor(database: MemoryStatements) {
    this.#database = database;
  }

  add(link: ShareLink, tokenHash: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.shareLinks.set(tokenHash, link);
    });
  }

  findByHash(tokenHash: string): Promise<ShareLink | undefined> {
    return this.#database.read(({ shareLinks }) => shareLinks.get(tokenHash));
  }

  list(runId: RunId): Promise<readonly ShareLink[]> {
    return this.#database.read(({ shareLinks }) => [
      ...shareLinks.values().filter((link) => link.runId === runId),
    ]);
  }

  remove(runId: RunId, id: string): Promise<boolean> {
    return this.#database.transaction(({ tables: { shareLinks }, topics }) => {
      const [hash] = shareLinks.entries().find(([, link]) => link.runId === runId && link.id === id) ?? [];
      if (hash === undefined) return false;
      topics.push(TOPICS.keys);
      return shareLinks.delete(hash);
    });
  }
}
