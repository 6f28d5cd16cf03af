import type { PrincipalId, RunId, TeamId } from "../ids.ts";
import { FIRST_TEAM } from "./team.ts";

/** A user or a service account: whoever a run, a follow-up or a key belongs to. */
export interface Principal {
  readonly id: PrincipalId;
  /** Everybody belongs to one team and sees nothing of any other. */
  readonly teamId: TeamId;
  readonly type: PrincipalType;
  readonly displayName?: string;
  readonly email?: string;
  readonly photoUrl?: string;
  /** Sees and manages everything of the team. */
  readonly administrator: boolean;
  /** May do nothing any more; what was done stays. */
  readonly disabled: boolean;
  readonly createdAt: Date;
}

export const PRINCIPAL_TYPES = ["user", "service_account"] as const;
export type PrincipalType = (typeof PRINCIPAL_TYPES)[number];

/** Who looks, as far as what they may see hangs on it. A principal is one. */
export interface Viewer {
  readonly id: PrincipalId;
  readonly teamId: TeamId;
  readonly administrator: boolean;
  readonly type?: PrincipalType;
  readonly displayName?: string;
  /** The guest of a share link: sees this run and nothing else. */
  readonly onlyRunId?: RunId;
}

/** Who runs the installation: an administrator of its first team, who may make more teams. */
export function isOperator({ administrator, teamId }: Viewer): boolean {
  return administrator && teamId === FIRST_TEAM;
}
