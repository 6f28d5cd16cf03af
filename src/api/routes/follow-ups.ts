import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Viewer } from "../../core/people/principal.ts";
import type { FollowUpInput } from "../../core/runs/decide-follow-up.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { requireBytes } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import { RunFollowupRequest, RunFollowupResponse } from "../schemas/run-requests.ts";
import { RunParams, requireRunId } from "./ids.ts";

type FollowUpDeps = Pick<ApiDeps, "limits" | "runs">;

const SCHEMA = {
  operationId: "submitRunFollowup",
  summary: "Send a follow-up to a run",
  description:
    "A follow-up is accepted in every state. It continues a run that has ended. The guest of a share link for " +
    "editing may send one too, with the cookie that the run's page got. A guest's follow-up never answers a question " +
    "of the run.",
  tags: ["runs"],
  params: RunParams,
  body: RunFollowupRequest,
  response: { 200: RunFollowupResponse, ...problems(400, 401, 404, 413, 422, 503) },
};

export function followUpRoutes(deps: FollowUpDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { promptBytes } = limitsOf(deps);
  const config = {
    scope: "runs:write",
    acceptsGuest: "editor",
    describedHeaders: ["Idempotency-Key"],
  } as const;
  return async (app) => {
    app.post("/agent/runs/:runId/followups", { schema: SCHEMA, config }, async (request, reply) => {
      requireBytes("message", request.body.message, promptBytes);
      const id = requireRunId(request.params.runId);
      const viewer = viewerOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.follow-up",
        target: id,
        perform: (extras) => deps.runs.followUp(id, viewer, inputOf(request.body, viewer), extras),
        answer: ({ run: { state }, followUpId }) =>
          followUpId === undefined ? { state } : { followup_id: followUpId, state },
      });
    });
  };
}

function inputOf(
  request: RunFollowupRequest,
  { id: authorId, invitation }: Pick<Viewer, "id" | "invitation">,
): FollowUpInput {
  const { message, mode, delivery, visibility } = request;
  return {
    message,
    authorId,
    private: visibility === "private",
    ...(invitation === undefined ? {} : { byGuest: true }),
    ...(mode === undefined ? {} : { mode }),
    ...(delivery === undefined ? {} : { delivery }),
  };
}
