import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { FollowUp } from "../../core/model/runs/run.ts";
import { FOLLOW_UPS_LENGTH_MAX } from "../../core/ports/stores/follow-up-store.ts";
import type { FollowUpTarget } from "../../core/runs/change-follow-up.ts";
import type { FollowUpInput } from "../../core/runs/decide-follow-up.ts";
import type { FollowUpResult } from "../../core/runs/transaction-extras.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { SignedCursors } from "../http/cursors.ts";
import { requireBytes } from "../http/request-validation.ts";
import { RunParams, requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import {
  ListRunFollowupsQuery,
  ListRunFollowupsResponse,
  RunFollowup,
  runFollowupOf,
  UpdateRunFollowupRequest,
} from "../schemas/run-followups.ts";
import { followUpResponseOf, RunFollowupRequest, RunFollowupResponse } from "../schemas/run-requests.ts";
import type { Idempotency } from "./idempotency.ts";

type FollowUpDeps = Pick<ApiDeps, "limits" | "principals" | "runs" | "sessionSecret">;

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
  const { promptBytes } = limitsOf(deps.limits);
  return async (app) => {
    app.post("/agent/runs/:runId/followups", { schema: SEND, config: sending }, async (request, reply) => {
      requireBytes("message", request.body.message, promptBytes);
      const id = requireRunId(request.params.runId);
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.follow-up",
        target: id,
        perform: (extras) => deps.runs.followUp(id, viewer, inputOf(request.body, viewer), extras),
        answer: followUpResponseOf,
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
      const found = await runs.listFollowUps(id, viewerOf(request), { after, limit: limit + 1 });
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
  };
}

function changeRoutes(deps: FollowUpDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { promptBytes } = limitsOf(deps.limits);
  const path = "/agent/runs/:runId/followups/:followupId";
  return async (app) => {
    app.patch(path, { schema: UPDATE, config: writing }, async (request, reply) => {
      const { message } = request.body;
      requireBytes("message", message, promptBytes);
      const target = targetOf(request.params);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.update-follow-up",
        target: target.followUpId,
        prepare: async () => {
          const authorId = await deps.runs.authorOfFollowUp(target, viewerOf(request));
          const author = (await deps.principals.getMany(new Set([authorId]))).get(authorId);
          return {
            perform: (extras) => deps.runs.rewriteFollowUp(target, viewerOf(request), message, extras),
            answer: (result) => runFollowupOf(rewrittenOf(result), author),
          };
        },
      });
    });
    app.delete(path, { schema: WITHDRAW, config: writing }, async (request, reply) => {
      const target = targetOf(request.params);
      await idempotency.writeRunOnce(request, reply, {
        operation: "runs.withdraw-follow-up",
        target: target.followUpId,
        status: 204,
        perform: (extras) => deps.runs.withdrawFollowUp(target, viewerOf(request), extras),
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
): FollowUpInput {
  const { message, mode, delivery, visibility } = request;
  return defined({
    message,
    authorId,
    private: visibility === "private",
    byGuest: invitation === undefined ? undefined : true,
    mode,
    delivery,
  });
}
