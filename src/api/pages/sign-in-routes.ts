import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import { SignInService } from "../../core/team/keys/sign-in-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { callerNetwork } from "../http/rate-limit.ts";
import { refuseOtherOrigin, requireOwnOrigin } from "../http/request-site.ts";
import { continueTo, FORM_BYTES, htmlPage, isForm, readForms, returnPath, textIn } from "./forms.ts";
import { newSignIn, visitorContext } from "./new-sign-in.ts";
import { fill, html, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const REFUSED = "This key was not accepted.";

/** Signs in to the pages with an API key, and signs out. */
export function signInRoutes(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  const limiter = new SignInLimiter(deps.clock, limitsOf(deps.limits).failedSignIns);
  const schema = { hide: true };
  return async (app) => {
    const signIn = await readPage("sign-in");
    readForms(app);
    app.get("/signin", { schema }, async (request, reply) => {
      const { next } = Object(request.query);
      return htmlPage(reply).send(fill(signIn, shown(deps, returnPath(next), "")));
    });
    app.post("/signin", { schema, bodyLimit: FORM_BYTES }, async (request, reply) => {
      const next = returnPath(Object(request.body).next);
      const holder = await verify(auth, limiter, request);
      if (holder === undefined) {
        return refuse(request, reply, fill(signIn, shown(deps, next, REFUSED)));
      }
      auth.cookies.issue(reply, await createSignIn(deps, request, holder));
      return continueTo(request, reply, next);
    });
    app.post("/signout", { schema, bodyLimit: FORM_BYTES }, async (request, reply) => {
      await signOut(deps, auth, request);
      auth.cookies.clear(reply);
      return continueTo(request, reply, "/signin");
    });
  };
}

/** The ways to sign in that are configured. They are links, because the pages' forms may lead nowhere else. */
function shown({ publicUrl, signInHelp, signInProviders }: ApiDeps, next: string, message: string) {
  const links = signInProviders.map(
    ({
      icon,
      method,
      name,
    }) => html`<a class="button" href="/signin/${method}?next=${encodeURIComponent(next)}">
      <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${icon}" /></svg>Continue with ${name}</a>`,
  );
  const ways = links.length === 0 ? "" : `<div class="ways">${links.join("")}</div><p class="or">or</p>`;
  const { host } = new URL(publicUrl());
  const where = next === "/" ? host : `${host}. You come back to the page that you opened.`;
  return { next, message, help: signInHelp, ways, where };
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
  const holder = await keys.findByKey(textIn(request.body, "key")?.trim() ?? "");
  if (holder !== undefined) {
    limiter.succeeded(network);
  }
  return holder;
}

/** Stores a sign-in and returns its token. The key must still be valid when the sign-in is stored. */
async function createSignIn(deps: ApiDeps, request: FastifyRequest, holder: KeyHolder): Promise<string> {
  const { key, principal } = holder;
  const signIn = newSignIn(deps, request);
  return deps.storage.atomically(
    async (stores) => {
      if (key !== undefined) {
        await stores.keys.requireAlive(key.id);
      }
      return signIn(stores, principal, defined({ method: "api_key", keyId: key ? key.id : undefined }));
    },
    visitorContext(request, principal),
  );
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
  auth.keys.clear();
}

function refuse(request: FastifyRequest, reply: FastifyReply, form: string): FastifyReply {
  if (!isForm(request)) {
    throw new AppError("authentication_required", REFUSED);
  }
  return htmlPage(reply).code(401).send(form);
}
