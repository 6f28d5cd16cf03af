import type { PrincipalId, TeamId } from "../../basics/ids.ts";
import type { Viewer } from "./principal.ts";

/** The owner of a record: the whole team, named by the team's id, or one principal. */
export type OwnerId = TeamId | PrincipalId;

export interface Owned {
  readonly teamId: TeamId;
  readonly ownerId: OwnerId;
}

export function ownerOf({ id, teamId }: Pick<Viewer, "id" | "teamId">, isTeamOwned: boolean): OwnerId {
  return isTeamOwned ? teamId : id;
}

/** For a record that has a creator and says whether it belongs to the team. */
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

/** A team's record is visible to every member, any other record to its owner and the team's administrators. */
export function isOpenTo(
  owned: Owned,
  viewer: Pick<Viewer, "id" | "teamId" | "onlyRunId"> & MayAdminister,
): boolean {
  if (owned.teamId !== viewer.teamId || viewer.onlyRunId !== undefined) {
    return false;
  }
  return isTeamOwned(owned) || owned.ownerId === viewer.id || viewer.administrator === true;
}

export interface MayAdminister {
  readonly administrator?: boolean;
}
