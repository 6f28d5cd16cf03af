import type { FastifyRequest } from "fastify";
import { AppError } from "../core/errors.ts";
import type { Principal } from "../core/people/principal.ts";
import type { ApiParts } from "./api-parts.ts";
import type { SessionCookies } from "./session-cookie.ts";

export interface Caller {
  readonly principal: Principal;
  /** Asked again during a long answer: a key that was revoked meanwhile ends it. */
  isStillKnown(): Promise<boolean>;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    /** Whether the pages' cookie opens this route. Only for safe methods, so that no other site can use it. */
    readonly acceptsCookie?: boolean;
  }
}

type AuthParts = Pick<ApiParts, "people" | "hashKey">;

/** Before anything of a request is read: who calls. */
export function authenticator(
  parts: AuthParts,
  cookies: SessionCookies,
): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const find = (): Promise<Principal | undefined> => findPrincipal(parts, cookies, request);
    const principal = await find();
    if (principal === undefined) throw unauthenticated();
    request.caller = { principal, isStillKnown: async () => (await find()) !== undefined };
  };
}

export function principalOf({ caller }: FastifyRequest): Principal {
  if (caller === undefined) throw unauthenticated();
  return caller.principal;
}

export async function findByCookie(
  { people }: Pick<AuthParts, "people">,
  cookies: SessionCookies,
  { headers }: FastifyRequest,
): Promise<Principal | undefined> {
  const keyHash = cookies.read(headers.cookie);
  return keyHash === undefined ? undefined : people.findByKeyHash(keyHash);
}

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

async function findPrincipal(
  parts: AuthParts,
  cookies: SessionCookies,
  request: FastifyRequest,
): Promise<Principal | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? undefined : parts.people.findByKeyHash(parts.hashKey(key));
  }
  const { config } = request.routeOptions;
  if (request.method !== "GET" || config.acceptsCookie !== true) return undefined;
  return findByCookie(parts, cookies, request);
}

function unauthenticated(): AppError {
  return new AppError("authentication_required", "A valid API key is needed.", {
    remedy: "Send the header Authorization: Bearer <key>.",
  });
}
