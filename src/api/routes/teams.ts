import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { TeamId } from "../../core/basics/ids.ts";
import type { Team } from "../../core/model/people/team.ts";
import { TeamService } from "../../core/team/people/team-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { only } from "../http/entity-tags.ts";
import { ListTeamsResponse, TeamItem, TeamRequest, TeamUpdateRequest, teamItem } from "../schemas/team.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

export function teamRoutes(
  { clock, storage: wholeStorage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return resourceRoutes(wholeStorage, idempotency, {
    path: "/agent/teams",
    tags: ["people"],
    scopes: { read: "settings:read", write: "admin" },
    id: uuidId<TeamId>("uid", "team", "The team's uid."),
    serviceOn: (storage) => new TeamService({ storage, clock }),
    item: TeamItem,
    items: (teams: readonly Team[]) => teams.map(teamItem),
    edited: only("name", "sharing"),
    list: {
      operationId: "listTeams",
      summary: "List teams",
      description:
        "The caller's own team. Operators, who are the administrators of the first team, get all teams.",
      without: [400],
      member: "teams",
      response: ListTeamsResponse,
      run: (teams, viewer) => teams.list(viewer),
    },
    get: {
      operationId: "getTeam",
      summary: "Get a team",
      without: [400],
      run: (teams, viewer, id) => teams.get(viewer, id),
    },
    create: {
      operationId: "createTeam",
      summary: "Create a team",
      description:
        "For operators. To create the first administrator of the team, use POST /agent/principals with its uid.",
      body: TeamRequest,
      run: (teams, viewer, { name }) => teams.create(viewer, name),
    },
    update: {
      operationId: "updateTeam",
      summary: "Update a team",
      description: "Changes the name of the team, or what its runs may share with guests.",
      body: TeamUpdateRequest,
      run: (teams, viewer, id, body) => teams.update(viewer, id, body),
    },
  });
}
