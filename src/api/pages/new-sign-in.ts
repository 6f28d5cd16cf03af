import type { FastifyRequest } from "fastify";
import { defined } from "../../core/basics/defined.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import { type AuditContext, auditContextOf } from "../../core/model/people/audit.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { type NewSignIn, SignInService } from "../../core/team/keys/sign-in-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { newToken } from "../auth/api-keys.ts";

/** Stores a sign-in and returns its token. */
type StoreSignIn = (
  stores: Pick<Storage, "people" | "signIns">,
  principal: Principal,
  how: Omit<NewSignIn, "address" | "tokenHash" | "userAgent">,
) => Promise<string>;

/** Signs in the browser of the request. The token is new each time, so that nobody can choose it beforehand. */
export function newSignIn(
  { clock, hashKey }: Pick<ApiDeps, "clock" | "hashKey">,
  { headers: { "user-agent": userAgent }, ip: address }: FastifyRequest,
): StoreSignIn {
  return async (stores, principal, how) => {
    const token = newToken();
    const origin = defined({ address, userAgent });
    const signIn = { ...how, ...origin, tokenHash: hashKey(token) };
    await new SignInService({ storage: stores, clock }).create(principal, signIn);
    return token;
  };
}

/** How audit entries name the person at the browser. */
export function visitorContext(request: FastifyRequest, principal: Principal): AuditContext {
  const { actor, ...context } = auditContextOf(principal);
  return { ...context, actor: { ...actor, address: request.ip }, requestId: request.id };
}

/** Nothing is granted with a sign-in or a key after its end was answered. */
export async function requireValid(
  { keys, signIns }: ApiDeps["storage"],
  { key, signIn }: KeyHolder,
): Promise<void> {
  if (key !== undefined) {
    await keys.requireAlive(key.id);
  }
  if (signIn !== undefined) {
    await signIns.requireOpen(signIn.id);
  }
}
