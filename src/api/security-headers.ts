import helmet from "@fastify/helmet";
import type { FastifyInstance } from "fastify";

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
  });
}
