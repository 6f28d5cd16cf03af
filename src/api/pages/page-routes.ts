import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import { hasScope, viewerWith } from "../../core/people/api-key.ts";
import type { Viewer } from "../../core/people/principal.ts";
import { guestOf } from "../../core/people/share-link.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { requireRunId } from "../routes/ids.ts";
import { returnPath } from "./forms.ts";
import { ASSETS_DIRECTORY, fill, readPage } from "./page-files.ts";
import { hasShareToken, takeShareToken } from "./share-token.ts";

/** A signed-in user, or the guest of a share link. */
interface Visitor {
  readonly viewer: Viewer;
  readonly mayFollowUp: boolean;
}

type Show = (visitor: Visitor, request: FastifyRequest, reply: FastifyReply) => Promise<string>;
type FindRun = (id: string, viewer: Viewer) => Promise<Run>;

const HTML = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
};

/** Serves the pages. They are static and read the public API with the visitor's cookie. */
export function pageRoutes(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const files = {
      runs: await readPage("runs"),
      run: await readPage("run"),
      notFound: await readPage("not-found"),
    };
    await app.register(staticFiles, {
      root: ASSETS_DIRECTORY,
      prefix: "/assets/",
      index: false,
      decorateReply: false,
    });
    await app.register(async (pages) => {
      pages.addHook("onRequest", async (_request, reply) => {
        reply.headers(HTML);
      });
      addOwnPages(pages, files, deps, auth);
      addSessionPage(pages, files, deps, auth);
    });
  };
}

type PageFiles = Readonly<Record<"runs" | "run" | "notFound", string>>;

function addOwnPages(
  app: FastifyInstance,
  files: PageFiles,
  { runs }: Pick<ApiDeps, "runs">,
  auth: AuthDeps,
): void {
  const page = (path: string, show: Show): void => {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const visitor = await findSignedIn(auth, request);
      return visitor === undefined ? askToSignIn(request, reply) : show(visitor, request, reply);
    });
  };
  page("/", async () => files.runs);
  page(
    "/runs/:id",
    showRun(files, async (id, viewer) => runs.get({ id: requireRunId(id) }, viewer)),
  );
}

/** The page of a session is open to guests as well. */
function addSessionPage(app: FastifyInstance, files: PageFiles, deps: ApiDeps, auth: AuthDeps): void {
  const show = showRun(files, async (id, viewer) => deps.runs.get({ sessionId: requireRunId(id) }, viewer));
  const options = { schema: { hide: true }, preHandler: takeShareToken(deps, auth.guests) };
  app.get("/sessions/:id", options, async (request, reply) => {
    const visitor = (await findGuest(auth, request)) ?? (await findSignedIn(auth, request));
    if (visitor !== undefined) {
      return show(visitor, request, reply);
    }
    if (!hasShareToken(request)) {
      return askToSignIn(request, reply);
    }
    return reply.code(404).send(files.notFound);
  });
}

async function findSignedIn(auth: AuthDeps, request: FastifyRequest): Promise<Visitor | undefined> {
  const holder = await findByCookie(auth, request);
  return holder && { viewer: viewerWith(holder), mayFollowUp: hasScope(holder, "runs:write") };
}

async function findGuest({ guests }: AuthDeps, request: FastifyRequest): Promise<Visitor | undefined> {
  const link = await guests.findByCookie(request);
  return link && { viewer: guestOf(link), mayFollowUp: link.mayFollowUp };
}

function showRun(
  { run, notFound }: { readonly run: string; readonly notFound: string },
  find: FindRun,
): Show {
  return async ({ mayFollowUp, viewer }, request, reply) => {
    try {
      const { id } = request.params as { id: string };
      const visibleRun = await find(id, viewer);
      return fill(run, { runId: visibleRun.id, mayFollowUp: String(mayFollowUp) });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") {
        throw error;
      }
      reply.code(404);
      return notFound;
    }
  };
}

function askToSignIn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = returnPath(url);
  return reply.redirect(`/signin?next=${encodeURIComponent(next)}`, 303);
}
