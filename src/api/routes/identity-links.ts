import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { PrincipalId } from "../../core/basics/ids.ts";
import { IdentityService } from "../../core/team/people/identity-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import {
  IdentityLinkItem,
  identityLinkItem,
  LinkIdentityRequest,
  ListIdentityLinksResponse,
} from "../schemas/identity-link.ts";
import { requireId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import type { Idempotency } from "./idempotency.ts";

type LinkDeps = Pick<ApiDeps, "clock" | "storage">;

const PATH = "/agent/identity-links";
const tags = ["people"];
const reading = { scope: "settings:read" } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listIdentityLinks",
  summary: "List the external accounts of principals",
  tags,
  response: { 200: ListIdentityLinksResponse, ...problems(401, 403, 503) },
};
const LINK = {
  operationId: "linkIdentity",
  summary: "Link an external account to a principal",
  description:
    "Existing runs keep their owner. A principal that has neither an account nor a key left is disabled, unless " +
    "it is an administrator.",
  tags,
  body: LinkIdentityRequest,
  response: { 201: IdentityLinkItem, ...problems(400, 401, 403, 404, 503) },
};
const UNLINK = {
  operationId: "unlinkIdentity",
  summary: "Remove the link of an external account",
  description: "The next message of the account creates a new principal.",
  tags,
  params: z.object({ linkId: z.string().describe("The link's id.") }),
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};

export function identityLinkRoutes(deps: LinkDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock } = deps;
  const links = new IdentityService(deps);
  return async (app) => {
    app.get(PATH, { schema: LIST, config: reading }, async (request) => ({
      links: (await links.list(viewerOf(request))).map(identityLinkItem),
    }));
    app.post(PATH, { schema: LINK, config: writing }, async (request, reply) => {
      const { principal_uid, subject } = request.body;
      const [viewer, owner] = [viewerOf(request), requireId<PrincipalId>(principal_uid, "principal")];
      return idempotency.writeOnce(request, reply, {
        operation: "identities.link",
        status: 201,
        perform: async (storage) =>
          identityLinkItem(await new IdentityService({ storage, clock }).link(viewer, subject, owner)),
      });
    });
    app.delete(`${PATH}/:linkId`, { schema: UNLINK, config: writing }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireId(request.params.linkId, "link")];
      return idempotency.writeOnce(request, reply, {
        operation: "identities.unlink",
        target: id,
        perform: async (storage) => {
          await new IdentityService({ storage, clock }).unlink(viewer, id);
          return SUCCESS;
        },
      });
    });
  };
}
