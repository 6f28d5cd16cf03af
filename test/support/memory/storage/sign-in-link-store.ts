import type { SignInLink, SignInLinkStore } from "../../../../src/core/ports/stores/sign-in-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";

export class InMemorySignInLinkStore implements SignInLinkStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(link: SignInLink, tokenHash: string): Promise<boolean> {
    return this.#database.transaction(({ tables: { signInLinks } }) => {
      const isNew = !signInLinks.values().some(({ id }) => id === link.id);
      if (isNew) {
        signInLinks.set(tokenHash, link);
      }
      return isNew;
    });
  }

  findByHash(tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    return this.#database.read(({ signInLinks }) => openOne(signInLinks.get(tokenHash), now));
  }

  use(tokenHash: string, now: Date): Promise<SignInLink | undefined> {
    return this.#database.transaction(({ tables: { signInLinks } }) => {
      const link = openOne(signInLinks.get(tokenHash), now);
      const used = link && { ...link, usedAt: now };
      if (used !== undefined) {
        signInLinks.set(tokenHash, used);
      }
      return used;
    });
  }

  prune(): Promise<number> {
    return this.#database.transaction(({ tables: { signInLinks }, now }) => {
      const expired = [...signInLinks].filter(([, { expiresAt }]) => expiresAt.getTime() < now);
      return expired.filter(([hash]) => signInLinks.delete(hash)).length;
    });
  }
}

function openOne(link: SignInLink | undefined, now: Date): SignInLink | undefined {
  return link !== undefined && link.usedAt === undefined && link.expiresAt > now ? link : undefined;
}
