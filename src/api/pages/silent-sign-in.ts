import type { FastifyReply, FastifyRequest } from "fastify";
import { isProofDue } from "../../core/model/people/sign-in-holder.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { hasShareToken } from "../auth/guests.ts";
import { returnPath } from "./forms.ts";

/** How long a page is shown without a new proof after the last attempt, so that no attempt can lead to a loop. */
const PAUSE_MS = 5 * 60_000;

/**
 * Sends a browser whose proof is old through the provider, which answers without asking the person. If the provider does
 * not answer at the moment, the page is served as it is.
 */
export function askAgain(
  { clock, log, signInProviders, storage }: ApiDeps,
  auth: AuthDeps,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return async (request, reply) => {
    const { signIn } = (isNavigation(request) && (await findByCookie(auth, request))) || {};
    const now = clock.now();
    if (signIn === undefined || !isProofDue(signIn, now)) {
      return undefined;
    }
    const { method } = signIn;
    const again = signInProviders.find((provider) => provider.method === method)?.again;
    const until = new Date(now.getTime() + PAUSE_MS);
    // Of several tabs, one goes to the provider.
    if (again === undefined || !(await storage.signIns.postponeProof(signIn.id, now, until))) {
      return undefined;
    }
    if (!(await again.answers())) {
      log.warn({ method }, "sign-in.provider.unavailable");
      return undefined;
    }
    const next = encodeURIComponent(returnPath(request.url));
    return reply.redirect(`/signin/${method}?silent=1&next=${next}`, 303);
  };
}

/** Whether the browser shows the answer as a page, and a person has opened it. */
function isNavigation(request: FastifyRequest): boolean {
  const { "sec-fetch-dest": target = "document", "sec-purpose": purpose } = request.headers;
  return (
    request.method === "GET" && target === "document" && purpose === undefined && !hasShareToken(request)
  );
}
