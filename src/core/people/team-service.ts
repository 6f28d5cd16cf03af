import { AppError, invalidMember } from "../errors.ts";
import { newId, type TeamId } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import { type Storage, UniqueConflict } from "../storage.ts";
import { isOperator, type Viewer } from "./principal.ts";
import type { Team } from "./team.ts";

export interface TeamDeps {
  readonly storage: Pick<Storage, "teams">;
  readonly clock: Clock;
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
    return this.#put({ id: newId<TeamId>(createdAt), name, createdAt });
  }

  async rename(viewer: Viewer, id: TeamId, name: string): Promise<Team> {
    return this.#put({ ...(await this.get(viewer, id)), name });
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
