import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import type { ApiKey, KnownKey } from "../../model/people/api-key.ts";
import type { IdentityLink } from "../../model/people/identity.ts";
import type { Installation } from "../../model/people/installation.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { Team } from "../../model/people/team.ts";

/** Stores teams. The lock on a team protects the counting of what a team may have. */
export interface TeamStore {
  find(id: TeamId): Promise<Team | undefined>;
  /** Locks the team until the transaction ends. Needed to count records that are limited per team. */
  lock(id: TeamId): Promise<void>;
  /** All teams of the installation, oldest first. */
  list(): Promise<readonly Team[]>;
  /** Stores a new team or a new name. Throws `UniqueConflict` when another team has the name. */
  put(team: Team): Promise<void>;
}

/** Stores the principals of teams. */
export interface PeopleStore {
  /**
   * The principal of a platform account in the team, created on its first message. The display name follows the
   * account, unless the principal has several accounts. An account that is new to the team gets the principal of one of
   * its `aliases`, the first of which is stored with it.
   */
  ensure(
    teamId: TeamId,
    subject: string,
    displayName: string | undefined,
    aliases?: readonly string[],
  ): Promise<Principal>;
  /** The existing principals among `ids`. */
  getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]>;
  list(teamId: TeamId): Promise<readonly Principal[]>;
  /** Stores a new principal or the new state of one. */
  put(principal: Principal): Promise<void>;
  /**
   * Stores the principal that `decide` returns; undefined when the team has no such principal. `decide` also receives
   * all enabled administrators of the team, and none of them can change meanwhile. If it throws, nothing is stored.
   */
  change(
    teamId: TeamId,
    id: PrincipalId,
    decide: (principal: Principal, administrators: readonly Principal[]) => Principal,
  ): Promise<Principal | undefined>;
}

export interface IdentityStore {
  /** Oldest first. */
  list(teamId: TeamId): Promise<readonly IdentityLink[]>;
  find(teamId: TeamId, subject: string): Promise<IdentityLink | undefined>;
  /** The links of the account in all teams. Oldest first. Those that an administrator made have `linkedAt`. */
  listAccount(subject: string): Promise<readonly IdentityLink[]>;
  /** Links the account to this principal, whichever principal it belonged to. */
  link(teamId: TeamId, subject: string, principalId: PrincipalId): Promise<IdentityLink>;
  /** False when the team has no such link. */
  unlink(teamId: TeamId, id: string): Promise<boolean>;
}

/** Stores the keys of principals under their hashes. The keys themselves are not stored. */
export interface KeyStore {
  findByHash(hash: string): Promise<KnownKey | undefined>;
  add(key: ApiKey, hash: string): Promise<void>;
  /** The keys of the team's principals, newest first. */
  list(teamId: TeamId): Promise<readonly ApiKey[]>;
  /**
   * Stores the name, maker, expiry and revocation that `decide` returns for a key of the team; undefined when the team
   * has no such key. The key cannot change meanwhile. If `decide` throws, nothing is stored.
   */
  change(
    teamId: TeamId,
    id: string,
    decide: (key: ApiKey) => ApiKey,
  ): Promise<{ readonly before: ApiKey; readonly after: ApiKey } | undefined>;
  /**
   * Throws `authentication_required` if the key was revoked, has expired or belongs to a disabled principal. Otherwise
   * it cannot be revoked and its principal cannot be disabled until the transaction ends, so nothing is written with a
   * key after its end was answered.
   */
  requireAlive(id: string): Promise<void>;
  /** Records that the key was used. With `hash`, the key is stored under that hash from now on. */
  touch(id: string, at: Date, hash?: string): Promise<void>;
  /** Removes keys that expired 30 days ago or more, and returns how many. Zero: none is left. */
  prune(): Promise<number>;
}

/** The one key of the installation's administrator. The start of a process maintains it. */
export interface AdministratorKeys {
  /**
   * Makes this the administrator's only key and revokes an older one at once. If the same key is stored under one of
   * `formerHashes`, that key is kept.
   */
  set(hash: string, hint: string, formerHashes?: readonly string[]): Promise<void>;
  /** Like `set`, unless there is a key already. Of several processes at once, exactly one gets true. */
  setFirst(hash: string, hint: string): Promise<boolean>;
  exists(): Promise<boolean>;
}

export interface InstallationStore {
  /**
   * The installation, created for the first team on its first message. The first installation of an adapter is
   * enabled, beside those that administrators have connected. Others start disabled, because a stranger's installation
   * would use the team's secrets.
   */
  ensure(adapter: string, externalId: string): Promise<Installation>;
  /** The installations of the team, or all of them. Oldest first. */
  list(teamId?: TeamId): Promise<readonly Installation[]>;
  /** The installations that the team may accept. Oldest first. */
  listOffered(teamId: TeamId): Promise<readonly Installation[]>;
  /** The installation, locked until the transaction ends. */
  lock(id: string): Promise<Installation | undefined>;
  /** All members except `problem`. */
  update(installation: Installation): Promise<void>;
  /** Sets or removes the problem of an installation, or of all those of an adapter. Unknown ones are left out. */
  setProblem(
    of: Pick<Installation, "adapter"> & Partial<Pick<Installation, "externalId">>,
    problem: string | undefined,
  ): Promise<void>;
}
