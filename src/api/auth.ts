import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../core/errors.ts";
import { hasScope, type KeyHolder, type Scope } from "../core/people/api-key.ts";
import type { Principal, Viewer } from "../core/people/principal.ts";
import type { KnownKeys } from "./known-keys.ts";
import type { SessionCookies } from "./session-cookie.ts";

export interface Caller {
  readonly holder: KeyHolder;
  /** Asked again during a long answer: a key that was revoked meanwhile ends it. */
  isStillKnown(): Promise<boolean>;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    /** What a key must be allowed for this route. Every route of the API names one, or is `public`. */
    readonly scope?: Scope;
    readonly public?: boolean;
    /** Whether the pages' cookie opens this route. Only for safe methods, so that no other site can use it. */
    readonly acceptsCookie?: boolean;
  }
}

export interface AuthParts {
  readonly keys: KnownKeys;
  readonly cookies: SessionCookies;
  readonly hashKey: (key: string) => string;
}

/** Before anything of a request is read: who calls, and whether they may call this at all. */
export function addAuthentication(app: FastifyInstance, parts: AuthParts): void {
  app.addHook("onRoute", ({ config, url }) => {
    if (config?.scope === undefined && config?.public !== true)
      throw new Error(`The route ${url} names no scope and is not public.`);
  });
  app.addHook("onRequest", async (request) => {
    const { config } = request.routeOptions;
    if (config.public === true) return;
    const find = (): Promise<KeyHolder | undefined> => findHolder(parts, request);
    const holder = await find();
    if (holder === undefined) throw unauthenticated();
    if (config.scope !== undefined) requireScope(holder, config.scope);
    request.caller = { holder, isStillKnown: async () => (await find()) !== undefined };
  });
}

export function holderOf({ caller }: FastifyRequest): KeyHolder {
  if (caller === undefined) throw unauthenticated();
  return caller.holder;
}

export function principalOf(request: FastifyRequest): Principal {
  return holderOf(request).principal;
}

/** What the caller may see. A key that may not administer sees no more than a member does. */
export function viewerOf(request: FastifyRequest): Viewer {
  const holder = holderOf(request);
  return { ...holder.principal, administrator: hasScope(holder, "admin") };
}

export async function findByCookie(
  { cookies, keys }: Pick<AuthParts, "cookies" | "keys">,
  { headers }: FastifyRequest,
): Promise<KeyHolder | undefined> {
  const keyHash = cookies.read(headers.cookie);
  return keyHash === undefined ? undefined : keys.find(keyHash);
}

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

async function findHolder(parts: AuthParts, request: FastifyRequest): Promise<KeyHolder | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? undefined : parts.keys.find(parts.hashKey(key));
  }
  const { config } = request.routeOptions;
  if (request.method !== "GET" || config.acceptsCookie !== true) return undefined;
  return findByCookie(parts, request);
}

function requireScope(holder: KeyHolder, scope: Scope): void {
  if (hasScope(holder, scope)) return;
  throw new AppError("not_authorized", `This needs a key with the scope ${scope}.`, {
    remedy: "Use a key that has it, or ask an administrator of your team for one.",
  });
}

function unauthenticated(): AppError {
  return new AppError("authentication_required", "A valid API key is needed.", {
    remedy: "Send the header Authorization: Bearer <key>.",
  });
}
