import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { Viewer } from "../../core/people/principal.ts";
import type { NewRun } from "../../core/runs/new-run.ts";
import type { FollowUpResult } from "../../core/runs/run-service.ts";
import type { RunSource } from "../../core/runs/sources.ts";
import { type ApiParts, limitsOf } from "../api-parts.ts";
import { viewerOf } from "../auth.ts";
import type { Idempotency } from "../idempotency.ts";
import { requireAvailable } from "../not-available.ts";
import { requireBytes } from "../request-validation.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentRequest, RunAgentResponse } from "../schemas/run-requests.ts";
import { requireRunId } from "./run-ids.ts";

/** Two addresses, one behaviour: public clients use either. */
const ADDRESSES = [
  { path: "/agent/runs", operationId: "createRun" },
  { path: "/agent/run", operationId: "runAgent" },
] as const;

/** Sources that our own clients may claim; everything else comes from the API as such. */
const CLAIMED_SOURCES: ReadonlySet<RunSource> = new Set(["CLI", "GITHUB_ACTION", "LOCAL"] as const);

export function createRunRoutes(parts: ApiParts, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { promptBytes } = limitsOf(parts);
  const response = { 200: RunAgentResponse, ...problems(400, 401, 404, 409, 413, 422, 429, 503) };
  return async (app) => {
    for (const { path, operationId } of ADDRESSES) {
      const schema = { operationId, summary: "Start a run", tags: ["runs"], body: RunAgentRequest, response };
      const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
      app.post(path, { schema, config }, async (request, reply) => {
        requireBytes("prompt", request.body.prompt, promptBytes);
        requireAvailable(request.body);
        const source = sourceOf(request.headers["x-run-source"]);
        return idempotency.answerOnce(request, reply, {
          operation: "runs.create",
          perform: async (alongside) => {
            const wanted = await newRunOf(parts, request.body, viewerOf(request));
            return { run: await parts.runs.create({ ...wanted, source }, alongside), followUpId: undefined };
          },
          answer: createdOf,
        });
      });
    }
  };
}

async function newRunOf(
  { runs }: ApiParts,
  { prompt = "", title, mode, config, team, metadata, parent_run_id }: RunAgentRequest,
  creator: Viewer,
): Promise<Omit<NewRun, "source">> {
  return {
    prompt,
    creator,
    ...(title === undefined ? {} : { title }),
    ...(mode === undefined ? {} : { mode }),
    ...(config === undefined ? {} : { config: config as NonNullable<NewRun["config"]> }),
    ...(team === undefined ? {} : { teamOwned: team }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(parent_run_id === undefined
      ? {}
      : { parent: await runs.get({ id: requireRunId(parent_run_id) }, creator) }),
  };
}

function createdOf({ run: { id, state } }: FollowUpResult): RunAgentResponse {
  return { run_id: id, task_id: id, state };
}

function sourceOf(header: string | string[] | undefined): RunSource {
  const claimed = String(header ?? "").toUpperCase() as RunSource;
  return CLAIMED_SOURCES.has(claimed) ? claimed : "API";
}
