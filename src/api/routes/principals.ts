import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId, TeamId } from "../../core/basics/ids.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import {
  type NewPrincipal,
  type PrincipalChanges,
  PrincipalService,
} from "../../core/team/people/principal-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { only } from "../http/entity-tags.ts";
import { requireId } from "../schemas/ids.ts";
import {
  CreatePrincipalRequest,
  ListPrincipalsResponse,
  PrincipalItem,
  principalItem,
  UpdatePrincipalRequest,
} from "../schemas/principal.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const CREATE = {
  operationId: "createPrincipal",
  summary: "Create a principal",
  description:
    "A user or a service account. Operators may create a principal in another team. As long as that team has no " +
    "key, they may also create its first key, so that a new team gets an administrator.",
  problems: [404],
  body: CreatePrincipalRequest,
} as const;
const DISABLE = {
  operationId: "disablePrincipal",
  summary: "Disable a principal",
  description:
    "Its keys stop working at once, and its runs are kept. To enable it again, set `disabled` to false.",
  verb: "disable",
  endsKeys: true,
};

export function principalRoutes(
  { clock, storage: wholeStorage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return resourceRoutes(wholeStorage, idempotency, {
    path: "/agent/principals",
    tags: ["people"],
    scopes: { read: "settings:read", write: "admin" },
    id: uuidId<PrincipalId>("uid", "principal", "The principal's uid."),
    serviceOn: (storage) => new PrincipalService({ storage, clock }),
    item: PrincipalItem,
    items: (rows: readonly Principal[], { viewer }) => rows.map((row) => principalItem(row, viewer)),
    edited: only("administrator", "disabled", "display_name", "email", "photo_url"),
    list: {
      operationId: "listPrincipals",
      summary: "List the principals of the team",
      without: [400],
      member: "principals",
      response: ListPrincipalsResponse,
      run: (principals, viewer) => principals.list(viewer),
    },
    get: {
      operationId: "getPrincipal",
      summary: "Get a principal",
      without: [400],
      run: (principals, viewer, id) => principals.get(viewer, id),
    },
    create: {
      ...CREATE,
      run: (principals, viewer, body) => principals.create(viewer, newPrincipalOf(body)),
    },
    update: {
      operationId: "updatePrincipal",
      summary: "Change a principal",
      endsKeys: true,
      body: UpdatePrincipalRequest,
      run: (principals, viewer, id, body) => principals.change(viewer, id, changesOf(body)),
    },
    remove: {
      ...DISABLE,
      run: (principals, viewer, id) => principals.change(viewer, id, { disabled: true }),
    },
  });
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
