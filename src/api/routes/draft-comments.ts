import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { DraftCommentService } from "../../core/requests/draft-comment-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import {
  commentOf,
  DraftComment,
  draftItem,
  LineComment,
  ListDraftCommentsResponse,
} from "../schemas/line-comment.ts";
import { problems } from "../schemas/problem.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

const PATH = "/agent/runs/:runId/draft-comments";
const tags = ["runs"];
const reading = { scope: "runs:read" } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
const DraftParams = RunParams.extend({ draftId: z.string().describe("The draft's id: a UUID.") });

const LIST = {
  operationId: "listDraftComments",
  summary: "List your comments on the changes of a run that are not sent",
  description:
    "Only their author sees them. They are kept until they are sent, deleted, or the run is deleted.",
  tags,
  params: RunParams,
  querystring: PageQuery,
  response: { 200: ListDraftCommentsResponse, ...problems(401, 403, 404, 503) },
};
const PUT = {
  operationId: "putDraftComment",
  summary: "Keep a comment on the changes of a run, to send it later",
  description:
    "Stores a new comment under an id of your choice, or replaces the one with this id. A follow-up sends it: its " +
    "`comments` name the draft.",
  tags,
  params: DraftParams,
  body: LineComment,
  response: { 200: DraftComment, ...problems(400, 401, 403, 404, 422, 503) },
};
const REMOVE = {
  operationId: "deleteDraftComment",
  summary: "Delete a comment that is not sent",
  tags,
  params: DraftParams,
  response: { 204: z.null().describe("The draft is deleted."), ...problems(401, 403, 404, 422, 503) },
};

export function draftCommentRoutes(
  { clock, storage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    const list = { schema: LIST, config: { ...reading, collection: "draft_comments" } };
    app.get(PATH, list, async (request) => {
      const service = new DraftCommentService({ clock, storage });
      const drafts = await service.list(viewerOf(request), requireRunId(request.params.runId));
      return { draft_comments: drafts.map(draftItem), ...WHOLE };
    });
    app.put(`${PATH}/:draftId`, { schema: PUT, config: writing }, async (request, reply) => {
      const [viewer, runId] = [viewerOf(request), requireRunId(request.params.runId)];
      const id = requireId(request.params.draftId, "draft");
      return idempotency.writeOnce(request, reply, {
        operation: "draft-comments.put",
        target: `${runId} ${id}`,
        lock: `draft-comments ${runId} ${viewer.id}`,
        runId,
        perform: async (stores) => {
          const service = new DraftCommentService({ clock, storage: stores });
          return draftItem(await service.put(viewer, runId, id, commentOf(request.body)));
        },
      });
    });
    app.delete(`${PATH}/:draftId`, { schema: REMOVE, config: writing }, async (request, reply) => {
      const [viewer, runId] = [viewerOf(request), requireRunId(request.params.runId)];
      const id = requireId(request.params.draftId, "draft");
      await idempotency.writeOnce(request, reply, {
        operation: "draft-comments.delete",
        target: `${runId} ${id}`,
        status: 204,
        perform: async (stores) => {
          await new DraftCommentService({ clock, storage: stores }).remove(viewer, runId, id);
          return {};
        },
      });
      return reply.code(204).send(null);
    });
  };
}
