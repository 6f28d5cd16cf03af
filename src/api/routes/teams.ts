import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { TeamId } from "../../core/basics/ids.ts";
import { TeamService } from "../../core/team/people/team-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { ListTeamsResponse, TeamItem, TeamRequest, TeamUpdateRequest, teamItem } from "../schemas/team.ts";
import type { Idempotency } from "./idempotency.ts";

type TeamDeps = Pick<ApiDeps, "clock" | "storage">;

const tags = ["people"];
const reading = { scope: "settings:read" } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;

const params = z.object({ uid: z.string().describe("The team's uid.") });

const LIST = {
  operationId: "listTeams",
  summary: "List teams",
  description:
    "The caller's own team. Operators, who are the administrators of the first team, get all teams.",
  tags,
  response: { 200: ListTeamsResponse, ...problems(401, 403, 503) },
};
const CREATE = {
  operationId: "createTeam",
  summary: "Create a team",
  description:
    "For operators. To create the first administrator of the team, use POST /agent/principals with its uid.",
  tags,
  body: TeamRequest,
  response: { 201: TeamItem, ...problems(400, 401, 403, 503) },
};
const GET = {
  operationId: "getTeam",
  summary: "Get a team",
  tags,
  params,
  response: { 200: TeamItem, ...problems(401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updateTeam",
  summary: "Update a team",
  description: "Changes the name of the team, or what its runs may share with guests.",
  tags,
  params,
  body: TeamUpdateRequest,
  response: { 200: TeamItem, ...problems(400, 401, 403, 404, 503) },
};

export function teamRoutes(deps: TeamDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(writeRoutes(deps, idempotency));
  };
}

function readRoutes(deps: TeamDeps): FastifyPluginAsyncZod {
  const teams = new TeamService(deps);
  return async (app) => {
    app.get("/agent/teams", { schema: LIST, config: reading }, async (request) => ({
      teams: (await teams.list(viewerOf(request))).map(teamItem),
    }));
    app.get("/agent/teams/:uid", { schema: GET, config: reading }, async (request) =>
      teamItem(await teams.get(viewerOf(request), requireId<TeamId>(request.params.uid, "team"))),
    );
  };
}

function writeRoutes({ clock }: Pick<ApiDeps, "clock">, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post("/agent/teams", { schema: CREATE, config: writing }, async (request, reply) => {
      const viewer = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "teams.create",
        status: 201,
        perform: async (storage) =>
          teamItem(await new TeamService({ storage, clock }).create(viewer, request.body.name)),
      });
    });
    app.patch("/agent/teams/:uid", { schema: UPDATE, config: writing }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireId<TeamId>(request.params.uid, "team")];
      return idempotency.writeOnce(request, reply, {
        operation: "teams.update",
        target: id,
        perform: async (storage) =>
          teamItem(await new TeamService({ storage, clock }).update(viewer, id, request.body)),
      });
    });
  };
}
