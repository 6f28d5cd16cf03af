import type { Clock } from "../../basics/clock.ts";
import { AppError, invalidMember } from "../../basics/errors.ts";
import { newId, type TeamId } from "../../basics/ids.ts";
import { isOperator, type Viewer } from "../../model/people/principal.ts";
import type { Sharing, Team } from "../../model/people/team.ts";
import { type Storage, UniqueConflict } from "../../ports/stores/storage.ts";

export interface TeamDeps {
  readonly storage: Pick<Storage, "teams">;
  readonly clock: Clock;
}

/** A member that is undefined stays as it is. */
export interface TeamEdit {
  readonly name?: string | undefined;
  readonly sharing?: Sharing | undefined;
}

/** Operators see and create all teams. Other principals see only their own. */
export class TeamService {
  readonly #deps: TeamDeps;

  constructor(deps: TeamDeps) {
    this.#deps = deps;
  }

  async list(viewer: Viewer): Promise<readonly Team[]> {
    const { teams } = this.#deps.storage;
    return isOperator(viewer) ? teams.list() : [await this.get(viewer, viewer.teamId)];
  }

  async get(viewer: Viewer, id: TeamId): Promise<Team> {
    const isSeen = id === viewer.teamId || isOperator(viewer);
    const team = isSeen ? await this.#deps.storage.teams.find(id) : undefined;
    if (team === undefined) {
      throw new AppError("resource_not_found", "There is no such team.");
    }
    return team;
  }

  async create(viewer: Viewer, name: string): Promise<Team> {
    if (!isOperator(viewer)) {
      throw new AppError("not_authorized", "Only an operator may make a team.", {
        remedy: "Ask an administrator of the installation's first team.",
      });
    }
    const createdAt = this.#deps.clock.now();
    return this.#put({ id: newId<TeamId>(createdAt), name, sharing: "off", createdAt });
  }

  async update(viewer: Viewer, id: TeamId, edit: TeamEdit): Promise<Team> {
    await this.get(viewer, id);
    // Two updates at the same time must not undo each other.
    await this.#deps.storage.teams.lock(id);
    const team = await this.get(viewer, id);
    return this.#put({ ...team, name: edit.name ?? team.name, sharing: edit.sharing ?? team.sharing });
  }

  async #put(team: Team): Promise<Team> {
    try {
      await this.#deps.storage.teams.put(team);
      return team;
    } catch (error) {
      if (!(error instanceof UniqueConflict)) {
        throw error;
      }
      throw invalidMember("name", "another team has this name");
    }
  }
}

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
