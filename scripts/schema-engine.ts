import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@errand/embedded-postgres";
import { bindMigrationAwareSqlAdapterFactory, type SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { type MigrationDirectory, type MigrationList, SchemaEngine } from "@prisma/schema-engine-wasm";
import { Client } from "pg";
import type { Log } from "../src/core/basics/log.ts";
import { withConnection } from "../src/storage/connection.ts";
import { adaptForCatalog } from "./catalog-adapter.ts";

const SILENT_LOG: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const QUERY_LIMIT_MS = 60_000;
const NO_FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Returns the SQL that leads from the migrations to the schema; empty if they agree. Prisma's CLI cannot do this
 * without an engine that it must download. So the same engine runs here as WebAssembly, on a temporary database
 * server. The package is undocumented: its version is pinned to that of the CLI, and it is used in development only.
 */
export async function diffMigrationsToSchema(migrationsFolder: string, schemaFile: string): Promise<string> {
  const migrations = await readMigrationList(migrationsFolder);
  const schema = { path: schemaFile, content: await readComparableSchema(schemaFile) };
  return withThrowAwayServer(async (url) => {
    const engine = await startEngine(url);
    const difference = await engine.diff({
      from: { tag: "migrations", ...migrations },
      to: { tag: "schemaDatamodel", files: [schema] },
      script: true,
      exitCode: true,
      filters: NO_FILTERS,
    });
    return difference.exitCode === 0 ? "" : (difference.stdout ?? "");
  });
}

/**
 * A default of `now()` can be written in two ways that differ only in what the client does. In the database they are
 * the same, and the engine reads it back in one way only. So both are written in that way.
 */
async function readComparableSchema(file: string): Promise<string> {
  const schema = await readFile(file, "utf8");
  return schema.replaceAll('dbgenerated("now()")', "now()");
}

async function readMigrationList(folder: string): Promise<MigrationList> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir: folder,
    lockfile: { path: "./migration_lock.toml", content: 'provider = "postgresql"\n' },
    shadowDbInitScript: "",
    migrationDirectories: await Promise.all(names.sort().map((name) => readMigration(folder, name))),
  };
}

async function readMigration(folder: string, name: string): Promise<MigrationDirectory> {
  const sql = await readFile(join(folder, name, "migration.sql"), "utf8");
  return { path: name, migrationFile: { path: "migration.sql", content: { tag: "ok", value: sql } } };
}

async function withThrowAwayServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "errand-schema-"));
  const server = await startEmbeddedPostgres({ dataDir, log: SILENT_LOG });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true });
  }
}

async function startEngine(url: string): Promise<SchemaEngine> {
  reportPanics();
  const connect = () => connectToNewDatabase(url);
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: "postgres",
    adapterName: "errand-catalog",
    connect,
    connectToShadowDb: connect,
  });
  return SchemaEngine.new({ datamodels: undefined }, () => undefined, factory);
}

/**
 * The engine calls this global when it panics. Without it, the engine reports the missing function and not the cause.
 */
function reportPanics(): void {
  const registry = { set_message: (message: string) => process.stderr.write(`${message}\n`) };
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: registry });
}

/** The database is never dropped, because the whole server is removed. */
async function connectToNewDatabase(url: string): Promise<SqlDriverAdapter> {
  const name = `shadow_${randomUUID().replaceAll("-", "")}`;
  const options = { applicationName: "errand schema", queryLimitMs: QUERY_LIMIT_MS };
  await withConnection(url, options, (client) => client.query(`CREATE DATABASE ${name}`));
  const address = new URL(url);
  address.pathname = `/${name}`;
  const client = new Client({ connectionString: address.href });
  client.on("error", () => undefined);
  await client.connect();
  return adaptForCatalog(client);
}
