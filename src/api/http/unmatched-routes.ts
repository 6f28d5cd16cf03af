import type { FastifyInstance } from "fastify";
import { AppError } from "../../core/basics/errors.ts";
import { StatusError } from "./errors.ts";
import { pathOf } from "./request-log.ts";

/** Collects the paths of all routes. Must be called before the first route is added. */
export function collectPaths(server: FastifyInstance): KnownPaths {
  const known = new KnownPaths();
  server.addHook("onRoute", ({ method, url }) => known.add(url, [method].flat()));
  return known;
}

/**
 * Refuses requests that no route matches: an unknown path with 404, and a known path with another method with 405,
 * before the body is read.
 */
export function refuseUnmatched(app: FastifyInstance, known: KnownPaths): void {
  // The hooks of the scope that sets this handler apply to unmatched requests.
  app.setNotFoundHandler(({ url }) => {
    throw nothingHere(url);
  });
  app.addHook("onRequest", ({ is404, method, routeOptions, url }, reply, done) => {
    const path = pathOf(url);
    // The router gives another method of a fixed path to a route with a parameter: GET /keys/exchange to /keys/:keyId.
    const isTakenForId = !is404 && routeOptions.url !== path && known.isFixed(path);
    if (!is404 && !isTakenForId) {
      done();
      return;
    }
    const methods = known.methodsOf(path);
    if (methods.length === 0) {
      done(nothingHere(url));
      return;
    }
    reply.header("allow", methods.join(", "));
    done(otherMethod(method, methods));
  });
}

/** Clients of another server ask for its factories. */
const FACTORIES = /^\/api\/v1\/factory(?:-files)?(?:\/|$)/;

function nothingHere(url: string): AppError {
  if (FACTORIES.test(pathOf(url))) {
    return new AppError("feature_not_available", "This server has no factories.", {
      remedy: "Start runs, or schedules that start them.",
    });
  }
  return new AppError("resource_not_found", "There is nothing at this address.");
}

function otherMethod(method: string, methods: readonly string[]): StatusError {
  return new StatusError(405, "operation_not_supported", `This address does not support ${method}.`, {
    remedy: `Use ${methods.join(" or ")}.`,
  });
}

/** The paths of all routes with their methods. */
class KnownPaths {
  readonly #routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  add(url: string, methods: readonly string[]): void {
    const route = this.#routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    this.#routes.set(url, route);
    for (const method of methods) {
      route.methods.add(method);
    }
  }

  /** Whether a route has exactly this path, without parameters. */
  isFixed(path: string): boolean {
    return !/[:*]/.test(path) && this.#routes.has(path);
  }

  /** Returns the methods of all routes that match the path. A fixed path has only its own. */
  methodsOf(path: string): readonly string[] {
    if (this.isFixed(path)) {
      return [...(this.#routes.get(path)?.methods ?? [])].sort();
    }
    const matching = [...this.#routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }
}

/** A parameter is one whole segment of the path, and `*` is the rest of it. */
function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part.startsWith(":")) {
      return "[^/]+";
    }
    return part === "*" ? ".*" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}
