import type { PrincipalId, RunId, TeamId } from "../ids.ts";
import type { Viewer } from "./principal.ts";

/** Shows one run to whoever has it, account or not. Its token is told once and not kept. */
export interface ShareLink {
  readonly id: string;
  readonly teamId: TeamId;
  readonly runId: RunId;
  readonly creatorId: PrincipalId;
  /** With which key it was made. Absent: it is older than that was kept. */
  readonly keyId?: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Whoever holds the link: no principal, and therefore nobody's creator or colleague. */
export function guestOf({ id, teamId, runId }: ShareLink): Viewer {
  return { id: id as PrincipalId, teamId, administrator: false, onlyRunId: runId };
}
