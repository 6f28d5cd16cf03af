import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { CatalogueEntry } from "../../core/ports/agent-catalogue.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { agentJson, ListCatalogueResponse, ListModelsResponse, modelsJson } from "../schemas/agents.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentResponse } from "../schemas/run-requests.ts";
import { createdOf } from "./create-run.ts";
import type { Idempotency } from "./idempotency.ts";

const tags = ["agents"];
const reading = { scope: "runs:read" } as const;
const writing = { scope: "runs:write", describedHeaders: ["Idempotency-Key"] } as const;

const MODELS = {
  operationId: "listModels",
  summary: "List models",
  tags,
  response: { 200: ListModelsResponse, ...problems(401, 503) },
};
const CATALOGUE = {
  operationId: "listCatalogue",
  summary: "List agents and their requirements",
  tags,
  response: { 200: ListCatalogueResponse, ...problems(401, 503) },
};
const TEST = {
  operationId: "testCatalogueAgent",
  summary: "Test an agent",
  description:
    "Starts a small run of the agent, which costs about one word of its model. The log of the run shows how the " +
    "agent was installed and started, its version and its speed. The end of the run shows whether the agent " +
    "works, or what is missing. If something is already known to be missing, the request is refused at once.",
  tags,
  params: z.object({ name: z.string().describe("The agent's name.") }),
  response: { 200: RunAgentResponse, ...problems(400, 401, 403, 404, 503) },
};

const TEST_PROMPT = "This is a test. Answer with the one word: ready";

export function agentRoutes(
  { catalogue, runs }: Pick<ApiDeps, "catalogue" | "runs">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/models", { schema: MODELS, config: reading }, async () => {
      const entries = (await catalogue.list()).filter(({ usable }) => usable);
      return { default_model_id: defaultModelOf(entries), models: modelsJson(entries) };
    });
    app.get("/agent/catalogue", { schema: CATALOGUE, config: reading }, async () => ({
      agents: (await catalogue.list()).map((entry) => agentJson(entry, catalogue.defaultName)),
    }));
    app.post("/agent/catalogue/:name/test", { schema: TEST, config: writing }, async (request, reply) => {
      const { displayName: title, name } = entryOf(await catalogue.list(), request.params.name);
      const creator = viewerOf(request);
      const newRun = {
        creator,
        prompt: TEST_PROMPT,
        source: "API" as const,
        title: `Test of ${title}`,
        config: { harness: { type: name } },
        metadata: { purpose: "agent-test" },
      };
      return idempotency.writeRunOnce(request, reply, {
        operation: "catalogue.test",
        target: name,
        perform: async (extras) => ({ run: await runs.create(newRun, extras), followUpId: undefined }),
        answer: createdOf,
      });
    });
  };
}

/** The default agent is first, and so is its default model. */
function defaultModelOf(entries: readonly CatalogueEntry[]): string {
  const id = entries[0]?.models[0]?.id;
  if (id !== undefined) {
    return id;
  }
  throw new AppError("resource_unavailable", "No agent is usable on this server.", {
    remedy: "See GET /agent/catalogue for the requirements of each agent.",
  });
}

function entryOf(entries: readonly CatalogueEntry[], name: string): CatalogueEntry {
  const entry = entries.find((each) => each.name === name);
  if (entry === undefined) {
    throw new AppError("resource_not_found", "There is no such agent.");
  }
  return entry;
}
