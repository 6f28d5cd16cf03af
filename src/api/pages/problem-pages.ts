import type { FastifyInstance } from "fastify";
import { ERROR_CODES, type ErrorCode, endStateOf } from "../../core/errors.ts";
import { ERROR_TABLE } from "../error-table.ts";

/** What the address in a problem's `type` shows. It tells what the contract tells, so anybody may read it. */
export async function problemPages(app: FastifyInstance): Promise<void> {
  for (const code of ERROR_CODES) {
    const page = pageOf(code);
    app.get(`/problems/${code}`, { schema: { hide: true } }, async (_request, reply) =>
      reply.type("text/html; charset=utf-8").header("cache-control", "public, max-age=3600").send(page),
    );
  }
}

/** Nothing in it comes from a request. */
function pageOf(code: ErrorCode): string {
  const { remedy, status, title } = ERROR_TABLE[code];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Errand</title>
<link rel="stylesheet" href="/assets/style.css">
<main>
<h1>${title}</h1>
<p><code>${code}</code>, answered with HTTP ${status}. A run that meets it ends as ${endStateOf(code)}.</p>
<p>${remedy.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p>
<p><a href="/docs">The API</a></p>
</main>
</html>
`;
}
