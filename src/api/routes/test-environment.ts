import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { isTeamOwned } from "../../core/model/people/ownership.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { NewRun } from "../../core/requests/prepare/new-run.ts";
import { EnvironmentService } from "../../core/team/records/environment-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { sourceOf } from "../http/request-source.ts";
import { problems } from "../schemas/problem.ts";
import { RunAgentResponse } from "../schemas/run-requests.ts";
import { createdOf } from "./create-run.ts";
import type { Idempotency } from "./idempotency.ts";

type TestEnvironmentDeps = Pick<ApiDeps, "clock" | "imageRegistries" | "runs" | "storage">;

const params = z.object({ uid: z.string().describe("An environment's uid.") });
const SCHEMA = {
  operationId: "testEnvironment",
  summary: "Test an environment",
  description:
    "Starts a run that clones the repositories, runs all setup commands anew and ends. No agent works on it, and it " +
    "does not count as a run in usage. Its result becomes `setup_failed` of the environment. It can be listed, " +
    "followed and cancelled like other runs, but it takes no follow-ups.",
  tags: ["environments"],
  params,
  response: { 200: RunAgentResponse, ...problems(400, 401, 403, 404, 409, 422, 503) },
};

export function testEnvironmentRoutes(
  { clock, imageRegistries, runs, storage }: TestEnvironmentDeps,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
  const environments = new EnvironmentService({ storage, clock, imageRegistries });
  return async (app) => {
    app.post("/agent/environments/:uid/test", { schema: SCHEMA, config }, async (request, reply) => {
      const { uid } = request.params;
      const creator = viewerOf(request);
      const source = sourceOf(request);
      return idempotency.writeRunOnce(request, reply, {
        operation: "environments.test",
        target: uid,
        perform: async (extras) => {
          const newRun = await testRunOf(environments, uid, creator);
          return { run: await runs.create({ ...newRun, source }, extras), followUpId: undefined };
        },
        answer: createdOf,
      });
    });
  };
}

/** No routing rule changes it: it tests this environment. */
async function testRunOf(
  environments: EnvironmentService,
  uid: string,
  creator: Viewer,
): Promise<Omit<NewRun, "source">> {
  const environment = await environments.get(creator, uid);
  return {
    prompt: "",
    title: `Test of the environment ${environment.config.name}`,
    creator,
    config: { environment_id: uid },
    teamOwned: isTeamOwned(environment),
    preparesOnly: true,
    isRouted: true,
    provenance: { config_layers: { environment_id: "request", harness: "default" } },
  };
}
