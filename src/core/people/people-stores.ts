import type { PrincipalId, TeamId } from "../ids.ts";
import type { ApiKey, KeyHolder } from "./api-key.ts";
import type { IdentityLink } from "./identity.ts";
import type { Installation } from "./installation.ts";
import type { Principal } from "./principal.ts";
import type { Team } from "./team.ts";

/** Teams, and the lock under which what a team may have is counted. */
export interface TeamStore {
  find(id: TeamId): Promise<Team | undefined>;
  /** Until the transaction ends, whoever else locks the team waits: for what a team may have so many of. */
  lock(id: TeamId): Promise<void>;
  /** All of the installation, the oldest first. */
  list(): Promise<readonly Team[]>;
  /** Stores a new team, or a team's new name. Throws `UniqueConflict` when another has the name. */
  put(team: Team): Promise<void>;
}

/** The principals of teams. */
export interface PeopleStore {
  /**
   * The team's principal of a platform account, made on its first message. Its name follows the account's, unless it
   * has several accounts, which may call it differently.
   */
  ensure(teamId: TeamId, subject: string, displayName: string | undefined): Promise<Principal>;
  /** Those of `ids` that exist. */
  getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]>;
  list(teamId: TeamId): Promise<readonly Principal[]>;
  /** Stores a new principal, or the new state of one. */
  put(principal: Principal): Promise<void>;
  /**
   * Stores what `decide` makes of a principal of the team; undefined when the team has none of that id. `decide` is
   * also given all administrators of the team who are not disabled, and nobody else changes one of them meanwhile. It
   * may throw: then nothing is stored.
   */
  change(
    teamId: TeamId,
    id: PrincipalId,
    decide: (principal: Principal, administrators: readonly Principal[]) => Principal,
  ): Promise<Principal | undefined>;
}

export interface IdentityStore {
  /** The oldest first. */
  list(teamId: TeamId): Promise<readonly IdentityLink[]>;
  find(teamId: TeamId, subject: string): Promise<IdentityLink | undefined>;
  /** From now on the account is this principal's, whoever's it was. */
  link(teamId: TeamId, subject: string, principalId: PrincipalId): Promise<IdentityLink>;
  /** False when the team has none of that id. */
  unlink(teamId: TeamId, id: string): Promise<boolean>;
}

/** Keys of principals, found by their hash: a key itself is stored nowhere. */
export interface KeyStore {
  findByHash(hash: string): Promise<KeyHolder | undefined>;
  add(key: ApiKey, hash: string): Promise<void>;
  /** Keys of the team's principals, the newest first. */
  list(teamId: TeamId): Promise<readonly ApiKey[]>;
  /**
   * Stores the name, end and revocation that `decide` gives a key of the team; undefined when the team has none of that
   * id. Nobody else changes it meanwhile. `decide` may throw: then nothing is stored.
   */
  change(
    teamId: TeamId,
    id: string,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<{ readonly before: ApiKey; readonly after: ApiKey } | undefined>;
  /** The key was used then. With `hash`, that is what it is found by from now on. */
  touch(id: string, at: Date, hash?: string): Promise<void>;
}

/** The one key of the installation's administrator, which the start looks after. */
export interface AdministratorKeys {
  /**
   * Makes this the one key of the installation's administrator; an older one dies at once. Where it is this very key, stored
   * as one of `formerHashes`, it stays the same one.
   */
  set(hash: string, hint: string, formerHashes?: readonly string[]): Promise<void>;
  /** The same, unless there is one already: of several processes that try at once, one is told true. */
  setFirst(hash: string, hint: string): Promise<boolean>;
  exists(): Promise<boolean>;
}

export interface InstallationStore {
  /**
   * The installation, made for the first team when it is heard of for the first time. The first of its adapter is switched
   * on; others may be a stranger's, who would work with the team's secrets.
   */
  ensure(adapter: string, externalId: string): Promise<Installation>;
  /** The team's, or all. The oldest first. */
  list(teamId?: TeamId): Promise<readonly Installation[]>;
  /** The installation, locked until the transaction ends: within one, nobody else changes it meanwhile. */
  lock(id: string): Promise<Installation | undefined>;
  update(installation: Installation): Promise<void>;
}
