import type { PrincipalId, TeamId } from "../../basics/ids.ts";

/** Who installs the app of a platform, and for which team. */
export interface Installer {
  readonly teamId: TeamId;
  readonly principalId: PrincipalId;
}

export interface AppCredentials {
  readonly adapter: string;
  /** The platform's id of the workspace or organization. */
  readonly externalId: string;
  readonly name?: string | undefined;
  /** The tokens of the app there, sealed for `credentialsOwner`. */
  readonly sealed: string;
}

/** A workspace that writes to the app and has not connected it. */
export interface UnconnectedWorkspace {
  readonly adapter: string;
  /** The platform's id of the workspace. */
  readonly externalId: string;
  readonly lastReceivedAt: Date;
}

export type ConnectedWorkspace = Pick<AppCredentials, "externalId" | "name">;

/** The app of a platform in the workspaces and organizations that installed it, with its tokens. */
export interface AppInstallations {
  /**
   * The credentials of the first of these installations that has any. One that uses those of its organization counts,
   * too.
   */
  find(adapter: string, externalIds: readonly string[]): Promise<AppCredentials | undefined>;
  /** Whether any installation of the adapter has credentials. */
  isAny(adapter: string): Promise<boolean>;
  /**
   * Stores new credentials, and enables the installation for the team. The messages that came from there in the last hour
   * are processed again. False, and nothing happens, if it is in use by another team.
   */
  connect(credentials: AppCredentials, teamId: TeamId): Promise<boolean>;
  /** Stores the tokens that replace earlier ones. Does nothing if the app was removed meanwhile. */
  renew(credentials: AppCredentials): Promise<void>;
  /** A workspace without credentials of its own uses those of its organization, for the team of that. */
  cover(adapter: string, externalId: string, organizationId: string): Promise<void>;
  /** The app was removed there: deletes the credentials. */
  disconnect(adapter: string, externalId: string): Promise<void>;
  /** The organization no longer lets the app into this workspace. */
  uncover(adapter: string, externalId: string, organizationId: string): Promise<void>;
  /** The workspaces and organizations with credentials. The oldest comes first. */
  listConnected(adapter: string): Promise<readonly ConnectedWorkspace[]>;
  /** The workspaces without credentials that sent messages in the last days. The newest comes first. */
  listUnconnected(adapter: string): Promise<readonly UnconnectedWorkspace[]>;
  /** Remembers that an administrator went to the platform. */
  begin(attempt: Installer & { readonly adapter: string; readonly stateHash: string }): Promise<void>;
  /** Ends the attempt. Undefined if there is none, because it is too old or has led to an answer before. */
  take(adapter: string, stateHash: string): Promise<Installer | undefined>;
}

/** What sealed credentials are bound to. */
export function credentialsOwner({
  adapter,
  externalId,
}: Pick<AppCredentials, "adapter" | "externalId">): string {
  return `installation ${adapter} ${externalId}`;
}
