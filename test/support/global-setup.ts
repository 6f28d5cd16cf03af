import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@errand/embedded-postgres";
import type { TestProject } from "vitest/node";
import { withConnection } from "../../src/storage/connection.ts";
import { applyMigrations } from "../../src/storage/migrations.ts";
import { databaseUrl, TEMPLATE_DATABASE } from "./database-url.ts";
import { SILENT_LOG } from "./logs.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the one server of this test run. `createTestDatabase` creates databases on it. */
    postgresUrl: string;
  }
}

/** Starts one embedded PostgreSQL for the whole run, with Errand's schema in a database that the test files clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), "errand-test-"));
  const server = await startEmbeddedPostgres({ dataDir, log: SILENT_LOG });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true });
  };
  try {
    await createTemplate(server.url);
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide("postgresUrl", server.url);
  return stop;
}

async function createTemplate(url: string): Promise<void> {
  const options = { applicationName: "errand tests", queryLimitMs: 30_000 };
  await withConnection(url, options, (client) => client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`));
  await applyMigrations(databaseUrl(url, TEMPLATE_DATABASE), SILENT_LOG);
}
