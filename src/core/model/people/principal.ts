import type { PrincipalId, RunId, TeamId } from "../../basics/ids.ts";
import { FIRST_TEAM } from "./team.ts";

/** A user or a service account, which owns runs, follow-ups and keys. */
export interface Principal {
  readonly id: PrincipalId;
  /** A principal belongs to one team and sees nothing of any other. */
  readonly teamId: TeamId;
  readonly type: PrincipalType;
  readonly displayName?: string;
  readonly email?: string;
  readonly photoUrl?: string;
  /** Sees and manages everything of the team. */
  readonly administrator: boolean;
  /**
   * Whether a group of the identity provider gave the role of administrator. Such a role ends with the group. Absent:
   * unknown.
   */
  readonly roleFromGroup?: boolean;
  /** The names of the groups that the identity provider gave at the last sign-in. Absent: none. */
  readonly groups?: readonly string[];
  /** A disabled principal may do nothing. Its records stay. */
  readonly disabled: boolean;
  /**
   * Since when the principal is disabled because the identity provider no longer confirms the person. The next sign-in
   * that admits the person enables it again. Absent: an administrator decides.
   */
  readonly suspendedAt?: Date;
  readonly createdAt: Date;
}

export const PRINCIPAL_TYPES = ["user", "service_account"] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** The members that decide what a reader may see. Every principal is a viewer. */
export interface Viewer {
  readonly id: PrincipalId;
  readonly teamId: TeamId;
  readonly administrator: boolean;
  readonly type?: PrincipalType;
  readonly displayName?: string;
  readonly groups?: readonly string[];
  /** The only run that the guest of a share link sees. */
  readonly onlyRunId?: RunId;
  /** For the guest of a share link: who created the link, and whether the guest may send follow-ups. */
  readonly invitation?: { readonly by: Principal; readonly mayFollowUp: boolean };
}

/** An operator is an administrator of the first team. Operators may create more teams. */
export function isOperator({ administrator, teamId }: Viewer): boolean {
  return administrator && teamId === FIRST_TEAM;
}
