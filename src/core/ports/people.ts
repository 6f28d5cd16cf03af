import type { PrincipalId, TeamId } from "../ids.ts";
import type { ApiKey, KeyHolder } from "../people/api-key.ts";
import type { Installation } from "../people/installation.ts";
import type { Principal } from "../people/principal.ts";
import type { Team } from "../people/team.ts";

export interface TeamStore {
  find(id: TeamId): Promise<Team | undefined>;
  /** All of the installation, the oldest first. */
  list(): Promise<readonly Team[]>;
  /** Stores a new team, or a team's new name. Throws `Taken` when another has the name. */
  put(team: Team): Promise<void>;
}

export interface PeopleStore {
  /** The team's principal of a platform account, made on its first message. */
  ensure(teamId: TeamId, subject: string, displayName: string | undefined): Promise<Principal>;
  /** Those of `ids` that exist. */
  getMany(ids: readonly PrincipalId[]): Promise<readonly Principal[]>;
  list(teamId: TeamId): Promise<readonly Principal[]>;
  /** Stores a new principal, or the new state of one. */
  put(principal: Principal): Promise<void>;
}

export interface KeyStore {
  findByHash(hash: string): Promise<KeyHolder | undefined>;
  add(key: ApiKey, hash: string): Promise<void>;
  /** Keys of the team's principals, the newest first. */
  list(teamId: TeamId): Promise<readonly ApiKey[]>;
  /** Stores a key's new name, end or revocation. */
  update(key: ApiKey): Promise<void>;
  /** The key was used then. */
  touch(id: string, at: Date): Promise<void>;
}

/** The one key of the installation's administrator, which the start looks after. */
export interface AdministratorKeys {
  /** Makes this the one key of the installation's administrator; an older one dies at once. */
  set(hash: string, hint: string): Promise<void>;
  exists(): Promise<boolean>;
}

export interface InstallationStore {
  /** The installation, made for the first team when it is heard of for the first time. */
  ensure(adapter: string, externalId: string): Promise<Installation>;
  list(teamId: TeamId): Promise<readonly Installation[]>;
  update(installation: Installation): Promise<void>;
}
