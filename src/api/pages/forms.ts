import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readJsonBodies } from "../http/json-body.ts";

const FORM = "application/x-www-form-urlencoded";

/** The size of a form of these pages. */
export const FORM_BYTES = 4_096;

/** Accepts forms of the pages, and the same members as JSON. */
export function readForms(app: FastifyInstance): void {
  readJsonBodies(app);
  app.addContentTypeParser(FORM, { parseAs: "string" }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body.toString())));
  });
}

export function isForm({ headers }: FastifyRequest): boolean {
  return headers["content-type"]?.startsWith(FORM) ?? false;
}

/** Returns the member of a form or query if it is a text. */
export function textIn(members: unknown, name: string): string | undefined {
  const value: unknown = Object(members)[name];
  return typeof value === "string" ? value : undefined;
}

export function htmlPage(reply: FastifyReply): FastifyReply {
  return reply.header("cache-control", "no-store").type("text/html; charset=utf-8");
}

export function continueTo(request: FastifyRequest, reply: FastifyReply, next: string): FastifyReply {
  reply.header("cache-control", "no-store");
  return isForm(request) ? reply.redirect(next, 303) : reply.send({ next });
}

const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/** The pages that only members see, besides the list of runs at `/`. The app has one route for each. */
export const PAGE_NAMES: readonly string[] = [
  "account",
  "agents",
  "audit",
  "environments",
  "environments/:id",
  "integrations",
  "mcp-servers",
  "new",
  "people",
  "rules",
  "rules/policies/:id",
  "rules/routing/:id",
  "schedules",
  "schedules/:id",
  "secrets",
  "setup",
  "setup/:adapter",
  "skills",
  "system",
  "usage",
];
const PATHS = PAGE_NAMES.map((name) => name.replace(/:\w+/, "[\\w-]{1,40}"));
/** With a query, because the pages keep their filters in it. */
const OUR_PAGES = new RegExp(
  `^/(?:(?:runs|sessions)/${UUID}|device|setup/[\\w-]{1,40}/install|${PATHS.join("|")})?(?:\\?[\\w.~%&=+:,@-]{0,500})?$`,
);

/**
 * Returns the page to show after signing in. Only the server's own pages are accepted, so that a prepared link cannot
 * lead to another site.
 */
export function returnPath(path: unknown): string {
  return typeof path === "string" && OUR_PAGES.test(path) ? path : "/";
}
