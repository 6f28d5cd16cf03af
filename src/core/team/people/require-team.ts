import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import { isOperator, type Viewer } from "../../model/people/principal.ts";
import type { Storage } from "../../ports/stores/storage.ts";

/** Whether the team has an administrator who can act. Such a team decides for itself. */
export async function hasAdministrator(
  { people }: Pick<Storage, "people">,
  teamId: TeamId,
): Promise<boolean> {
  return (await people.list(teamId)).some(({ administrator, disabled }) => administrator && !disabled);
}

/** The team of a request: the viewer's own team, or any team for an operator. */
export async function requireTeam(
  { teams }: Pick<Storage, "teams">,
  viewer: Viewer,
  wanted: TeamId | undefined,
): Promise<TeamId> {
  if (wanted === undefined || wanted === viewer.teamId) {
    return viewer.teamId;
  }
  // Refused before the look-up, because only operators may learn which teams exist.
  if (!isOperator(viewer)) {
    throw new AppError("not_authorized", "Only an operator may name a team other than their own.", {
      remedy: "Leave team_uid out, or ask an administrator of the installation's first team.",
    });
  }
  if ((await teams.find(wanted)) !== undefined) {
    return wanted;
  }
  throw new AppError("resource_not_found", "There is no such team.");
}
