import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffMigrationsToSchema } from "../../../scripts/schema-engine.ts";
import { makeTemporaryFolder } from "../../support/data-dir.ts";

const SCHEMA = `
  generator client {
    provider            = "prisma-client"
    output              = "../src/storage/generated"
    importFileExtension = "ts"
    moduleFormat        = "esm"
    runtime             = "nodejs"
  }
  datasource db {
    provider = "postgresql"
  }
  model Thing {
    id        String   @id @db.Uuid
    name      String
    createdAt DateTime @default(dbgenerated("now()")) @db.Timestamptz(6)
    tags      String[]
    @@index([tags], type: Gin)
  }`;

async function makeProject(): Promise<{ root: string; migrations: string; schema: string }> {
  const root = await makeTemporaryFolder();
  const migrations = join(root, "prisma/migrations");
  const schema = join(root, "prisma/schema.prisma");
  await mkdir(migrations, { recursive: true });
  await writeFile(schema, SCHEMA);
  return { root, migrations, schema };
}

async function addMigration(migrations: string, name: string, sql: string): Promise<void> {
  await mkdir(join(migrations, name));
  await writeFile(join(migrations, name, "migration.sql"), sql);
}

test("the difference is a migration that removes it, and SQL that the schema cannot express is no difference", async () => {
  const { migrations, schema } = await makeProject();

  const difference = await diffMigrationsToSchema(migrations, schema);

  expect(difference).toContain('CREATE TABLE "Thing"');
  const byHand = `CREATE FUNCTION two() RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT 2';
                  CREATE INDEX partial ON "Thing" (name) WHERE name > 'a;b';`;
  await addMigration(migrations, "1_first", `${difference}${byHand}`);
  expect(await diffMigrationsToSchema(migrations, schema)).toBe("");
});

test("a column that only the migrations have is a difference", async () => {
  const { migrations, schema } = await makeProject();
  const table = 'CREATE TABLE "Thing" (id uuid PRIMARY KEY, name text NOT NULL, stray int)';
  await addMigration(migrations, "1_first", table);

  const difference = await diffMigrationsToSchema(migrations, schema);

  expect(difference).toContain('DROP COLUMN "stray"');
});

test("a migration that does not apply is named with PostgreSQL's reason", async () => {
  const { migrations, schema } = await makeProject();
  await addMigration(migrations, "1_broken", "CREATE TABLE half (id unheard_of);");

  const difference = diffMigrationsToSchema(migrations, schema);

  await expect(difference).rejects.toThrow(/1_broken[\s\S]*type "unheard_of" does not exist/);
});
