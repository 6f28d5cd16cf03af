import type { PrincipalId, RunId, TeamId } from "../../basics/ids.ts";
import type { Principal, Viewer } from "./principal.ts";
import type { Team } from "./team.ts";

/** What the guests of a link may do: look at the run, or also send follow-ups. */
export const SHARE_ACCESSES = ["VIEWER", "EDITOR"] as const;
export type ShareAccess = (typeof SHARE_ACCESSES)[number];

/** Shows one run to anybody who has the link. Its token is returned once and not stored. */
export interface ShareLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly runId: RunId;
  readonly creatorId: PrincipalId;
  /** The key that made the link. Absent for links from before keys were recorded. */
  readonly keyId?: string;
  readonly access: ShareAccess;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** A share link that is valid at the moment. */
export interface OpenShareLink extends ShareLink {
  readonly creator: Principal;
  /** The link is for editing, and its team allows that at the moment. */
  readonly mayFollowUp: boolean;
}

/** The viewer of a share link. It is not a principal. */
export function guestOf({ creator, id, mayFollowUp, runId, teamId }: OpenShareLink): Viewer {
  return {
    id: id as PrincipalId,
    teamId,
    administrator: false,
    onlyRunId: runId,
    invitation: { by: creator, mayFollowUp },
  };
}

/** Whether a run of the team may be shared with this access because its configuration says so. */
export function allowsSharing({ sharing }: Pick<Team, "sharing">, access: ShareAccess): boolean {
  return sharing === "editor" || (sharing === "viewer" && access === "VIEWER");
}
