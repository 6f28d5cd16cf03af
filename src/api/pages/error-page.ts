import type { FastifyInstance } from "fastify";
import { ERROR_CODES, endStateOf } from "../../core/basics/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";
import type { Problem } from "../http/errors.ts";
import { fill, readPage } from "./page-files.ts";

/** Read at once, because an error can come before anything else. */
const PAGE = await readPage("message");

/** The page for a person whose browser met an error. It works without scripts. */
export function errorPage({ detail, remedy, status, title }: Problem): string {
  return fill(PAGE, {
    title: status === 404 ? "There is nothing at this address" : status === 429 ? "Too many requests" : title,
    text:
      status === 404
        ? "It does not exist, or it is not yours to see."
        : [detail, remedy].filter(Boolean).join(" "),
    link: "/",
    linkText: "Recent runs",
  });
}

/**
 * Serves the pages behind the `type` URLs of errors. They are public, because they show only what docs/api.md
 * contains.
 */
export async function problemPages(app: FastifyInstance): Promise<void> {
  const problem = await readPage("problem");
  for (const code of ERROR_CODES) {
    const { status, ...row } = ERROR_TABLE[code];
    const page = fill(problem, { ...row, code, status: String(status), endState: endStateOf(code) });
    app.get(`/problems/${code}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.type("text/html; charset=utf-8").header("cache-control", "public, max-age=3600").send(page),
    );
  }
}
