import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId, type PrincipalId } from "../../basics/ids.ts";
import {
  type ApiKey,
  hasScope,
  isAlive,
  type KeyHolder,
  type Scope,
  scopesNow,
  viewerWith,
} from "../../model/people/api-key.ts";
import { isOperator, type Principal } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import { getPrincipal, raiseUnknown } from "../people/principal-service.ts";

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date;
  /** The owner of the new key; default: the caller. */
  readonly principalId?: PrincipalId;
}

/** A new key. Its secret is returned once and not stored. */
export interface MadeKey {
  readonly secret: string;
  readonly hash: string;
  readonly hint: string;
}

export interface IssuedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** The valid keys of one principal. A program that makes keys must not make them without end. */
export const KEYS_MAX = 100;

export interface KeyDeps {
  readonly storage: Pick<Storage, "deviceCodes" | "keys" | "people" | "teams">;
  readonly clock: Clock;
  readonly makeKey: () => MadeKey;
}

/**
 * Manages API keys. Administrators manage all keys of their team, other principals their own. Nobody receives a key
 * here that allows more than the key of the request.
 */
export class KeyService {
  readonly #deps: KeyDeps;

  constructor(deps: KeyDeps) {
    this.#deps = deps;
  }

  /** With the scopes that the keys have now. */
  async list(caller: KeyHolder, whose?: PrincipalId): Promise<readonly ApiKey[]> {
    const { keys, people } = this.#deps.storage;
    const visible = (await keys.list(caller.principal.teamId)).filter((key) => isSeen(key, caller));
    const owners = new Map((await people.list(caller.principal.teamId)).map((one) => [one.id, one]));
    const shown = visible.map((key) => {
      const owner = owners.get(key.principalId);
      return owner === undefined ? key : { ...key, scopes: scopesNow(key, owner) };
    });
    return whose === undefined ? shown : shown.filter(({ principalId }) => principalId === whose);
  }

  async get(caller: KeyHolder, id: string): Promise<ApiKey> {
    return (await this.list(caller)).find((candidate) => candidate.id === id) ?? raiseUnknownKey();
  }

  async create(caller: KeyHolder, { principalId, ...wanted }: NewKey): Promise<IssuedKey> {
    requireScopes(caller, wanted.scopes);
    const owner = await this.#ownerFor(caller, principalId);
    if (wanted.scopes.includes("admin") && !owner.administrator) {
      throw invalidMember("scopes", "admin is for administrators' keys alone");
    }
    this.#requireFuture(wanted.expiresAt);
    requireWithin(caller.key, wanted.expiresAt, "your own key");
    return this.#issue(owner, { ...wanted, ...makerOf(caller) }, caller.key);
  }

  async change(
    caller: KeyHolder,
    id: string,
    changes: { readonly name?: string; readonly expiresAt?: Date },
  ): Promise<ApiKey> {
    const keys = changes.expiresAt === undefined ? [] : await this.#all(caller);
    const { after } = await this.#change(caller, id, (key) => {
      if (changes.expiresAt !== undefined) {
        requireOfPeople(key);
        this.#requireFuture(changes.expiresAt);
        this.#requireNotOver(key);
        requireWithin(makerAmong(keys, key), changes.expiresAt, "the key with which it was created");
      }
      return { ...key, ...changes };
    });
    const end = changes.expiresAt;
    if (end !== undefined) {
      await this.#changeDescendants(caller, id, (key) => ({
        ...key,
        expiresAt: earlier(key.expiresAt, end),
      }));
    }
    return after;
  }

  /** With `descendants`, also all keys that were created with it, with one of those, and so on. */
  async revoke(caller: KeyHolder, id: string, { descendants = false } = {}): Promise<void> {
    const revokedAt = this.#deps.clock.now();
    await this.#change(caller, id, (key) => {
      requireOfPeople(key);
      return revoked(key, revokedAt);
    });
    if (descendants) {
      await this.#changeDescendants(caller, id, (key) => revoked(key, revokedAt));
    }
  }

  /**
   * Revokes all keys of a principal, and those that programs would still get for approved device codes. Returns how many
   * were valid until then. The installation's own key stays.
   */
  async revokeAllOf(caller: KeyHolder, principalId: PrincipalId): Promise<number> {
    const { clock, storage } = this.#deps;
    const { teamId } = await getPrincipal(storage, caller.principal.teamId, principalId);
    if (principalId !== caller.principal.id && !hasScope(caller, "admin")) {
      throw new AppError("not_authorized", "Only an administrator may revoke the keys of other principals.");
    }
    // First, so that a key that a program gets at the same time is among those below.
    await storage.deviceCodes.denyApproved(principalId);
    const now = clock.now();
    let count = 0;
    // Only these are locked, because requests with other keys of the team would wait for each other.
    const own = (await this.#all(caller)).filter((key) => key.principalId === principalId);
    for (const { id } of own.filter(({ createdBy }) => createdBy !== undefined)) {
      const change = await storage.keys.change(teamId, id, (key) => revoked(key, now));
      count += change !== undefined && change.before.revokedAt !== change.after.revokedAt ? 1 : 0;
    }
    return count;
  }

  /** Replaces a key by a new one. The old key remains valid for `overlapMs`. */
  async rotate(caller: KeyHolder, id: string, overlapMs: number): Promise<IssuedKey> {
    const now = this.#deps.clock.now();
    const { scopes } = await this.get(caller, id);
    const { before } = await this.#change(caller, id, (key) => {
      requireOfPeople(key);
      requireScopes(caller, scopes);
      this.#requireNotOver(key);
      return afterRotation(key, now, overlapMs);
    });
    // A key that replaces itself is no descendant of itself: the old one ends soon, and its descendants would with it.
    const isOwn = caller.key?.id === id;
    const maker = isOwn ? { createdBy: caller.principal.id, ...makerKeyOf(before) } : makerOf(caller);
    const { createdByKey: _former, ...kept } = before;
    const issued = await this.#issue(
      { id: before.principalId, teamId: caller.principal.teamId },
      { ...kept, scopes, ...maker },
      isOwn ? undefined : caller.key,
    );
    for (const { createdByKey, id: child } of await this.#all(caller)) {
      if (createdByKey === id && child !== issued.key.id) {
        await this.#deps.storage.keys.change(caller.principal.teamId, child, (key) => ({
          ...key,
          createdByKey: issued.key.id,
        }));
      }
    }
    return issued;
  }

  #all(caller: KeyHolder): Promise<readonly ApiKey[]> {
    return this.#deps.storage.keys.list(caller.principal.teamId);
  }

  /**
   * Level by level, because the change of a key waits for requests that create a key with it. The keys that they have
   * created are found afterwards.
   */
  async #changeDescendants(caller: KeyHolder, id: string, decide: (key: ApiKey) => ApiKey): Promise<void> {
    const known = new Set([id]);
    for (let level = [id]; level.length > 0; ) {
      const makers = new Set(level);
      const children = (await this.#all(caller)).filter(
        ({ createdByKey, id: child }) =>
          createdByKey !== undefined && makers.has(createdByKey) && !known.has(child),
      );
      level = children.map(({ id: child }) => child);
      for (const child of level) {
        known.add(child);
        await this.#deps.storage.keys.change(caller.principal.teamId, child, decide);
      }
    }
  }

  /**
   * Decides on the current state of the key, whatever happens at the same time, so that a revoked key stays revoked.
   */
  async #change(
    caller: KeyHolder,
    id: string,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<{ before: ApiKey; after: ApiKey }> {
    const { keys } = this.#deps.storage;
    const changed = await keys.change(caller.principal.teamId, id, (key) =>
      isSeen(key, caller) ? decide(key) : raiseUnknownKey(),
    );
    return changed ?? raiseUnknownKey();
  }

  /** The new key ends no later than `limit`. */
  async #issue(
    owner: Pick<Principal, "id" | "teamId">,
    { name, scopes, createdBy, createdByKey, expiresAt }: NewKey & Maker,
    limit: ApiKey | undefined,
  ): Promise<IssuedKey> {
    const { clock, makeKey, storage } = this.#deps;
    await this.#requireWithinLimits(owner);
    const { hash, hint, secret } = makeKey();
    const createdAt = clock.now();
    const made = defined({
      id: newId(createdAt),
      principalId: owner.id,
      name,
      hint,
      scopes,
      createdBy,
      createdByKey,
      createdAt,
    });
    const end = limit?.expiresAt === undefined ? expiresAt : earlier(expiresAt, limit.expiresAt);
    const key = { ...made, ...defined({ expiresAt: end }) };
    await storage.keys.add(key, hash);
    return { key, secret };
  }

  /** The lock comes first, because otherwise keys that are made at the same time would not be counted. */
  async #requireWithinLimits({ id, teamId }: Pick<Principal, "id" | "teamId">): Promise<void> {
    const { clock, storage } = this.#deps;
    await storage.teams.lock(teamId);
    const keys = (await storage.keys.list(teamId)).filter(({ principalId }) => principalId === id);
    if (keys.filter((key) => !isOver(key, clock.now())).length >= KEYS_MAX) {
      throw new AppError("invalid_request", `This account has ${KEYS_MAX} valid keys already.`, {
        remedy: "Revoke keys that are not needed any more: DELETE /api/v1/agent/keys/{id}",
      });
    }
  }

  async #ownerFor(caller: KeyHolder, wanted: PrincipalId = caller.principal.id): Promise<Principal> {
    if (wanted === caller.principal.id) {
      return caller.principal;
    }
    if (!hasScope(caller, "admin")) {
      throw new AppError("not_authorized", "Only an administrator may create a key for another principal.");
    }
    const [owner] = await this.#deps.storage.people.getMany([wanted]);
    if (owner === undefined || !(await this.#mayGive(caller, owner))) {
      return raiseUnknown();
    }
    if (owner.disabled) {
      throw invalidMember("principal_uid", "is disabled");
    }
    return owner;
  }

  /** An operator may create the first key of a new team. After that only the team's own members create keys. */
  async #mayGive(caller: KeyHolder, { teamId }: Principal): Promise<boolean> {
    if (teamId === caller.principal.teamId) {
      return true;
    }
    if (!isOperator(viewerWith(caller))) {
      return false;
    }
    const { clock, storage } = this.#deps;
    const keys = await storage.keys.list(teamId);
    const people = new Map((await storage.people.list(teamId)).map((one) => [one.id, one]));
    return !keys.some((key) => {
      const principal = people.get(key.principalId);
      return principal !== undefined && isAlive({ key, principal }, clock.now());
    });
  }

  #requireFuture(expiresAt: Date | undefined): void {
    if (expiresAt === undefined || expiresAt > this.#deps.clock.now()) {
      return;
    }
    throw invalidMember("expires_at", "must be in the future");
  }

  #requireNotOver(key: ApiKey): void {
    if (!isOver(key, this.#deps.clock.now())) {
      return;
    }
    throw new AppError("invalid_request", "This key was revoked or has expired.", {
      remedy: "Create a new one.",
    });
  }
}

interface Maker extends Pick<ApiKey, "createdByKey"> {
  readonly createdBy: PrincipalId;
}

function isOver({ expiresAt, revokedAt }: ApiKey, now: Date): boolean {
  return revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now);
}

function makerOf({ key, principal }: KeyHolder): Maker {
  return defined({ createdBy: principal.id, createdByKey: key?.id });
}

function makerKeyOf({ createdByKey }: ApiKey): Pick<ApiKey, "createdByKey"> {
  return createdByKey === undefined ? {} : { createdByKey };
}

function makerAmong(keys: readonly ApiKey[], { createdByKey }: ApiKey): ApiKey | undefined {
  return keys.find(({ id }) => id === createdByKey);
}

function requireWithin(maker: ApiKey | undefined, wanted: Date | undefined, what: string): void {
  const end = maker?.expiresAt;
  if (wanted !== undefined && end !== undefined && wanted > end) {
    throw invalidMember("expires_at", `must not be later than that of ${what}: ${end.toISOString()}`);
  }
}

function earlier(one: Date | undefined, other: Date): Date {
  return one === undefined || other < one ? other : one;
}

function revoked(key: ApiKey, revokedAt: Date): ApiKey {
  return key.revokedAt === undefined ? { ...key, revokedAt } : key;
}

/** Keys of the caller's team. */
function isSeen({ principalId }: ApiKey, caller: KeyHolder): boolean {
  return hasScope(caller, "admin") || principalId === caller.principal.id;
}

function raiseUnknownKey(): never {
  throw new AppError("resource_not_found", "There is no such key.");
}

/** The old key after a rotation: it expires at once or after the overlap, and never later than before. */
function afterRotation(key: ApiKey, now: Date, overlapMs: number): ApiKey {
  if (overlapMs === 0) {
    return { ...key, revokedAt: now };
  }
  const end = new Date(now.getTime() + overlapMs);
  return key.expiresAt === undefined || end < key.expiresAt ? { ...key, expiresAt: end } : key;
}

function requireScopes(caller: KeyHolder, wanted: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !hasScope(caller, scope));
  if (missing.length === 0) {
    return;
  }
  throw new AppError("not_authorized", `Your own key does not have ${missing.join(" and ")}.`, {
    remedy: "Ask for no more than your own key may do, or use one that may do it.",
  });
}

/** A file or a variable holds the secret of this key and would still name the old one. */
function requireOfPeople({ createdBy }: ApiKey): void {
  if (createdBy !== undefined) {
    return;
  }
  throw new AppError("invalid_request", "The installation's own key cannot be ended here.", {
    remedy: "Replace the file api-key in the data directory, or ERRAND_ADMIN_KEY, and restart.",
  });
}
