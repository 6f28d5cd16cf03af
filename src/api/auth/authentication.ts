import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import { hasScope, type KeyHolder, type Scope, viewerWith } from "../../core/people/api-key.ts";
import type { Principal, Viewer } from "../../core/people/principal.ts";
import { guestOf } from "../../core/people/share-link.ts";
import type { Unsubscribe } from "../../core/ports/pubsub.ts";
import { callerNetwork } from "../http/caller-network.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import type { ApiKeyCache } from "./api-key-cache.ts";
import type { Guests } from "./guests.ts";
import type { SessionCookies } from "./session-cookie.ts";

export interface Caller {
  /** By what requests and streams are counted. */
  readonly id: string;
  /** What the caller may see. */
  readonly viewer: Viewer;
  /** Absent: the guest of a share link, who has no key. */
  readonly holder?: KeyHolder;
  /** Asked again during a long answer: a key that was revoked meanwhile ends it. */
  isStillKnown(): Promise<boolean>;
  /** Calls `listener` when that may have become false. */
  onDoubt(listener: () => void): Unsubscribe;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    /** What a key must be allowed for this route; `any`: that it opens. Every route names one, or is `public`. */
    readonly scope?: Scope | "any";
    readonly public?: boolean;
    /** Whether the pages' cookie opens this route. Only for safe methods, so that no other site can use it. */
    readonly acceptsCookie?: boolean;
    /** Whether the guests of a share link may read this. Only where nothing is told but of the one run they see. */
    readonly acceptsGuest?: boolean;
    /** A key may be dead after this: the next request of this process must know of it. */
    readonly endsKeys?: boolean;
  }
}

export interface AuthDeps {
  readonly keys: ApiKeyCache;
  readonly cookies: SessionCookies;
  readonly guests: Guests;
}

/** Before anything of a request is read: who calls, and whether they may call this at all. */
export function addAuthentication(app: FastifyInstance, deps: AuthDeps, limit: RateLimit): void {
  app.addHook("onRoute", ({ config, url }) => {
    if (config?.scope === undefined && config?.public !== true)
      throw new Error(`The route ${url} names no scope and is not public.`);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { config } = request.routeOptions;
    const caller = config.public === true ? undefined : await findCaller(deps, request);
    request.caller = caller && { ...caller, ...watched(deps, request, caller) };
    await limit(request, reply);
    if (config.public === true) return;
    if (caller === undefined) throw unauthenticated();
    if (caller.holder !== undefined) requireScope(caller.holder, config.scope);
  });
  // News of it takes some milliseconds, in which the answer may already be there.
  app.addHook("onSend", async ({ routeOptions: { config } }) => {
    if (config.endsKeys === true) deps.keys.forget();
  });
}

export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) throw unauthenticated();
  return caller;
}

export function holderOf(request: FastifyRequest): KeyHolder {
  const { holder } = callerOf(request);
  if (holder === undefined) throw unauthenticated();
  return holder;
}

export function principalOf(request: FastifyRequest): Principal {
  return holderOf(request).principal;
}

/** What the caller may see. A key that may not administer sees no more than a member does. */
export function viewerOf(request: FastifyRequest): Viewer {
  return callerOf(request).viewer;
}

export async function findByCookie(
  { cookies, keys }: Pick<AuthDeps, "cookies" | "keys">,
  request: FastifyRequest,
): Promise<KeyHolder | undefined> {
  const keyHash = cookies.read(request);
  return keyHash === undefined ? undefined : keys.find(keyHash);
}

type Watched = Pick<Caller, "isStillKnown" | "onDoubt">;
type Found = Omit<Caller, keyof Watched>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/** A key that is given counts alone. Else the cookie of a share link, which opens less, comes before that of the pages. */
async function findCaller(deps: AuthDeps, request: FastifyRequest): Promise<Found | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? undefined : withKey(await deps.keys.findByKey(key));
  }
  if (request.method !== "GET") return undefined;
  const { acceptsCookie, acceptsGuest } = request.routeOptions.config;
  const guest = acceptsGuest === true ? await findGuest(deps, request) : undefined;
  if (guest !== undefined || acceptsCookie !== true) return guest;
  return withKey(await findByCookie(deps, request));
}

function withKey(holder: KeyHolder | undefined): Found | undefined {
  return holder && { id: holder.key.id, viewer: viewerWith(holder), holder };
}

/** Counted apart at each address: one guest of a link must not use up what the others may ask. */
async function findGuest({ guests }: AuthDeps, request: FastifyRequest): Promise<Found | undefined> {
  const link = await guests.findByCookie(request);
  return link && { id: `${link.id} ${callerNetwork(request.ip)}`, viewer: guestOf(link) };
}

function watched(deps: AuthDeps, request: FastifyRequest, caller: Found): Watched {
  return {
    isStillKnown: () => isStillKnown(deps, request, caller),
    onDoubt: (listener) => deps.keys.onChange(listener),
  };
}

/** Somebody who may see less by now is to come again: what they were promised at the beginning is over. */
async function isStillKnown(deps: AuthDeps, request: FastifyRequest, { viewer }: Found): Promise<boolean> {
  const now = (await findCaller(deps, request))?.viewer;
  return now?.id === viewer.id && now.administrator === viewer.administrator;
}

function requireScope(holder: KeyHolder, scope: Scope | "any" = "any"): void {
  if (scope === "any" || hasScope(holder, scope)) return;
  throw new AppError("not_authorized", `This needs a key with the scope ${scope}.`, {
    remedy: "Use a key that has it, or ask an administrator of your team for one.",
  });
}

function unauthenticated(): AppError {
  return new AppError("authentication_required", "A valid API key is needed.", {
    remedy: "Send the header Authorization: Bearer <key>.",
  });
}
