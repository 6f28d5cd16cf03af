import { type FastifyInstance, fastify } from "fastify";
import { referencePolicy } from "../http/security-headers.ts";
import { OPENAPI_PATH } from "./openapi.ts";

const PAGE = "/docs";
const SCRIPT = "/docs/scalar.js";
/** The address of the script in the library's own page. */
const BUNDLE = `${PAGE}/js/scalar.js`;

/** The page loads only its own script and the document of this server. */
const CONFIGURATION = {
  url: OPENAPI_PATH,
  cdn: SCRIPT,
  pageTitle: "Errand API",
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: "json",
} as const;

/** Serves the OpenAPI document as a page for people. */
export async function referencePage(app: FastifyInstance): Promise<void> {
  let rendered: Promise<Rendered> | undefined;
  const schema = { hide: true };
  app.get(PAGE, { schema }, async (_request, reply) => {
    rendered ??= render();
    const { page, policy } = await rendered;
    return reply.header("content-security-policy", policy).type("text/html; charset=utf-8").send(page);
  });
  app.get(`${PAGE}/`, { schema }, async (_request, reply) => reply.redirect(PAGE));
  app.get(SCRIPT, { schema }, async (_request, reply) => {
    rendered ??= render();
    const { script } = await rendered;
    reply.header("cache-control", "public, max-age=3600");
    return reply.type("text/javascript; charset=utf-8").send(script);
  });
}

interface Rendered {
  readonly page: Buffer;
  readonly script: Buffer;
  readonly policy: string;
}

/**
 * Returns bytes, because each answer that its caller does not read would have its own copy of a text. Called at the first
 * request, because loading takes a quarter of a second and most processes never show the page.
 */
async function render(): Promise<Rendered> {
  const { default: reference } = await import("@scalar/fastify-api-reference");
  const own = fastify();
  await own.register(reference, { routePrefix: PAGE, configuration: CONFIGURATION });
  const [{ rawPayload: page }, { rawPayload: script }] = await Promise.all([
    own.inject(`${PAGE}/`),
    own.inject(BUNDLE),
  ]);
  await own.close();
  return { page, script, policy: referencePolicy(page.toString()) };
}
