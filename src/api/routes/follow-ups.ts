import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseId, type RunId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { FollowUp } from "../../core/model/runs/follow-up.ts";
import { FOLLOW_UPS_LENGTH_MAX } from "../../core/ports/stores/follow-up-store.ts";
import type { SentFollowUp } from "../../core/requests/follow-up-service.ts";
import { storeInputFiles } from "../../core/requests/prepare/store-input-files.ts";
import type { FollowUpTarget } from "../../core/runs/change-follow-up.ts";
import { messageWithComments, requireComments } from "../../core/runs/comment-text.ts";
import type { FollowUpResult, TransactionExtras } from "../../core/runs/transaction-extras.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { SignedCursors } from "../http/cursors.ts";
import { only, requireMatchOf } from "../http/entity-tags.ts";
import { followUpFilesOf } from "../http/request-files.ts";
import { requireBytes } from "../http/request-validation.ts";
import { ConversationParams, RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { commentOf } from "../schemas/line-comment.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListRunFollowupsQuery,
  ListRunFollowupsResponse,
  RunFollowup,
  runFollowupOf,
  UpdateRunFollowupRequest,
} from "../schemas/run-followups.ts";
import {
  ConversationFollowupResponse,
  followUpResponseOf,
  RunFollowupRequest,
  RunFollowupResponse,
} from "../schemas/run-requests.ts";
import { findContinued } from "./conversations.ts";
import type { Idempotency } from "./idempotency.ts";

type FollowUpDeps = Pick<ApiDeps, "blobs" | "limits" | "principals" | "runs" | "sessionSecret">;

const SEND = {
  operationId: "submitRunFollowup",
  summary: "Send a follow-up to a run",
  description:
    "A follow-up is accepted in every state. It continues a run that has ended. The guest of a share link for " +
    "editing may send one too, with the cookie that the run's page got. A guest's follow-up never answers a question " +
    "of the run.",
  tags: ["runs"],
  params: RunParams,
  body: RunFollowupRequest,
  response: { 200: RunFollowupResponse, ...problems(400, 401, 403, 404, 413, 422, 503) },
};

const SEND_TO_CONVERSATION = {
  operationId: "submitConversationFollowup",
  summary: "Send a follow-up to the newest run of a conversation",
  tags: ["conversations"],
  params: ConversationParams,
  body: RunFollowupRequest,
  response: { 200: ConversationFollowupResponse, ...problems(400, 401, 403, 404, 413, 422, 503) },
};
const LIST = {
  operationId: "listRunFollowups",
  summary: "List the follow-ups of a run",
  description:
    "Also those that were given to the agent or withdrawn. An answer to a question is no follow-up.",
  tags: ["runs"],
  params: RunParams,
  querystring: ListRunFollowupsQuery,
  response: { 200: ListRunFollowupsResponse, ...problems(400, 401, 403, 404, 503) },
};
const FollowupParams = RunParams.extend({ followupId: z.string().describe("The follow-up's id.") });
const WHEN_HELD =
  "Allowed to its author and to administrators, while it is held. Once a turn has taken it or is taking it, the " +
  "response is a conflict.";
const GET = {
  operationId: "getRunFollowup",
  summary: "Get a follow-up",
  tags: ["runs"],
  params: FollowupParams,
  response: { 200: RunFollowup, ...problems(401, 403, 404, 503) },
};
/** Each change of the text has another time. */
const edited = only("edited_at", "message");
const UPDATE = {
  operationId: "updateRunFollowup",
  summary: "Change the text of a follow-up",
  description: WHEN_HELD,
  tags: ["runs"],
  params: FollowupParams,
  body: UpdateRunFollowupRequest,
  response: { 200: RunFollowup, ...problems(400, 401, 403, 404, 409, 413, 422, 503) },
};
const WITHDRAW = {
  operationId: "withdrawRunFollowup",
  summary: "Withdraw a follow-up",
  description: `${WHEN_HELD} The agent never receives it. A run that has nothing else to do is cancelled.`,
  tags: ["runs"],
  params: FollowupParams,
  response: {
    204: z.null().describe("The follow-up is withdrawn."),
    ...problems(401, 403, 404, 409, 422, 503),
  },
};

const reading = { scope: "runs:read" } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;
const sending = { ...writing, acceptsGuest: "editor" } as const;

export function followUpRoutes(deps: FollowUpDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(sendRoute(deps, idempotency));
    await app.register(listRoute(deps));
    await app.register(changeRoutes(deps, idempotency));
  };
}

function sendRoute(deps: FollowUpDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const limits = limitsOf(deps.limits);
  const sendTo = async (id: RunId, viewer: Viewer, body: RunFollowupRequest) => {
    const input = inputOf(body, viewer);
    const { comments = [], message } = input;
    requireComments(comments);
    requireBytes("comments", messageWithComments(message, comments), limits.promptBytes);
    const files = followUpFilesOf(body, limits);
    if (files.length > 0) {
      // A refused request must not leave files.
      await deps.runs.get({ id }, viewer);
    }
    const sent = { ...input, files: await storeInputFiles(deps.blobs, files) };
    return (extras: TransactionExtras) => deps.runs.followUps.send(id, viewer, sent, extras);
  };
  return async (app) => {
    app.post("/agent/runs/:runId/followups", { schema: SEND, config: sending }, async (request, reply) => {
      const { body } = request;
      requireBytes("message", body.message, limits.promptBytes);
      const id = requireRunId(request.params.runId);
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.follow-up",
        target: id,
        prepare: async () => ({ perform: await sendTo(id, viewer, body), answer: followUpResponseOf }),
      });
    });
    const schema = SEND_TO_CONVERSATION;
    const path = "/agent/conversations/:conversationId/followups";
    app.post(path, { schema, config: writing }, async (request, reply) => {
      const { body } = request;
      requireBytes("message", body.message, limits.promptBytes);
      const { conversationId } = request.params;
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "conversations.follow-up",
        target: conversationId,
        prepare: async () => {
          const { id } = await findContinued(deps, conversationId, viewer);
          return {
            perform: await sendTo(id, viewer, body),
            answer: (result) => ({ run_id: id, ...followUpResponseOf(result) }),
          };
        },
      });
    });
  };
}

function listRoute({ principals, runs, sessionSecret }: FollowUpDeps): FastifyPluginAsyncZod {
  const cursors = new SignedCursors(sessionSecret, "follow-up cursor");
  return async (app) => {
    app.get("/agent/runs/:runId/followups", { schema: LIST, config: reading }, async (request) => {
      const id = requireRunId(request.params.runId);
      const { cursor, limit } = request.query;
      const after = cursor === undefined ? 0 : Number(cursors.decode(cursor, [id]));
      // One more than the page has, to find out whether there is a next page.
      const found = await runs.followUps.list(id, viewerOf(request), { after, limit: limit + 1 });
      const page = found.slice(0, limit);
      const length = page.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);
      const hasNext = found.length > limit || length >= FOLLOW_UPS_LENGTH_MAX;
      const last = hasNext ? page.at(-1) : undefined;
      const authors = await principals.getMany(new Set(page.map(({ authorId }) => authorId)));
      return {
        followups: page.map((followUp) => runFollowupOf(followUp, authors.get(followUp.authorId))),
        page_info: cursors.pageInfo(last, [id]),
      };
    });
    const one = { schema: GET, config: { ...reading, edited } };
    app.get("/agent/runs/:runId/followups/:followupId", one, async (request) => {
      const followUp = await runs.followUps.get(targetOf(request.params), viewerOf(request));
      const authors = await principals.getMany(new Set([followUp.authorId]));
      return runFollowupOf(followUp, authors.get(followUp.authorId));
    });
  };
}

function changeRoutes(deps: FollowUpDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { promptBytes } = limitsOf(deps.limits);
  const path = "/agent/runs/:runId/followups/:followupId";
  const config = { ...writing, edited };
  const conditional = (request: FastifyRequest, extras: TransactionExtras): TransactionExtras => ({
    ...extras,
    checkBefore: (before) => requireMatchOf(request, runFollowupOf(before, undefined)),
  });
  return async (app) => {
    app.patch(path, { schema: UPDATE, config }, async (request, reply) => {
      const { message } = request.body;
      requireBytes("message", message, promptBytes);
      const target = targetOf(request.params);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.update-follow-up",
        target: target.followUpId,
        prepare: async () => {
          const authorId = await deps.runs.followUps.authorOf(target, viewerOf(request));
          const author = (await deps.principals.getMany(new Set([authorId]))).get(authorId);
          return {
            perform: (extras) =>
              deps.runs.followUps.rewrite(target, viewerOf(request), message, conditional(request, extras)),
            answer: (result) => runFollowupOf(rewrittenOf(result), author),
          };
        },
      });
    });
    app.delete(path, { schema: WITHDRAW, config }, async (request, reply) => {
      const target = targetOf(request.params);
      await idempotency.writeRunOnce(request, reply, {
        operation: "runs.withdraw-follow-up",
        target: target.followUpId,
        status: 204,
        perform: (extras) =>
          deps.runs.followUps.withdraw(target, viewerOf(request), conditional(request, extras)),
        // A stored response needs a body, but this one is not sent.
        answer: () => ({}),
      });
      return reply.code(204).send(null);
    });
  };
}

function targetOf({ followupId, runId }: z.output<typeof FollowupParams>): FollowUpTarget {
  return { runId: requireRunId(runId), followUpId: requireId(followupId, "follow-up") };
}

function rewrittenOf({ followUp }: FollowUpResult): FollowUp {
  if (followUp === undefined) {
    throw new Error("The change of a follow-up has no result.");
  }
  return followUp;
}

function inputOf(
  request: RunFollowupRequest,
  { id: authorId, invitation }: Pick<Viewer, "id" | "invitation">,
): Omit<SentFollowUp, "files"> {
  const { comments = [], message, mode, delivery, visibility } = request;
  return defined({
    comments: comments.length === 0 ? undefined : comments.map(commentOf),
    draftIds: comments.flatMap(({ draft_id }) => parseId(draft_id ?? "") ?? []),
    message,
    authorId,
    private: visibility === "private",
    byGuest: invitation === undefined ? undefined : true,
    mode,
    delivery,
  });
}
