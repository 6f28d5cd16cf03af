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
  app.setNotFoundHandler(() => {
    throw nothingHere();
  });
  app.addHook("onRequest", ({ is404, method, url }, reply, done) => {
    if (!is404) {
      done();
      return;
    }
    const methods = known.methodsOf(pathOf(url));
    if (methods.length === 0) {
      done(nothingHere());
      return;
    }
    reply.header("allow", methods.join(", "));
    done(otherMethod(method, methods));
  });
}

function nothingHere(): AppError {
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

  /** Returns the methods of all routes that match the path. */
  methodsOf(path: string): readonly string[] {
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
