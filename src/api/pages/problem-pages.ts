import type { FastifyInstance } from "fastify";
import { ERROR_CODES, endStateOf } from "../../core/errors.ts";
import { ERROR_TABLE } from "../http/error-table.ts";
import { fill, readPage } from "./page-files.ts";

/** What the address in a problem's `type` shows. It tells what the contract tells, so anybody may read it. */
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
