import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { IdentityLink } from "../../core/model/people/identity.ts";
import { IdentityService } from "../../core/team/people/identity-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import {
  IdentityLinkItem,
  identityLinkItem,
  LinkIdentityRequest,
  ListIdentityLinksResponse,
} from "../schemas/identity-link.ts";
import { requireId } from "../schemas/ids.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

export function identityLinkRoutes(
  { clock, storage: wholeStorage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return resourceRoutes(wholeStorage, idempotency, {
    path: "/agent/identity-links",
    name: "identities",
    tags: ["people"],
    scopes: { read: "settings:read", write: "admin" },
    id: uuidId("linkId", "link"),
    serviceOn: (storage) => new IdentityService({ storage, clock }),
    item: IdentityLinkItem,
    items: (links: readonly IdentityLink[]) => links.map(identityLinkItem),
    list: {
      operationId: "listIdentityLinks",
      summary: "List the external accounts of principals",
      without: [400],
      member: "links",
      response: ListIdentityLinksResponse,
      run: (identities, viewer) => identities.list(viewer),
    },
    create: {
      operationId: "linkIdentity",
      summary: "Link an external account to a principal",
      description:
        "Existing runs keep their owner. A principal that has neither an account nor a key left is disabled, unless " +
        "it is an administrator.",
      problems: [404],
      verb: "link",
      body: LinkIdentityRequest,
      run: (identities, viewer, { principal_uid, subject }) =>
        identities.link(viewer, subject, requireId<PrincipalId>(principal_uid, "principal")),
    },
    remove: {
      operationId: "unlinkIdentity",
      summary: "Remove the link of an external account",
      description: "The next message of the account creates a new principal.",
      without: [400],
      verb: "unlink",
      run: (identities, viewer, id) => identities.unlink(viewer, id),
    },
  });
}
