import type { FastifyRequest } from "fastify";
import { AppError } from "../../core/basics/errors.ts";

type Headers = Pick<FastifyRequest, "headers">;

/**
 * Refuses a write that a browser authenticates by a cookie, unless a page of this server made it. The browser says so
 * itself, and scripts cannot change these headers. Browsers from before 2020 do not send `Sec-Fetch-Site`.
 */
export function requireOwnOrigin({ headers }: Headers, publicUrl: string): void {
  if (headers.origin !== new URL(publicUrl).origin || !isOwnSite(headers["sec-fetch-site"])) {
    throw fromOtherPage(publicUrl);
  }
}

/** As `requireOwnOrigin`, but accepts a caller that is no browser: a request that needs no cookie can come from one. */
export function refuseOtherOrigin(request: Headers, publicUrl: string): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (origin !== undefined || !isOwnSite(site)) {
    requireOwnOrigin(request, publicUrl);
  }
}

function isOwnSite(site: unknown): boolean {
  return site === undefined || site === "same-origin";
}

function fromOtherPage(publicUrl: string): AppError {
  return new AppError("not_authorized", "This is possible only from the server's own pages.", {
    remedy: `Open the pages at ${new URL(publicUrl).origin}, which is the server's public address.`,
  });
}
