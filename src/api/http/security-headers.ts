import { createHash } from "node:crypto";
import helmet from "@fastify/helmet";
import type { FastifyInstance, FastifyReply } from "fastify";

/** Pages load only the server's own files, without inline scripts, and may not be framed. */
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
  // Computed once, because the headers are the same for each response and computing them takes longer than most
  // requests.
  let headers: Headers | undefined;
  server.addHook("onRequest", (_request, reply, done) => {
    if (headers !== undefined) {
      reply.headers(headers);
      done();
      return;
    }
    helmetHeaders(reply).then((computed) => {
      headers = computed;
      done();
    }, done);
  });
}

/** The policy of a page whose form leads to another site. */
export function formPolicy(origin: string): string {
  return policyOf({ ...DIRECTIVES, formAction: [...DIRECTIVES.formAction, origin] });
}

/**
 * Returns the policy of a page of the app. Only style elements with the nonce apply, and only own scripts run. Pictures of
 * tools are data: addresses. A picture runs no scripts, and a browser does not open such an address as a page.
 */
export function pagePolicy(nonce: string): string {
  return policyOf({
    ...DIRECTIVES,
    styleSrc: [...DIRECTIVES.styleSrc, `'nonce-${nonce}'`],
    imgSrc: [...DIRECTIVES.imgSrc, "data:"],
  });
}

function policyOf(directives: Readonly<Record<keyof typeof DIRECTIVES, readonly string[]>>): string {
  return Object.entries(directives)
    .map(
      ([name, sources]) =>
        `${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${sources.join(" ")}`,
    )
    .join(";");
}

type Headers = Parameters<FastifyReply["headers"]>[0];

async function helmetHeaders(reply: FastifyReply): Promise<Headers> {
  const before = reply.getHeaders();
  await reply.helmet();
  const after = Object.entries(reply.getHeaders());
  return Object.fromEntries(after.filter(([name]) => !Object.hasOwn(before, name)));
}

/**
 * Returns the policy of the reference page, the only exception. It sets styles by script and begins with an inline
 * script, which is allowed by its hash. It still loads and contacts only this server.
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
