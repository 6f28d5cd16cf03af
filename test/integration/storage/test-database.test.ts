import { Client, Pool } from "pg";
import { expect, test } from "vitest";
import { createTestDatabase } from "../../support/test-database.ts";

test("a test database has our schema and is gone after drop", async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS migrated");
  await client.end();

  await database.drop();

  expect(rows).toEqual([{ migrated: true }]);
  const late = new Client({ connectionString: database.url });
  await expect(late.connect()).rejects.toThrow("does not exist");
});

test("a pool that is just closing does not fail the drop", async () => {
  const database = await createTestDatabase();
  const pool = new Pool({ connectionString: database.url });
  await pool.query("SELECT 1");

  const closing = pool.end();
  await database.drop();
  await closing;
});

test("a connection left open fails the drop with its name and last query", async () => {
  const database = await createTestDatabase();
  const leaked = new Client({ connectionString: database.url, application_name: "leaky part" });
  leaked.on("error", () => undefined);
  await leaked.connect();
  await leaked.query("SELECT 'the leak'");

  const dropping = database.drop();

  await expect(dropping).rejects.toThrow(/leaky part \(idle\): SELECT 'the leak'/);
  await leaked.end();
});
