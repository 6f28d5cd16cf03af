import type { PrincipalId, TeamId } from "../ids.ts";
import type { Viewer } from "./principal.ts";

/** Whose something is: everybody's in the team, named by the team's own id, or one principal's alone. */
export type OwnerId = TeamId | PrincipalId;

export interface Owned {
  readonly teamId: TeamId;
  readonly ownerId: OwnerId;
}

export function ownerOf({ id, teamId }: Pick<Viewer, "id" | "teamId">, isTeamOwned: boolean): OwnerId {
  return isTeamOwned ? teamId : id;
}

/** Of what has a creator and says whether it is the team's. */
export function ownedOf(made: {
  readonly teamId: TeamId;
  readonly teamOwned: boolean;
  readonly creatorId: PrincipalId;
}): Owned {
  const { creatorId, teamId, teamOwned } = made;
  return { teamId, ownerId: ownerOf({ id: creatorId, teamId }, teamOwned) };
}

export function isTeamOwned({ teamId, ownerId }: Owned): boolean {
  return ownerId === teamId;
}

/** What is the team's is for everybody in it; the rest for its owner and the team's administrators. */
export function isOpenTo(
  owned: Owned,
  viewer: Pick<Viewer, "id" | "teamId" | "onlyRunId"> & MayAdminister,
): boolean {
  if (owned.teamId !== viewer.teamId || viewer.onlyRunId !== undefined) return false;
  return isTeamOwned(owned) || owned.ownerId === viewer.id || viewer.administrator === true;
}

export interface MayAdminister {
  readonly administrator?: boolean;
}
