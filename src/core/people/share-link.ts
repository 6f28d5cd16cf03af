import type { PrincipalId, RunId, TeamId } from "../ids.ts";
import type { Viewer } from "./principal.ts";

/** Shows one run to anybody who has the link. Its token is returned once and not stored. */
export interface ShareLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly runId: RunId;
  readonly creatorId: PrincipalId;
  /** The key that made the link. Absent for links from before keys were recorded. */
  readonly keyId?: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The viewer of a share link. It is not a principal. */
export function guestOf({ id, teamId, runId }: ShareLink): Viewer {
  return { id: id as PrincipalId, teamId, administrator: false, onlyRunId: runId };
}
