import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { storeInputs } from "../../core/inputs/run-input.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { NewRun } from "../../core/runs/new-run.ts";
import type { RunConfig } from "../../core/runs/run.ts";
import type { FollowUpResult } from "../../core/runs/run-service.ts";
import { CLAIMED_SOURCES, type RunSource } from "../../core/runs/sources.ts";
import { Capacity } from "../../core/workers/capacity.ts";
import { type ApiDeps, type ApiLimits, limitsOf } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { ignoredOf } from "../http/ignored-members.ts";
import { requestFilesOf } from "../http/request-files.ts";
import { requireBytes, requireCharacters, requireConfigBytes } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentRequest, RunAgentResponse } from "../schemas/run-requests.ts";
import { findContinued } from "./conversations.ts";
import { requireRunId } from "./ids.ts";

/** Two addresses with the same behaviour, because public clients use either. */
const ADDRESSES = [
  { path: "/agent/runs", operationId: "createRun" },
  { path: "/agent/run", operationId: "runAgent" },
] as const;

/** The prompt of a continued conversation if the request has none. */
const DEFAULT_PROMPT = "Continue.";

export function createRunRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const limits = limitsOf(deps);
  const capacity = new Capacity({ workers: deps.storage.workers, clock: deps.clock });
  const response = { 200: RunAgentResponse, ...problems(400, 401, 404, 409, 413, 422, 429, 503) };
  return async (app) => {
    for (const { path, operationId } of ADDRESSES) {
      const schema = { operationId, summary: "Start a run", tags: ["runs"], body: RunAgentRequest, response };
      const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
      app.post(path, { schema, config }, async (request, reply) => {
        requireTexts(request.body, limits);
        const files = requestFilesOf(request.body, limits);
        const source = sourceOf(request.headers["x-run-source"]);
        return idempotency.writeRunOnce(request, reply, {
          operation: "runs.create",
          isAtomic: files.length === 0,
          prepare: async () => {
            const newRun = await newRunOf(deps, request.body, viewerOf(request));
            const prepared = await deps.runs.prepare({ ...newRun, source });
            // Only now, because a routing rule may choose the worker.
            const isFull = await capacity.isFull(prepared.origin.config.worker_host);
            // Only now, because a refused request must not leave files.
            const inputs = await storeInputs(deps.blobs, files);
            return {
              perform: async (extras) => ({
                run: await deps.runs.store({ ...prepared, inputs }, extras),
                followUpId: undefined,
              }),
              answer: (result) => ({
                ...createdOf(result),
                at_capacity: isFull,
                ...ignoredOf(request, prepared.ignored),
              }),
            };
          },
        });
      });
    }
  };
}

function requireTexts({ config, prompt, title }: RunAgentRequest, limits: ApiLimits): void {
  requireBytes("prompt", prompt, limits.promptBytes);
  requireCharacters("title", title, limits.titleLength);
  requireConfigBytes("config", config, limits);
}

async function newRunOf(
  { runs }: Pick<ApiDeps, "runs">,
  request: RunAgentRequest,
  creator: Viewer,
): Promise<Omit<NewRun, "source">> {
  const { title, mode, team, metadata, parent_run_id, conversation_id } = request;
  return {
    prompt: promptOf(request),
    creator,
    config: configOf(request),
    ...(title === undefined ? {} : { title }),
    ...(mode === undefined ? {} : { mode }),
    ...(team === undefined ? {} : { teamOwned: team }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(parent_run_id === undefined
      ? {}
      : { parent: await runs.get({ id: requireRunId(parent_run_id) }, creator) }),
    ...(conversation_id === undefined
      ? {}
      : { continues: await findContinued({ runs }, conversation_id, creator) }),
  };
}

/** A skill needs no prompt. */
function promptOf({ prompt = "", skill, config, conversation_id }: RunAgentRequest): string {
  const isSkill = skill !== undefined || config?.skill_spec !== undefined;
  return prompt.trim() !== "" || isSkill || conversation_id === undefined ? prompt : DEFAULT_PROMPT;
}

/** An interactive caller wants to be asked for permissions. `skill` takes precedence over the skill in `config`. */
function configOf({ config, interactive, skill }: RunAgentRequest): RunConfig {
  const named = skill === undefined ? {} : { skill_spec: skill };
  const runConfig: RunConfig = { ...(config as RunConfig | undefined), ...named };
  return interactive === true ? { permission_policy: "ask", ...runConfig } : runConfig;
}

export function createdOf({ run: { id, state } }: FollowUpResult): RunAgentResponse {
  return { run_id: id, task_id: id, state };
}

export function sourceOf(header: string | string[] | undefined): RunSource {
  const claimed = String(header ?? "").toUpperCase() as RunSource;
  return CLAIMED_SOURCES.has(claimed) ? claimed : "API";
}
