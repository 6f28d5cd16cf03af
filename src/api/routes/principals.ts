import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId, TeamId } from "../../core/basics/ids.ts";
import {
  type NewPrincipal,
  type PrincipalChanges,
  PrincipalService,
} from "../../core/team/people/principal-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { requireId } from "../schemas/ids.ts";
import {
  CreatePrincipalRequest,
  ListPrincipalsResponse,
  PrincipalItem,
  principalItem,
  UpdatePrincipalRequest,
} from "../schemas/principal.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import type { Idempotency } from "./idempotency.ts";

type PrincipalDeps = Pick<ApiDeps, "clock" | "storage">;

const tags = ["people"];
const reading = { scope: "settings:read" } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;
const ending = { ...writing, endsKeys: true } as const;

const params = z.object({ uid: z.string().describe("The principal's uid.") });

const LIST = {
  operationId: "listPrincipals",
  summary: "List the principals of the team",
  tags,
  response: { 200: ListPrincipalsResponse, ...problems(401, 403, 503) },
};
const CREATE = {
  operationId: "createPrincipal",
  summary: "Create a principal",
  description:
    "A user or a service account. Operators may create a principal in another team. As long as that team has no " +
    "key, they may also create its first key, so that a new team gets an administrator.",
  tags,
  body: CreatePrincipalRequest,
  response: { 201: PrincipalItem, ...problems(400, 401, 403, 404, 503) },
};
const GET = {
  operationId: "getPrincipal",
  summary: "Get a principal",
  tags,
  params,
  response: { 200: PrincipalItem, ...problems(401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updatePrincipal",
  summary: "Change a principal",
  tags,
  params,
  body: UpdatePrincipalRequest,
  response: { 200: PrincipalItem, ...problems(400, 401, 403, 404, 503) },
};
const DISABLE = {
  operationId: "disablePrincipal",
  summary: "Disable a principal",
  description:
    "Its keys stop working at once, and its runs are kept. To enable it again, set `disabled` to false.",
  tags,
  params,
  response: { 200: Success, ...problems(400, 401, 403, 404, 503) },
};

export function principalRoutes(deps: PrincipalDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(createRoute(deps, idempotency));
    await app.register(changeRoutes(deps, idempotency));
  };
}

function readRoutes(deps: PrincipalDeps): FastifyPluginAsyncZod {
  const principals = new PrincipalService(deps);
  return async (app) => {
    app.get("/agent/principals", { schema: LIST, config: reading }, async (request) => {
      const viewer = viewerOf(request);
      return { principals: (await principals.list(viewer)).map((one) => principalItem(one, viewer)) };
    });
    app.get("/agent/principals/:uid", { schema: GET, config: reading }, async (request) => {
      const viewer = viewerOf(request);
      return principalItem(await principals.get(viewer, requireUid(request.params)), viewer);
    });
  };
}

function createRoute({ clock }: Pick<ApiDeps, "clock">, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post("/agent/principals", { schema: CREATE, config: writing }, async (request, reply) => {
      const [viewer, newPrincipal] = [viewerOf(request), newPrincipalOf(request.body)];
      return idempotency.writeOnce(request, reply, {
        operation: "principals.create",
        status: 201,
        perform: async (storage) =>
          principalItem(await new PrincipalService({ storage, clock }).create(viewer, newPrincipal), viewer),
      });
    });
  };
}

function changeRoutes({ clock }: Pick<ApiDeps, "clock">, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.patch("/agent/principals/:uid", { schema: UPDATE, config: ending }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireUid(request.params)];
      const changes = changesOf(request.body);
      return idempotency.writeOnce(request, reply, {
        operation: "principals.update",
        target: id,
        perform: async (storage) =>
          principalItem(await new PrincipalService({ storage, clock }).change(viewer, id, changes), viewer),
      });
    });
    app.delete("/agent/principals/:uid", { schema: DISABLE, config: ending }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireUid(request.params)];
      return idempotency.writeOnce(request, reply, {
        operation: "principals.disable",
        target: id,
        perform: async (storage) => {
          await new PrincipalService({ storage, clock }).change(viewer, id, { disabled: true });
          return SUCCESS;
        },
      });
    });
  };
}

function newPrincipalOf(request: CreatePrincipalRequest): NewPrincipal {
  const { administrator, display_name, email, photo_url, team_uid, type } = request;
  return defined({
    type,
    displayName: display_name,
    administrator,
    email,
    photoUrl: photo_url,
    teamId: team_uid === undefined ? undefined : requireId<TeamId>(team_uid, "team"),
  });
}

function changesOf(request: UpdatePrincipalRequest): PrincipalChanges {
  const { administrator, disabled, display_name, email, photo_url } = request;
  return defined({ displayName: display_name, email, photoUrl: photo_url, administrator, disabled });
}

function requireUid({ uid }: z.output<typeof params>): PrincipalId {
  return requireId<PrincipalId>(uid, "principal");
}
