import { pathToFileURL } from "node:url";
import type { startEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import type { withConnection } from "../../src/storage/connection.ts";
import { SILENT_LOG } from "./logs.ts";

/**
 * A process that only runs an embedded PostgreSQL, from the program below `root`, so that tests can kill it in every
 * way. It reports to its parent by messages.
 */
const [root = "", dataDir = "", sharedDir = ""] = process.argv.slice(2);
const embedded: { startEmbeddedPostgres: typeof startEmbeddedPostgres } = await load(
  "embedded-postgres/embedded-postgres.ts",
);
const session: { withConnection: typeof withConnection } = await load("storage/connection.ts");

try {
  const server = await embedded.startEmbeddedPostgres({ dataDir, sharedDir, log: SILENT_LOG });
  process.on("SIGINT", async () => {
    const options = { applicationName: "last words", queryLimitMs: 5_000 };
    await session.withConnection(server.url, options, (client) => client.query("SELECT 1"));
    await server.stop();
    process.send?.({ lastWords: "served" }, () => process.exit());
  });
  process.on("message", () => process.exit());
  process.send?.({ url: server.url });
} catch (error) {
  const described = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  process.send?.({ error: described }, () => process.exit(1));
}

function load(path: string) {
  return import(pathToFileURL(`${root}/src/${path}`).href);
}
