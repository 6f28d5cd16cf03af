import { pathToFileURL } from "node:url";
import { SILENT_LOG } from "../../../test/support/logs.ts";
import type { startEmbeddedPostgres } from "../src/embedded-postgres.ts";
import { query } from "./query.ts";

/**
 * A process that only runs an embedded PostgreSQL, from the package in the folder `root`, so that tests can kill it in
 * every way. It reports to its parent by messages.
 */
const [root = "", dataDir = "", sharedDir = ""] = process.argv.slice(2);
const embedded: { startEmbeddedPostgres: typeof startEmbeddedPostgres } = await import(
  pathToFileURL(`${root}/src/embedded-postgres.ts`).href
);

try {
  const server = await embedded.startEmbeddedPostgres({ dataDir, sharedDir, log: SILENT_LOG });
  process.on("SIGINT", async () => {
    await query(server.url, "SELECT 1");
    await server.stop();
    process.send?.({ lastWords: "served" }, () => process.exit());
  });
  process.on("message", () => process.exit());
  process.send?.({ url: server.url });
} catch (error) {
  const described = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  process.send?.({ error: described }, () => process.exit(1));
}
