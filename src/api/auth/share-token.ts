import type { FastifyReply, FastifyRequest } from "fastify";
import type { Storage } from "../../core/ports/stores/storage.ts";
import type { Guests } from "./guests.ts";

/** Returns the address of a shared session. Everyone who has it can see the run. */
export function shareUrl(publicUrl: string, sessionId: string, token: string): string {
  return `${publicUrl}/sessions/${sessionId}?share=${token}`;
}

export function hasShareToken(request: FastifyRequest): boolean {
  return tokenIn(request) !== undefined;
}

/**
 * Exchanges the token in the address of a session for a cookie and redirects. The token is then not in an address
 * that is bookmarked, shown on a screen or passed on.
 */
export function takeShareToken(
  { storage }: { readonly storage: Storage },
  guests: Guests,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    const token = tokenIn(request);
    const opened = token === undefined ? undefined : await guests.findByToken(token);
    const run = opened && (await storage.runs.find({ id: opened.link.runId }));
    const { id } = request.params as { id: string };
    if (opened === undefined || run?.sessionId !== id.toLowerCase()) {
      return undefined;
    }
    guests.issueCookies(reply, opened, run);
    return reply.redirect(`/sessions/${run.sessionId}`, 303);
  };
}

function tokenIn({ query }: FastifyRequest): string | undefined {
  const { share } = Object(query);
  return typeof share === "string" ? share : undefined;
}
