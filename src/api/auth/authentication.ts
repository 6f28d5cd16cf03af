import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import { hasScope, type KeyHolder, type Scope, viewerWith } from "../../core/model/people/api-key.ts";
import { isOperator, type Principal, type Viewer } from "../../core/model/people/principal.ts";
import { guestOf } from "../../core/model/people/share-link.ts";
import type { SignInMethod } from "../../core/model/people/sign-in.ts";
import type { Unsubscribe } from "../../core/ports/pubsub.ts";
import { callerNetwork, type RateLimit } from "../http/rate-limit.ts";
import { requireOwnOrigin } from "../http/request-site.ts";
import type { SessionCookies } from "./cookies.ts";
import type { ApiKeyCache, SignInCache } from "./credential-caches.ts";
import type { Guests } from "./guests.ts";

export interface Caller {
  /** The unit by which requests and streams are counted. */
  readonly id: string;
  /** Determines what the caller can see. */
  readonly viewer: Viewer;
  /** Absent for the guest of a share link, who has no key. */
  readonly holder?: KeyHolder;
  /** Checked again during a long response, which ends when the key was revoked. */
  isStillAuthenticated(): Promise<boolean>;
  /** Calls `listener` when `isStillAuthenticated` may have become false. */
  onAccessChange(listener: () => void): Unsubscribe;
}

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    /** The scope that the route requires; `any`: every valid key. Each route has a scope or is `public`. */
    readonly scope?: Scope | "any";
    readonly public?: boolean;
    /**
     * Which guests of a share link may use this. Allowed only for routes that reveal and change nothing except the
     * guest's run. `editor`: only guests who may send follow-ups.
     */
    readonly acceptsGuest?: "any" | "editor";
    /**
     * Whether the route may revoke a key or end a sign-in. The next request of this process must then read them again.
     */
    readonly endsKeys?: boolean;
  }
}

export interface AuthDeps {
  readonly keys: ApiKeyCache;
  readonly signIns: SignInCache;
  readonly cookies: SessionCookies;
  readonly guests: Guests;
  readonly publicUrl: () => string;
}

/** Authenticates and authorises each request before anything else of it is read. */
export function addAuthentication(app: FastifyInstance, deps: AuthDeps, limit: RateLimit): void {
  app.addHook("onRoute", ({ config, url }) => {
    if (config?.scope === undefined && config?.public !== true) {
      throw new Error(`The route ${url} names no scope and is not public.`);
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    const { config } = request.routeOptions;
    const caller = config.public === true ? undefined : await findCaller(deps, request);
    request.caller = caller && { ...caller, ...callerChecks(deps, request, caller) };
    limit(request, reply);
    if (config.public === true) {
      return;
    }
    if (caller === undefined) {
      throw unauthenticated();
    }
    requireTeam(request, caller.viewer);
    if (caller.holder !== undefined) {
      requireScope(caller.holder, config.scope);
    }
  });
  // The notification takes some milliseconds, and the response may be sent before.
  app.addHook("onSend", ({ routeOptions: { config } }, _reply, payload, done) => {
    if (config.endsKeys === true) {
      deps.keys.clear();
    }
    done(null, payload);
  });
}

/** The public client can name a team. A key belongs to one, so any other would act in the wrong team. */
function requireTeam({ headers }: FastifyRequest, { teamId }: Viewer): void {
  const named = headers["x-warp-team-uid"];
  if (named !== undefined && named !== teamId) {
    throw new AppError("resource_not_found", "There is no such team.", {
      remedy: "Leave out the header X-Warp-Team-Uid, or use a key of that team.",
    });
  }
}

export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === undefined) {
    throw unauthenticated();
  }
  return caller;
}

export function holderOf(request: FastifyRequest): KeyHolder {
  const { holder } = callerOf(request);
  if (holder === undefined) {
    throw unauthenticated();
  }
  return holder;
}

export function principalOf(request: FastifyRequest): Principal {
  return holderOf(request).principal;
}

/** Returns what the caller can see. A key without the scope `admin` sees no more than a member. */
export function viewerOf(request: FastifyRequest): Viewer {
  return callerOf(request).viewer;
}

/** How the caller signed in to the pages. Undefined: the caller uses a key. */
export function signInMethodOf(request: FastifyRequest): SignInMethod | undefined {
  return callerOf(request).holder?.signIn?.method;
}

export function requireOperator(request: FastifyRequest): void {
  if (!isOperator(viewerOf(request))) {
    throw new AppError("not_authorized", "Only operators of the server may do this.");
  }
}

/** Returns who is signed in to the pages with this browser. */
export async function findByCookie(
  { cookies, signIns }: Pick<AuthDeps, "cookies" | "signIns">,
  request: FastifyRequest,
): Promise<KeyHolder | undefined> {
  const token = cookies.read(request);
  return token === undefined ? undefined : signIns.findByToken(token);
}

type CallerChecks = Pick<Caller, "isStillAuthenticated" | "onAccessChange">;
type Identity = Omit<Caller, keyof CallerChecks>;

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** A key in the header is used exclusively. A write by cookie must come from a page of this server. */
async function findCaller(deps: AuthDeps, request: FastifyRequest): Promise<Identity | undefined> {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    const key = BEARER.exec(authorization)?.[1];
    return key === undefined ? undefined : withKey(await deps.keys.findByKey(key));
  }
  const caller = await findCookieCaller(deps, request);
  if (caller !== undefined && !SAFE_METHODS.has(request.method)) {
    requireOwnOrigin(request, deps.publicUrl());
  }
  return caller;
}

/** The cookie of a share link takes precedence over the pages' cookie, because it allows less. */
async function findCookieCaller(deps: AuthDeps, request: FastifyRequest): Promise<Identity | undefined> {
  const { acceptsGuest } = request.routeOptions.config;
  const guest = acceptsGuest === undefined ? undefined : await findGuest(deps, request);
  if (guest !== undefined && (acceptsGuest === "any" || guest.viewer.invitation?.mayFollowUp === true)) {
    return guest;
  }
  return withKey(await findByCookie(deps, request));
}

function withKey(holder: KeyHolder | undefined): Identity | undefined {
  return holder && { id: holder.principal.id, viewer: viewerWith(holder), holder };
}

/**
 * Guests are counted by address, so that one guest of a link cannot use up the limit of the others. All links of one
 * creator count together, because a member can create many.
 */
async function findGuest({ guests }: AuthDeps, request: FastifyRequest): Promise<Identity | undefined> {
  const link = await guests.findByCookie(request);
  return link && { id: `${link.creatorId} ${callerNetwork(request.ip)}`, viewer: guestOf(link) };
}

function callerChecks(deps: AuthDeps, request: FastifyRequest, caller: Identity): CallerChecks {
  return {
    isStillAuthenticated: () => isStillAuthenticated(deps, request, caller),
    onAccessChange: (listener) => deps.keys.onChange(listener),
  };
}

/**
 * Returns false also if the caller sees less than at the beginning of the response: the client must then connect
 * again.
 */
async function isStillAuthenticated(
  deps: AuthDeps,
  request: FastifyRequest,
  { viewer }: Identity,
): Promise<boolean> {
  const now = (await findCaller(deps, request))?.viewer;
  return now?.id === viewer.id && now.administrator === viewer.administrator;
}

function requireScope(holder: KeyHolder, scope: Scope | "any" = "any"): void {
  if (scope === "any" || hasScope(holder, scope)) {
    return;
  }
  throw new AppError("not_authorized", `This requires a key with the scope ${scope}.`, {
    remedy: "Use a key with this scope, or ask an administrator of your team for one.",
  });
}

function unauthenticated(): AppError {
  return new AppError("authentication_required", "A valid API key is required.", {
    remedy: "Send the header Authorization: Bearer <key>.",
  });
}
