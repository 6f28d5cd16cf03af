import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import type { KeyHolder } from "../../core/people/api-key.ts";
import { SignInService } from "../../core/people/sign-in-service.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { callerNetwork } from "../http/caller-network.ts";
import { readJsonBodies } from "../http/json-body.ts";
import { refuseOtherOrigin, requireOwnOrigin } from "../http/request-site.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const FORM = "application/x-www-form-urlencoded";
const BODY_BYTES = 4_096;
const REFUSED = "This key was not accepted.";

/** Signs in to the pages with an API key, and signs out. */
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
      const holder = await verify(auth, limiter, request);
      if (holder === undefined) {
        return refuse(request, reply, fill(signIn, { next, message: REFUSED }));
      }
      auth.cookies.issue(reply, await createSignIn(deps, request, holder));
      return continueTo(request, reply, next);
    });
    app.post("/signout", { schema, bodyLimit: BODY_BYTES }, async (request, reply) => {
      await signOut(deps, auth, request);
      auth.cookies.clear(reply);
      return continueTo(request, reply, "/signin");
    });
  };
}

/** Returns the holder of the key in the form if the key is valid. */
async function verify(
  { keys, publicUrl }: AuthDeps,
  limiter: SignInLimiter,
  request: FastifyRequest,
): Promise<KeyHolder | undefined> {
  refuseOtherOrigin(request, publicUrl());
  const network = callerNetwork(request.ip);
  limiter.begun(network);
  const { key: input } = Object(request.body);
  const holder = await keys.findByKey(typeof input === "string" ? input.trim() : "");
  if (holder !== undefined) {
    limiter.succeeded(network);
  }
  return holder;
}

/** Stores a sign-in and returns its token. The key must still be valid when the sign-in is stored. */
async function createSignIn(
  { clock, hashKey, storage }: Pick<ApiDeps, "clock" | "hashKey" | "storage">,
  { headers: { "user-agent": userAgent }, ip: address }: FastifyRequest,
  { key, principal }: KeyHolder,
): Promise<string> {
  const token = newToken();
  const origin = { method: "api_key", address, ...(userAgent === undefined ? {} : { userAgent }) } as const;
  await storage.atomically(async (stores) => {
    if (key !== undefined) {
      await stores.keys.requireAlive(key.id);
    }
    const newSignIn = { ...origin, ...(key && { keyId: key.id }), tokenHash: hashKey(token) };
    await new SignInService({ storage: stores, clock }).create(principal, newSignIn);
  });
  return token;
}

/** Another site must not sign a visitor out, not even another server of the same domain. */
async function signOut(
  { clock, storage }: Pick<ApiDeps, "clock" | "storage">,
  auth: AuthDeps,
  request: FastifyRequest,
): Promise<void> {
  refuseOtherOrigin(request, auth.publicUrl());
  const { principal, signIn } = (await findByCookie(auth, request)) ?? {};
  if (principal === undefined || signIn === undefined) {
    return;
  }
  requireOwnOrigin(request, auth.publicUrl());
  await new SignInService({ storage, clock }).end(principal, signIn.id);
  auth.keys.forget();
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
