import { AppError } from "../../../../src/core/errors.ts";
import type { SignIn } from "../../../../src/core/people/sign-in.ts";
import { holderOfSignIn, type KnownSignIn } from "../../../../src/core/people/sign-in-holder.ts";
import type { SignInOwner, SignInStore } from "../../../../src/core/people/sign-in-store.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { Tables } from "./tables.ts";

export class InMemorySignInStore implements SignInStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(signIn: SignIn, tokenHash: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      tables.signIns.set(tokenHash, signIn);
    });
  }

  findByHash(tokenHash: string): Promise<KnownSignIn | undefined> {
    return this.#database.read((tables) => known(tables, tables.signIns.get(tokenHash)));
  }

  listOpen(whose: SignInOwner, now: Date, limit: number): Promise<readonly SignIn[]> {
    return this.#database.read((tables) => {
      const open = [...tables.signIns.values()].filter((signIn) => {
        const found = isOf(signIn, whose) ? known(tables, signIn) : undefined;
        return found !== undefined && holderOfSignIn(found, now) !== undefined;
      });
      open.sort((a, b) => b.lastSeenAt.getTime() - a.lastSeenAt.getTime() || (a.id < b.id ? 1 : -1));
      return open.slice(0, limit);
    });
  }

  end(which: SignInOwner & { readonly ids?: readonly string[] }, at: Date): Promise<number> {
    return this.#database.transaction(({ tables: { signIns }, channels }) => {
      const open = [...signIns].filter(
        ([, signIn]) =>
          signIn.endedAt === undefined && isOf(signIn, which) && which.ids?.includes(signIn.id) !== false,
      );
      for (const [hash, signIn] of open) {
        channels.push(CHANNELS.keys);
        signIns.set(hash, { ...signIn, endedAt: at });
      }
      return open.length;
    });
  }

  requireOpen(id: string): Promise<void> {
    return this.#database.transaction(({ tables }) => {
      if (!tables.signIns.values().some((signIn) => signIn.id === id && signIn.endedAt === undefined)) {
        throw new AppError("authentication_required", "The sign-in has ended.");
      }
    });
  }

  touch(id: string, at: Date): Promise<void> {
    return this.#database.transaction(({ tables: { signIns } }) => {
      for (const [hash, signIn] of signIns) {
        if (signIn.id === id && signIn.lastSeenAt < at) {
          signIns.set(hash, { ...signIn, lastSeenAt: at });
        }
      }
    });
  }

  prune(): Promise<number> {
    return this.#database.transaction(({ tables: { signIns }, now }) => {
      const expired = [...signIns].filter(([, { expiresAt }]) => expiresAt.getTime() < now);
      return expired.filter(([hash]) => signIns.delete(hash)).length;
    });
  }
}

function isOf(signIn: SignIn, { principalId, teamId }: SignInOwner): boolean {
  return signIn.teamId === teamId && (principalId === undefined || signIn.principalId === principalId);
}

function known({ keys, principals }: Tables, signIn: SignIn | undefined): KnownSignIn | undefined {
  const principal = signIn && principals.get(signIn.principalId);
  const key = signIn && keys.values().find(({ id }) => id === signIn.keyId);
  return signIn && principal && { signIn, principal, ...(key && { key }) };
}
