import type { RunId } from "../../../../src/core/basics/ids.ts";
import type { ShareLink } from "../../../../src/core/model/people/share-link.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { ShareLinkStore } from "../../../../src/core/ports/stores/share-link-store.ts";
import { KEPT_MS } from "../../../../src/storage/share-link-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemoryShareLinkStore implements ShareLinkStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(link: ShareLink, tokenHash: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.shareLinks.set(tokenHash, link);
    });
  }

  findByHash(tokenHash: string): Promise<ShareLink | undefined> {
    return this.#database.transaction(({ now, tables: { keys, shareLinks } }) => {
      const link = shareLinks.get(tokenHash);
      const isOfDeadKey =
        link?.keyId !== undefined &&
        !keys
          .values()
          .some(
            ({ expiresAt, id, revokedAt }) =>
              id === link.keyId &&
              revokedAt === undefined &&
              (expiresAt === undefined || expiresAt.getTime() > now),
          );
      return isOfDeadKey ? undefined : link;
    });
  }

  rehash(id: string, tokenHash: string): Promise<void> {
    return this.#database.transaction(({ tables: { shareLinks } }) => {
      const [former, link] = shareLinks.entries().find(([, one]) => one.id === id) ?? [];
      if (former !== undefined && link !== undefined) {
        shareLinks.delete(former);
        shareLinks.set(tokenHash, link);
      }
    });
  }

  list(runId: RunId): Promise<readonly ShareLink[]> {
    return this.#database.read(({ shareLinks }) => [
      ...shareLinks.values().filter((link) => link.runId === runId),
    ]);
  }

  remove(runId: RunId, id: string): Promise<boolean> {
    return this.#database.transaction(({ tables: { shareLinks }, channels }) => {
      const [hash] = shareLinks.entries().find(([, link]) => link.runId === runId && link.id === id) ?? [];
      if (hash === undefined) {
        return false;
      }
      channels.push(CHANNELS.keys);
      return shareLinks.delete(hash);
    });
  }

  prune(): Promise<number> {
    return this.#database.transaction(({ tables: { shareLinks }, now }) => {
      const over = shareLinks.entries().filter(([, link]) => now - link.expiresAt.getTime() > KEPT_MS);
      return Array.from(over, ([hash]) => shareLinks.delete(hash)).length;
    });
  }
}
