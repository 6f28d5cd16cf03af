import { AppError } from "../../../../src/core/basics/errors.ts";
import type { SignIn } from "../../../../src/core/model/people/sign-in.ts";
import { holderOfSignIn, type KnownSignIn } from "../../../../src/core/model/people/sign-in-holder.ts";
import { CHANNELS } from "../../../../src/core/ports/pubsub.ts";
import type {
  ClaimedRenewal,
  SignInOwner,
  SignInSecrets,
  SignInStore,
} from "../../../../src/core/ports/stores/sign-in-store.ts";
import type { InMemoryStatements } from "./in-memory-database.ts";
import type { StoredSignIn, Tables } from "./tables.ts";

export class InMemorySignInStore implements SignInStore {
  readonly #database: InMemoryStatements;

  constructor(database: InMemoryStatements) {
    this.#database = database;
  }

  add(signIn: SignIn, secrets: SignInSecrets): Promise<boolean> {
    return this.#database.transaction(({ tables: { signIns } }) => {
      const { attemptHash, sealedRenewal, tokenHash } = secrets;
      if (attemptHash !== undefined && signIns.values().some((one) => one.attemptHash === attemptHash)) {
        return false;
      }
      signIns.set(tokenHash, { ...signIn, ...secrets, ...(sealedRenewal && { isRenewable: true }) });
      return true;
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
      return open.slice(0, limit).map(signInOf);
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
        signIns.set(hash, { ...withoutRenewal(signIn), endedAt: at });
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

  claimRenewals(at: Parameters<SignInStore["claimRenewals"]>[0]): Promise<readonly ClaimedRenewal[]> {
    return this.#database.transaction(({ tables: { signIns } }) => {
      const due = [...signIns].filter(
        ([, { createdAt, endedAt, expiresAt, provenAt = createdAt, renewAfter, sealedRenewal }]) =>
          sealedRenewal !== undefined &&
          endedAt === undefined &&
          expiresAt > at.now &&
          provenAt <= at.provenBefore &&
          (renewAfter === undefined || renewAfter <= at.now),
      );
      return due.slice(0, at.limit).map(([hash, stored]) => {
        signIns.set(hash, { ...stored, renewAfter: at.until });
        const { sealedRenewal = "", renewAfter } = stored;
        return {
          signIn: signInOf({ ...stored, renewAfter: at.until }),
          sealedRenewal,
          isRepeated: renewAfter !== undefined,
        };
      });
    });
  }

  renewed(id: string, { provenAt, sealedRenewal }: Parameters<SignInStore["renewed"]>[1]): Promise<void> {
    return this.#database.transaction(({ tables: { signIns }, channels }) => {
      const [hash, stored] = signIns.entries().find(([, one]) => one.id === id) ?? [];
      if (hash === undefined || stored === undefined || stored.endedAt !== undefined) {
        return;
      }
      const { renewAfter, ...rest } = withoutRenewal(stored);
      const isOver = provenAt !== undefined || sealedRenewal === undefined;
      signIns.set(hash, {
        ...rest,
        ...(provenAt && { provenAt }),
        ...(sealedRenewal && { sealedRenewal, isRenewable: true }),
        ...(!isOver && renewAfter && { renewAfter }),
      });
      channels.push(CHANNELS.keys);
    });
  }

  postponeProof(id: string, now: Date, until: Date): Promise<boolean> {
    return this.#database.transaction(({ tables: { signIns } }) => {
      const [hash, stored] = signIns.entries().find(([, one]) => one.id === id) ?? [];
      if (hash === undefined || stored === undefined || (stored.renewAfter ?? now) > now) {
        return false;
      }
      signIns.set(hash, { ...stored, renewAfter: until });
      return stored.endedAt === undefined;
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

function withoutRenewal({ isRenewable: _is, sealedRenewal: _sealed, ...stored }: StoredSignIn): StoredSignIn {
  return stored;
}

function signInOf({
  attemptHash: _attempt,
  sealedRenewal: _sealed,
  tokenHash: _hash,
  ...signIn
}: StoredSignIn): SignIn {
  return signIn;
}

function known({ keys, principals }: Tables, stored: StoredSignIn | undefined): KnownSignIn | undefined {
  const signIn = stored && signInOf(stored);
  const principal = signIn && principals.get(signIn.principalId);
  const key = signIn && keys.values().find(({ id }) => id === signIn.keyId);
  return signIn && principal && { signIn, principal, ...(key && { key }) };
}
