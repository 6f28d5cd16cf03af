import { createServer } from "../src/api/server.ts";
import { apiParts, compose, type Grounds } from "../src/compose.ts";
import { readConfig } from "../src/config.ts";
import { createLogger } from "../src/log.ts";

const NOWHERE = "postgresql://nobody@127.0.0.1:1/none";

/** The OpenAPI document of the whole server as text. The server is put together for it, but nothing is started. */
export async function openapiDocument(): Promise<string> {
  const grounds: Grounds = {
    config: readConfig({}),
    databaseUrl: NOWHERE,
    secretKey: "of no use",
    redact: (text) => text,
    logger: createLogger("silent", (text) => text),
    tls: undefined,
    publicUrl: () => "http://127.0.0.1",
  };
  const parts = await compose(grounds);
  const server = await createServer(apiParts(grounds, parts));
  const text = `${JSON.stringify(server.swagger(), null, 2)}\n`;
  await server.close();
  await Promise.all([parts.database.close(), parts.blobs.close()]);
  return text;
}
