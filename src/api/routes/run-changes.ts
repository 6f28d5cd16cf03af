import { Readable } from "node:stream";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import { isSameRepository } from "../../core/model/repositories/repository-name.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { attachmentHeader, SignedLinks, SignedQuery } from "../auth/signed-links.ts";
import { RunParams, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { RunChanges, repositoryChangesItemOf } from "../schemas/run-changes.ts";

type RunChangesDeps = Pick<ApiDeps, "blobs" | "clock" | "publicUrl" | "runs" | "sessionSecret" | "storage">;

const GET = {
  operationId: "getRunChanges",
  summary: "Get what a run has changed in its repositories",
  description:
    "The changes of all turns since the repositories were cloned, as they were at the end of a turn after which no " +
    "follow-up was waiting.",
  tags: ["runs"],
  params: RunParams,
  response: { 200: RunChanges, ...problems(401, 404, 503) },
};
const DIFF = {
  operationId: "downloadRunChanges",
  summary: "Download the diff at a signed address",
  tags: ["runs"],
  params: z.object({
    owner: z.string().describe("The owner of the repository."),
    name: z.string().describe("The name of the repository."),
  }),
  querystring: SignedQuery,
  response: {
    200: { description: "The diff.", content: { "text/x-diff": { schema: z.string() } } },
    ...problems(400, 403, 404, 503),
  },
};

const DIFF_PATH = "/agent/change-files";

export function runChangesRoutes(deps: RunChangesDeps): FastifyPluginAsyncZod {
  const { blobs, publicUrl, runs, storage } = deps;
  const links = new SignedLinks(deps, "changes");
  const config = { scope: "runs:read", acceptsGuest: "any", givesLink: true } as const;
  return async (app) => {
    app.get("/agent/runs/:runId/changes", { schema: GET, config }, async (request) => {
      const run = await runs.get({ id: requireRunId(request.params.runId) }, viewerOf(request));
      const { id: runId, teamId } = run;
      const changes = await storage.files.changesOf(runId);
      const urlOf = (repository: string) =>
        `${publicUrl()}${links.sign(`${app.prefix}${DIFF_PATH}/${repository}`, { runId, teamId, id: repository })}`;
      return {
        turn: changes[0]?.turn ?? lastEndedTurn(run),
        repositories: changes.map((each) =>
          repositoryChangesItemOf(each, urlOf(`${each.owner}/${each.name}`)),
        ),
      };
    });
    const file = { schema: DIFF, config: { public: true }, exposeHeadRoute: false } as const;
    app.get(`${DIFF_PATH}/:owner/:name`, file, async (request, reply) => {
      const { name, owner } = request.params;
      const viewer = links.open(request.query, `${owner}/${name}`);
      const { id } = await runs.get({ id: viewer.onlyRunId }, viewer);
      const found = (await storage.files.changesOf(id)).find((each) =>
        isSameRepository(each, { owner, name }),
      );
      if (found === undefined) {
        throw new AppError("resource_not_found", "The run no longer has changes in this repository.");
      }
      // Browsers must save what an agent made, and not show it as a page of this server.
      await reply
        .type("text/x-diff")
        .header("content-disposition", attachmentHeader(`${name}.diff`))
        .header("content-security-policy", "sandbox; default-src 'none'")
        .header("content-length", found.sizeBytes)
        .send(Readable.from(blobs.read(found.blobId)) as never);
      return reply;
    });
  };
}

export function lastEndedTurn({ turn, turnOpen }: Pick<Run, "turn" | "turnOpen">): number {
  return turnOpen ? turn - 1 : turn;
}
