import type { FastifyInstance } from "fastify";
import { createServer } from "../src/api/server.ts";
import { apiDeps, type Bootstrap, compose } from "../src/app/compose.ts";
import { createLogger } from "../src/app/logger.ts";
import { readConfig } from "../src/config/config.ts";
import { createKnownSecrets } from "../src/secrets/redaction.ts";
import { ServerProof } from "../src/secrets/server-proof.ts";

const NOWHERE = "postgresql://nobody@127.0.0.1:1/none";

/** The OpenAPI document of the whole server as text. */
export function openapiDocument(): Promise<string> {
  return withUnstartedServer({}, async (server) => `${JSON.stringify(server.swagger(), null, 2)}\n`);
}

/** Builds the whole server for an environment, without a database. Nothing is started. */
export async function withUnstartedServer<T>(
  environment: Record<string, string>,
  work: (server: FastifyInstance) => Promise<T>,
): Promise<T> {
  const bootstrap: Bootstrap = {
    config: readConfig(environment),
    databaseUrl: NOWHERE,
    secretKey: "of no use",
    knownSecrets: createKnownSecrets([]),
    logger: createLogger("silent", (text) => text),
    tls: undefined,
    serverProof: new ServerProof(),
    publicUrl: () => "http://127.0.0.1",
  };
  const parts = await compose(bootstrap);
  const server = await createServer(apiDeps(bootstrap, parts));
  try {
    return await work(server);
  } finally {
    await server.close();
    await Promise.all([parts.database.close(), parts.blobDatabase.close()]);
  }
}
