import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { diffMigrationsToSchema } from "./schema-engine.ts";

const PRISMA_FOLDER = resolve(import.meta.dirname, "../prisma");
const MIGRATION_NAME = /^[a-z0-9_]+$/;

/** `npm run db:migration NAME`: writes a new migration that leads from the existing migrations to the schema. */
async function makeMigration(name: string | undefined): Promise<number> {
  if (name === undefined || !MIGRATION_NAME.test(name)) {
    console.error("Usage: npm run db:migration NAME (small letters, digits and _)");
    return 2;
  }
  const migrations = join(PRISMA_FOLDER, "migrations");
  const sql = await diffMigrationsToSchema(migrations, join(PRISMA_FOLDER, "schema.prisma"));
  if (sql === "") {
    console.log("The migrations already lead to the schema: nothing to write.");
    return 0;
  }
  const folder = join(migrations, `${timestamp(new Date())}_${name}`);
  await mkdir(folder);
  await writeFile(join(folder, "migration.sql"), sql);
  console.log(
    `Wrote ${join(folder, "migration.sql")}. Read it before you commit: a rename comes out as drop and add.`,
  );
  return 0;
}

/** yyyymmddhhmmss, the prefix by which migrations are ordered. */
function timestamp(time: Date): string {
  return time.toISOString().replaceAll(/\D/g, "").slice(0, "yyyymmddhhmmss".length);
}

process.exitCode = await makeMigration(process.argv[2]);
