import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import type { Viewer } from "../../core/people/principal.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiParts } from "../api-parts.ts";
import { type AuthParts, findByCookie } from "../auth.ts";
import { pathOf } from "../request-id.ts";
import { requireRunId } from "../routes/run-ids.ts";
import { ASSETS_DIRECTORY, fill, readPageFiles } from "./page-files.ts";
import { returnPath } from "./return-path.ts";

type Show = (viewer: Viewer, request: FastifyRequest, reply: FastifyReply) => Promise<string>;
type FindRun = (id: string, viewer: Viewer) => Promise<Run>;

/** The pages: still shells, which read the public API with the visitor's cookie. */
export function pageRoutes(parts: ApiParts, auth: AuthParts): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const files = await readPageFiles();
    await app.register(staticFiles, {
      root: ASSETS_DIRECTORY,
      prefix: "/assets/",
      index: false,
      decorateReply: false,
    });
    const page = (path: string, show: Show): void => {
      app.get(path, { schema: { hide: true } }, async (request, reply) => {
        reply.header("cache-control", "no-store").type("text/html; charset=utf-8");
        const holder = await findByCookie(auth, request);
        return holder === undefined ? askToSignIn(request, reply) : show(holder.principal, request, reply);
      });
    };
    const runPage = (find: FindRun): Show => showRun(files, find);
    page("/", async () => files.runs);
    page(
      "/runs/:id",
      runPage(async (id, viewer) => parts.runs.get({ id: requireRunId(id) }, viewer)),
    );
    page(
      "/sessions/:id",
      runPage(async (id, viewer) => parts.runs.get({ sessionId: requireRunId(id) }, viewer)),
    );
  };
}

function showRun(
  { run, notFound }: { readonly run: string; readonly notFound: string },
  find: FindRun,
): Show {
  return async (viewer, request, reply) => {
    try {
      const { id } = request.params as { id: string };
      const found = await find(id, viewer);
      return fill(run, { runId: found.id });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") throw error;
      reply.code(404);
      return notFound;
    }
  };
}

function askToSignIn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = returnPath(pathOf(url));
  return reply.redirect(`/signin?next=${encodeURIComponent(next)}`, 303);
}
