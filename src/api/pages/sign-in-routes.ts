import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import type { AuthDeps } from "../auth/authentication.ts";
import { callerNetwork } from "../http/caller-network.ts";
import { readJsonBodies } from "../http/json-body.ts";
import { isFromOtherSite } from "../http/request-site.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const FORM = "application/x-www-form-urlencoded";
const BODY_BYTES = 4_096;
const REFUSED = "This key was not accepted.";

/** Signs in to the pages with an API key, which is not stored itself, and signs out. */
export function signInRoutes(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  const limiter = new SignInLimiter(deps.clock, limitsOf(deps).failedSignIns);
  const schema = { hide: true };
  return async (app) => {
    const signIn = await readPage("sign-in");
    readBodies(app);
    app.get("/signin", { schema }, async (request, reply) => {
      const { next } = Object(request.query);
      return page(reply).send(fill(signIn, { next: returnPath(next), message: "" }));
    });
    app.post("/signin", { schema, bodyLimit: BODY_BYTES }, async (request, reply) => {
      const next = returnPath(Object(request.body).next);
      const keyHash = await verify({ ...auth, ...deps }, limiter, request);
      if (keyHash === undefined) {
        return refuse(request, reply, fill(signIn, { next, message: REFUSED }));
      }
      auth.cookies.issue(reply, keyHash);
      return continueTo(request, reply, next);
    });
    app.post("/signout", { schema, bodyLimit: BODY_BYTES }, async (request, reply) => {
      requireOwnPage(request);
      auth.cookies.clear(reply);
      return continueTo(request, reply, "/signin");
    });
  };
}

/** Returns the stored form of the key if the key is valid. */
async function verify(
  { hashKey, keys }: Pick<ApiDeps, "hashKey"> & Pick<AuthDeps, "keys">,
  limiter: SignInLimiter,
  request: FastifyRequest,
): Promise<string | undefined> {
  requireOwnPage(request);
  const network = callerNetwork(request.ip);
  limiter.begun(network);
  const { key: input } = Object(request.body);
  const key = typeof input === "string" ? input.trim() : "";
  if ((await keys.findByKey(key)) === undefined) {
    return undefined;
  }
  limiter.succeeded(network);
  return hashKey(key);
}

function continueTo(request: FastifyRequest, reply: FastifyReply, next: string): FastifyReply {
  reply.header("cache-control", "no-store");
  return isForm(request) ? reply.redirect(next, 303) : reply.send({ next });
}

function refuse(request: FastifyRequest, reply: FastifyReply, form: string): FastifyReply {
  if (!isForm(request)) {
    throw new AppError("authentication_required", REFUSED);
  }
  return page(reply).code(401).send(form);
}

/** Another site must not sign a visitor in or out, not even another server of the same domain. */
function requireOwnPage(request: FastifyRequest): void {
  if (!isFromOtherSite(request)) {
    return;
  }
  throw new AppError("not_authorized", "Signing in and out is possible only from the server's own pages.");
}

function page(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "no-store").type("text/html; charset=utf-8");
}

function isForm({ headers }: FastifyRequest): boolean {
  return headers["content-type"]?.startsWith(FORM) ?? false;
}

function readBodies(app: FastifyInstance): void {
  readJsonBodies(app);
  app.addContentTypeParser(FORM, { parseAs: "string" }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  });
}

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const OUR_PAGES = new RegExp(`^/(?:(?:runs|sessions)/${UUID})?$`);

/**
 * Returns the page to show after signing in. Only the server's own pages are accepted, so that a prepared link cannot
 * lead to another site.
 */
export function returnPath(path: unknown): string {
  return typeof path === "string" && OUR_PAGES.test(path) ? path : "/";
}
