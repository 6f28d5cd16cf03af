import { createHash } from "node:crypto";
import helmet from "@fastify/helmet";
import type { FastifyInstance, FastifyReply } from "fastify";

/** Everything a page loads is our own file; nothing is inline, and nobody may frame us. */
const DIRECTIVES = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

export async function addSecurityHeaders(server: FastifyInstance, publicUrl: string): Promise<void> {
  const isHttps = new URL(publicUrl).protocol === "https:";
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: DIRECTIVES },
    strictTransportSecurity: isHttps,
    referrerPolicy: { policy: "same-origin" },
    global: false,
  });
  // They are the same on every answer, and putting them together takes longer than most of what a request needs.
  let headers: Headers | undefined;
  server.addHook("onRequest", async (_request, reply) => {
    headers ??= await helmetHeaders(reply);
    reply.headers(headers);
  });
}

type Headers = Parameters<FastifyReply["headers"]>[0];

async function helmetHeaders(reply: FastifyReply): Promise<Headers> {
  const before = reply.getHeaders();
  await reply.helmet();
  const after = Object.entries(reply.getHeaders());
  return Object.fromEntries(after.filter(([name]) => !Object.hasOwn(before, name)));
}

/**
 * The one exception: the reference page writes its styles by script, and begins with a script of its own, which may
 * run because it is exactly this one. It still loads nothing from elsewhere and reaches nobody but us.
 */
export function referencePolicy(html: string): string {
  const scripts = Array.from(html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g), ([, text = ""]) => text);
  const hashes = scripts.filter((text) => text !== "").map(sourceHash);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(";");
}

function sourceHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
