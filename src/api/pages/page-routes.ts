import staticFiles from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import { viewerWith } from "../../core/model/people/api-key.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { guestOf } from "../../core/model/people/share-link.ts";
import type { Run } from "../../core/model/runs/run.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { type ById, hasShareToken, takeShareToken } from "../auth/guests.ts";
import { requireRunId } from "../schemas/ids.ts";
import { type AppPage, addApp, type VisitorKind } from "./app-page.ts";
import { problemOfApp, readApp } from "./built-app.ts";
import { PAGE_NAMES, returnPath } from "./forms.ts";
import { ASSETS_DIRECTORY, fill, readPage } from "./page-files.ts";
import { askAgain } from "./silent-sign-in.ts";

/** A signed-in user, or the guest of a share link. */
interface Visitor {
  readonly viewer: Viewer;
  readonly kind: VisitorKind;
}

type FindRun = (id: string, viewer: Viewer) => Promise<Run>;
type ShowRun = (
  visitor: Visitor,
  request: FastifyRequest<ById>,
  reply: FastifyReply,
) => Promise<FastifyReply>;

const HTML = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
};

const NO_RUN = {
  title: "There is no such run",
  text: "It does not exist, or it is not yours to see.",
  link: "/",
  linkText: "Recent runs",
};

/**
 * Serves the pages: one app that reads the public API with the visitor's cookie. Who may not see a page learns it here,
 * before the app is loaded.
 */
export function pageRoutes(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  return async (server) => {
    const message = await readPage("message");
    await server.register(staticFiles, {
      root: ASSETS_DIRECTORY,
      prefix: "/assets/",
      index: false,
      decorateReply: false,
    });
    const html = await readApp();
    const problem = problemOfApp(html);
    if (problem !== undefined) {
      deps.log.warn(problem, html === undefined ? "pages.not_built" : "pages.other_version");
    }
    const app = html === undefined ? appNotBuilt(message) : await addApp(server, html, deps.limits);
    await server.register(async (pages) => {
      pages.addHook("onRequest", async (_request, reply) => {
        reply.headers(HTML);
      });
      pages.addHook("preHandler", askAgain(deps, auth));
      addMembersPages(pages, app, auth);
      addRunPages(pages, app, fill(message, NO_RUN), deps, auth);
    });
  };
}

function appNotBuilt(message: string): AppPage {
  const page = fill(message, {
    title: "The pages are not built",
    text: "Run “npm ci” on the server, without --omit=dev, and start it again. The API works meanwhile.",
    link: "/docs",
    linkText: "Reference of the API",
  });
  return { send: (reply) => reply.code(503).send(page) };
}

function addMembersPages(server: FastifyInstance, app: AppPage, auth: AuthDeps): void {
  for (const name of ["", ...PAGE_NAMES]) {
    server.get(`/${name}`, { schema: { hide: true } }, async (request, reply) => {
      const visitor = await findSignedIn(auth, request);
      return visitor === undefined ? askToSignIn(request, reply) : app.send(reply, visitor.kind);
    });
  }
}

/** The page of a session is open to guests as well. */
function addRunPages(
  server: FastifyInstance,
  app: AppPage,
  notFound: string,
  deps: ApiDeps,
  auth: AuthDeps,
): void {
  const show = (find: FindRun) => showRun(app, notFound, find);
  const showById = show(async (id, viewer) => deps.runs.get({ id: requireRunId(id) }, viewer));
  server.get<ById>("/runs/:id", { schema: { hide: true } }, async (request, reply) => {
    const visitor = await findSignedIn(auth, request);
    return visitor === undefined ? askToSignIn(request, reply) : showById(visitor, request, reply);
  });
  const showBySession = show(async (id, viewer) => deps.runs.get({ sessionId: requireRunId(id) }, viewer));
  const options = { schema: { hide: true }, preHandler: takeShareToken(deps, auth.guests) };
  server.get<ById>("/sessions/:id", options, async (request, reply) => {
    const visitor = (await findGuest(auth, request)) ?? (await findSignedIn(auth, request));
    if (visitor !== undefined) {
      return showBySession(visitor, request, reply);
    }
    return hasShareToken(request) ? reply.code(404).send(notFound) : askToSignIn(request, reply);
  });
}

async function findSignedIn(auth: AuthDeps, request: FastifyRequest): Promise<Visitor | undefined> {
  const holder = await findByCookie(auth, request);
  return holder && { viewer: viewerWith(holder), kind: "member" };
}

async function findGuest({ guests }: AuthDeps, request: FastifyRequest): Promise<Visitor | undefined> {
  const link = await guests.findByCookie(request);
  return link && { viewer: guestOf(link), kind: link.mayFollowUp ? "editor" : "viewer" };
}

function showRun(app: AppPage, notFound: string, find: FindRun): ShowRun {
  return async ({ kind, viewer }, request, reply) => {
    try {
      const { id } = request.params;
      return app.send(reply, kind, (await find(id, viewer)).id);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") {
        throw error;
      }
      return reply.code(404).send(notFound);
    }
  };
}

function askToSignIn({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const next = returnPath(url);
  return reply.redirect(`/signin?next=${encodeURIComponent(next)}`, 303);
}
