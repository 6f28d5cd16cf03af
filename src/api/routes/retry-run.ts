import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AppError } from "../../core/errors.ts";
import type { RunId } from "../../core/ids.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { NewRun } from "../../core/runs/new-run.ts";
import { retryOf } from "../../core/runs/retry-of.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { sourceOf } from "../http/request-source.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentResponse } from "../schemas/run-requests.ts";
import { createdOf } from "./create-run.ts";
import { RunParams, requireRunId } from "./ids.ts";

type RetryDeps = Pick<ApiDeps, "runs" | "storage">;

const SCHEMA = {
  operationId: "retryRun",
  summary: "Repeat a run",
  description:
    "Creates a run with the same prompt, files and resolved configuration, as a child of the original run. If " +
    "the original run continued a conversation, the new run continues it from the same point. A retry is not shared.",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunAgentResponse, ...problems(401, 403, 404, 409, 422, 503) },
};

export function retryRunRoutes(deps: RetryDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
  return async (app) => {
    app.post("/agent/runs/:runId/retry", { schema: SCHEMA, config }, async (request, reply) => {
      const id = requireRunId(request.params.runId);
      const source = sourceOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "runs.retry",
        target: id,
        perform: async (extras) => {
          const newRun = await newRunOf(deps, id, { creator: viewerOf(request), source });
          return { run: await deps.runs.create(newRun, extras), followUpId: undefined };
        },
        answer: (result) => ({
          ...createdOf(result),
          ...(result.run.config.session_sharing === undefined ? {} : { ignored: ["config.session_sharing"] }),
        }),
      });
    });
  };
}

async function newRunOf(
  { runs, storage }: Pick<ApiDeps, "runs" | "storage">,
  id: RunId,
  { creator, source }: { readonly creator: Viewer; readonly source: NewRun["source"] },
): Promise<NewRun> {
  const run = await runs.get({ id }, creator);
  const inputs = await storage.files.inputsOf(id);
  const agent = await storage.namedAgents.find(run.teamId, run.executorId ?? run.creatorId);
  if (run.secretNames !== undefined && agent === undefined) {
    throw new AppError("resource_not_found", "The agent of this run was deleted.", {
      remedy: "Start a new run. A retry would get secrets that the agent did not have.",
    });
  }
  return {
    ...retryOf(run, {
      creator,
      source,
      inputs,
      ...(await continuedRunOf({ runs, storage }, run, creator)),
    }),
    ...(agent === undefined ? {} : { agentUid: agent.id }),
  };
}

async function continuedRunOf(
  { runs, storage }: RetryDeps,
  { continuesId }: Run,
  viewer: Viewer,
): Promise<Pick<NewRun, "continues">> {
  // If the continued run was deleted, the new run begins a conversation of its own.
  if (continuesId === undefined || (await storage.runs.find({ id: continuesId })) === undefined) {
    return {};
  }
  return { continues: await runs.get({ id: continuesId }, viewer) };
}
