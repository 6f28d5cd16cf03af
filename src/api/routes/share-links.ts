import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { ShareLinkService } from "../../core/team/keys/share-link-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { shareUrl } from "../auth/guests.ts";
import { RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import {
  CreateShareLinkRequest,
  expiryOf,
  IssuedShareLink,
  ListShareLinksResponse,
  shareLinkItem,
} from "../schemas/share-link.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

type ShareLinkDeps = Pick<ApiDeps, "clock" | "hashKey" | "publicUrl" | "storage">;

const PATH = "/agent/runs/:runId/share-links";
const tags = ["runs"];
/** Reading the links also requires `runs:write`, because they show with whom the run is shared. */
const reading = { scope: "runs:write" } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listShareLinks",
  summary: "List the share links of a run",
  tags,
  params: RunParams,
  querystring: PageQuery,
  response: { 200: ListShareLinksResponse, ...problems(401, 403, 404, 503) },
};
const CREATE = {
  operationId: "createShareLink",
  summary: "Create a share link of a run",
  description:
    "The link opens the run's page without an account. Guests of a link with `access` `EDITOR` may also send " +
    "follow-ups: these run without personal secrets and never answer a question. Only this response contains the link. It " +
    "stops working when it expires or is deleted, when its creator is disabled or can no longer see the run, and " +
    "when the key that created it is revoked. A run has at most 100 links, including expired ones.",
  tags,
  params: RunParams,
  body: CreateShareLinkRequest.default({}),
  response: { 201: IssuedShareLink, ...problems(400, 401, 403, 404, 503) },
};
const REMOVE = {
  operationId: "deleteShareLink",
  summary: "Delete a share link",
  description: "The link stops working. Pages that are open end within a minute.",
  tags,
  params: RunParams.extend({ linkId: z.string().describe("The link's id.") }),
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};

export function shareLinkRoutes(deps: ShareLinkDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock } = deps;
  const links = new ShareLinkService(deps);
  return async (app) => {
    app.get(PATH, { schema: LIST, config: { ...reading, collection: "share_links" } }, async (request) => {
      const shareLinks = await links.list(viewerOf(request), requireRunId(request.params.runId));
      return { share_links: shareLinks.map(shareLinkItem), ...WHOLE };
    });
    app.post(PATH, { schema: CREATE, config: writing }, async (request, reply) => {
      const [maker, runId] = [holderOf(request), requireRunId(request.params.runId)];
      const { access = "VIEWER" } = request.body;
      const expires = expiryOf(request.body, clock.now());
      return idempotency.writeOnce(request, reply, {
        operation: "share-links.create",
        target: runId,
        runId,
        status: 201,
        isSecret: true,
        perform: async (storage) => {
          const token = newToken();
          const newLink = { tokenHash: deps.hashKey(token), access, expires };
          const service = new ShareLinkService({ storage, clock });
          const { link, run } = await service.create(maker, runId, newLink);
          return { ...shareLinkItem(link), url: shareUrl(deps.publicUrl(), run.sessionId, token) };
        },
      });
    });
    app.delete(`${PATH}/:linkId`, { schema: REMOVE, config: writing }, async (request, reply) => {
      const [viewer, runId] = [viewerOf(request), requireRunId(request.params.runId)];
      const id = requireId(request.params.linkId, "link");
      return idempotency.writeOnce(request, reply, {
        operation: "share-links.delete",
        target: id,
        perform: async (storage: Storage) => {
          await new ShareLinkService({ storage, clock }).remove(viewer, runId, id);
          return SUCCESS;
        },
      });
    });
  };
}
