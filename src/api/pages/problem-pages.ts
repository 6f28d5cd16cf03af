import type { FastifyInstance } from "fastify";
import { ERROR_CODES, endStateOf } from "../../core/basics/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";
import { fill, readPage } from "./page-files.ts";

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
